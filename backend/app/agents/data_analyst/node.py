"""The data analyst's nodes: exploration, feature engineering and answers to questions about the data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.data_analyst.brief import (
    AnalysisBrief,
    AnalysisSummary,
    AnswerBrief,
    FeaturesBrief,
    PreparedFrame,
)
from app.agents.data_analyst.output import Analysis, Answer, Prepared
from app.agents.planner.output import Plan
from app.agents.state import LabState, LabUpdate, read_state
from app.agents.training_context import make_problem_brief, make_training_context
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.modeling.problem.problem import Problem
from app.tools.answers import ANSWERS
from app.tools.context import ToolContext
from app.tools.data import get_dataset_schema
from app.tools.frames import TRAIN
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import REGISTRY

MAX_FINDINGS = 40
"""Findings passed to later agents: more would crowd out the rest of their briefs."""


async def data_analysis(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab, state = runtime.context, read_state(lab_state)
    brief = AnalysisBrief(**vars(make_problem_brief(state)), frame=TRAIN, columns=state.columns)
    result = await lab.crew["data_analysis"].run(
        lab.tool_context("data_analyst", make_training_context(state)), dump_facts(brief)
    )
    analysis: Analysis = result.output
    problem = state.problem
    excludable = {column.name for column in state.columns} - _required_columns(problem)
    exclude = [*problem.exclude, *(name for name in analysis.exclude if name in excludable)]
    exploration = parse_facts(AnalysisSummary, next(iter(reversed(result.values("perform_eda"))), {}))
    summary = replace(exploration, findings=exploration.findings[:MAX_FINDINGS], notes=analysis.notes)
    return {
        "problem": replace(problem, exclude=tuple(dict.fromkeys(exclude))).to_json(),
        "analysis": dump_facts(summary),
    }


async def feature_engineering(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab, state = runtime.context, read_state(lab_state)
    brief = FeaturesBrief(
        **vars(make_problem_brief(state)),
        columns=[column.name for column in state.columns],
        analysis=parse_facts(AnalysisSummary, state.analysis),
    )
    agent = lab.crew["feature_engineering"]
    frames: list[str] = [TRAIN]

    def check(prepared: Prepared, answers: Sequence[ToolAnswer]) -> str | None:
        frames.extend(
            parse_facts(PreparedFrame, answer.value).frame
            for answer in answers
            if isinstance(answer.value, dict) and "recipe" in answer.value
        )
        if prepared.frame in frames:
            return None
        return f"No frame is called {prepared.frame!r}. Available frames: {', '.join(dict.fromkeys(frames))}."

    result = await agent.run(
        lab.tool_context("data_analyst", make_training_context(state)), dump_facts(brief), check
    )
    prepared: Prepared = result.output
    return {"frame": prepared.frame}


async def answering(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Answer the plan's question. No hold-out is locked, because no model is trained on these rows."""
    lab, plan = runtime.context, Plan.model_validate(lab_state["plan"])
    ctx = lab.tool_context("data_analyst")
    brief = AnswerBrief(
        goal=lab_state["goal"],
        question=plan.question or lab_state["goal"],
        plan=plan,
        tables=await _read_schemas(ctx),
    )
    result = await lab.crew["answering"].run(ctx, dump_facts(brief), _check_answer)
    answer: Answer = result.output
    return {"answer": {"unanswered": answer.unanswered}}


def _check_answer(output: Answer, answers: Sequence[ToolAnswer]) -> str | None:
    if output.unanswered or any(a.request.name in ANSWERS and a.refusal is None for a in answers):
        return None
    return f"Nothing has answered the question yet. Use {' or '.join(ANSWERS)}, or fill `unanswered`."


async def _read_schemas(ctx: ToolContext) -> list[Mapping[str, Any]]:
    """Read the schemas of all tables of the session."""
    tool = get_dataset_schema.__name__
    schemas: list[Mapping[str, Any]] = []
    for position, dataset in enumerate(await ctx.datasets.list()):
        request = ToolRequest(f"tool:schema.{position}", tool, {"dataset": dataset.table})
        answer = await invoke({tool: REGISTRY[tool]}, ctx, request)
        if isinstance(answer.value, dict) and answer.refusal is None:
            schemas.append(answer.value)
    return schemas


def _required_columns(problem: Problem) -> set[str | None]:
    """Return the columns that cannot be excluded: the target, the time and the group column."""
    return {problem.target, problem.time_column, problem.group_column}
