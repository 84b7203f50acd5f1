"""The analyst's nodes: look at the training rows, then prepare the frame that is learned from; or answer."""

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.data_analyst.output import Analysis, Answer, Prepared
from app.agents.state import Json, LabState, LabUpdate
from app.agents.training_context import problem_brief, study_of
from app.tools.answers import ANSWERS
from app.tools.context import ToolContext
from app.tools.data import get_dataset_schema
from app.tools.frames import TRAIN
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import REGISTRY

MAX_FINDINGS = 40


async def data_analysis(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief = {**problem_brief(state), "stage": "analysis", "frame": TRAIN, "columns": state["columns"]}
    thought = await lab.crew["data_analysis"].run(lab.tools("data_analyst", study_of(state)), brief)
    seen: Analysis = thought.output
    problem = state["problem"]
    known = {column["name"] for column in state["columns"]} - _needed(problem)
    exclude = [*problem["exclude"], *(name for name in seen.exclude if name in known)]
    explored: Json = next(iter(reversed(thought.values("perform_eda"))), {})
    return {
        "problem": {**problem, "exclude": list(dict.fromkeys(exclude))},
        "analysis": {**_short(explored), "notes": seen.notes},
    }


async def feature_engineering(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    names = [column["name"] for column in state["columns"]]
    brief = {**problem_brief(state), "stage": "features", "columns": names, "analysis": state["analysis"]}
    agent = lab.crew["feature_engineering"]
    made: list[str] = [TRAIN]

    def check(prepared: Prepared, answers: Any) -> str | None:
        made.extend(
            str(answer.value["frame"])
            for answer in answers
            if isinstance(answer.value, dict) and "recipe" in answer.value
        )
        if prepared.frame in made:
            return None
        return f"No frame is called {prepared.frame!r}. There are: {', '.join(dict.fromkeys(made))}."

    thought = await agent.run(lab.tools("data_analyst", study_of(state)), brief, check)
    prepared: Prepared = thought.output
    return {"frame": prepared.frame}


async def answering(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Answer the plan's question. No hold-out is locked: nothing is learned from these rows."""
    lab = runtime.context
    ctx = lab.tools("data_analyst")
    brief: Json = {
        "goal": state["goal"],
        "question": state["plan"]["question"],
        "stage": "answer",
        "plan": state["plan"],
        "tables": await _schemas(ctx),
    }
    thought = await lab.crew["answering"].run(ctx, brief, _answered)
    told: Answer = thought.output
    return {"answer": {"unanswered": told.unanswered}}


def _answered(told: Answer, answers: Sequence[ToolAnswer]) -> str | None:
    if told.unanswered or any(a.request.name in ANSWERS and a.refusal is None for a in answers):
        return None
    return f"Nothing has answered the question yet. Use {' or '.join(ANSWERS)}, or say in `unanswered` why not."


async def _schemas(ctx: ToolContext) -> list[Json]:
    """What is known of every table that may be asked."""
    read = get_dataset_schema.__name__
    schemas: list[Json] = []
    for place, dataset in enumerate(await ctx.datasets.list()):
        request = ToolRequest(f"tool:schema.{place}", read, {"dataset": dataset.table})
        answer = await invoke({read: REGISTRY[read]}, ctx, request)
        if isinstance(answer.value, dict) and answer.refusal is None:
            schemas.append(answer.value)
    return schemas


def _needed(problem: dict[str, Any]) -> set[Any]:
    """Columns that cannot be excluded: the target, and what orders or groups the rows."""
    return {problem["target"], problem["time_column"], problem["group_column"]}


def _short(eda: dict[str, Any]) -> dict[str, Any]:
    """What later agents need of an exploration."""
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
