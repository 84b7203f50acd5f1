"""The data analyst's nodes: exploration, feature engineering and answers to questions about the data."""

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.data_analyst.output import Analysis, Answer, Prepared
from app.agents.state import Json, LabState, LabUpdate
from app.agents.training_context import make_problem_brief, make_training_context
from app.tools.answers import ANSWERS
from app.tools.context import ToolContext
from app.tools.data import get_dataset_schema
from app.tools.frames import TRAIN
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import REGISTRY

MAX_FINDINGS = 40
"""Findings passed to later agents: more would crowd out the rest of their briefs."""


async def data_analysis(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief = {**make_problem_brief(state), "stage": "analysis", "frame": TRAIN, "columns": state["columns"]}
    result = await lab.crew["data_analysis"].run(
        lab.tool_context("data_analyst", make_training_context(state)), brief
    )
    analysis: Analysis = result.output
    problem = state["problem"]
    excludable = {column["name"] for column in state["columns"]} - _required_columns(problem)
    exclude = [*problem["exclude"], *(name for name in analysis.exclude if name in excludable)]
    exploration: Json = next(iter(reversed(result.values("perform_eda"))), {})
    return {
        "problem": {**problem, "exclude": list(dict.fromkeys(exclude))},
        "analysis": {**_summarise_exploration(exploration), "notes": analysis.notes},
    }


async def feature_engineering(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    names = [column["name"] for column in state["columns"]]
    brief = {**make_problem_brief(state), "stage": "features", "columns": names, "analysis": state["analysis"]}
    agent = lab.crew["feature_engineering"]
    frames: list[str] = [TRAIN]

    def check(prepared: Prepared, answers: Any) -> str | None:
        frames.extend(
            str(answer.value["frame"])
            for answer in answers
            if isinstance(answer.value, dict) and "recipe" in answer.value
        )
        if prepared.frame in frames:
            return None
        return f"No frame is called {prepared.frame!r}. Available frames: {', '.join(dict.fromkeys(frames))}."

    result = await agent.run(lab.tool_context("data_analyst", make_training_context(state)), brief, check)
    prepared: Prepared = result.output
    return {"frame": prepared.frame}


async def answering(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Answer the plan's question. No hold-out is locked, because no model is trained on these rows."""
    lab = runtime.context
    ctx = lab.tool_context("data_analyst")
    brief: Json = {
        "goal": state["goal"],
        "question": state["plan"]["question"],
        "stage": "answer",
        "plan": state["plan"],
        "tables": await _read_schemas(ctx),
    }
    result = await lab.crew["answering"].run(ctx, brief, _check_answer)
    answer: Answer = result.output
    return {"answer": {"unanswered": answer.unanswered}}


def _check_answer(output: Answer, answers: Sequence[ToolAnswer]) -> str | None:
    if output.unanswered or any(a.request.name in ANSWERS and a.refusal is None for a in answers):
        return None
    return f"Nothing has answered the question yet. Use {' or '.join(ANSWERS)}, or fill `unanswered`."


async def _read_schemas(ctx: ToolContext) -> list[Json]:
    """Read the schemas of all tables of the session."""
    tool = get_dataset_schema.__name__
    schemas: list[Json] = []
    for position, dataset in enumerate(await ctx.datasets.list()):
        request = ToolRequest(f"tool:schema.{position}", tool, {"dataset": dataset.table})
        answer = await invoke({tool: REGISTRY[tool]}, ctx, request)
        if isinstance(answer.value, dict) and answer.refusal is None:
            schemas.append(answer.value)
    return schemas


def _required_columns(problem: dict[str, Any]) -> set[Any]:
    """Return the columns that cannot be excluded: the target, the time and the group column."""
    return {problem["target"], problem["time_column"], problem["group_column"]}


def _summarise_exploration(eda: dict[str, Any]) -> dict[str, Any]:
    """Keep the parts of an exploration that later agents use."""
    return {
        "columns": [
            {key: column[key] for key in ("name", "type", "missing", "distinct", "relation")}
            for column in eda.get("columns", ())
        ],
        "findings": [
            {key: finding[key] for key in ("kind", "column", "text", "severity")}
            for finding in eda.get("findings", ())[:MAX_FINDINGS]
        ],
        "leaks": list(eda.get("leaks", ())),
        "suggested_cleaning": list(eda.get("suggested_cleaning", ())),
    }
