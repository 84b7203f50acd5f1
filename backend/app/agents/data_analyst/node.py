"""The data analyst's nodes: exploration, feature engineering and answers to questions about the data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from app.agents.answered_exclusions import exclude_answered
from app.agents.context import LabContext
from app.agents.data_analyst.brief import (
    AnalysisBrief,
    AnalysisSummary,
    AnswerBrief,
    FeaturesBrief,
    PlannedQuestion,
    PreparedFrame,
)
from app.agents.data_analyst.feature_selection import drop_useless_features
from app.agents.data_analyst.output import Analysis, Answer, Prepared
from app.agents.planner.output import Plan
from app.agents.session_notes import collect_notes
from app.agents.state import LabState, LabUpdate, read_state
from app.agents.table_briefs import read_known_tables, summarize_schemas
from app.agents.training_context import make_problem_brief, make_training_context
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.modeling.problem.problem import Problem
from app.recorded_call import RecordedCall
from app.reporting.stated_answer import ANSWERS
from app.tools.context.tool_context import ToolContext
from app.tools.data.frames import TRAIN
from app.tools.data.retrieval import get_dataset_schema
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.queries.answers import find_unknown_figures, state_answer
from app.tools.registry import REGISTRY

STATE = state_answer.__name__
MAX_UNKNOWN_FIGURES = 8
"""Figures without a source that one message names: an agent corrects these first."""
MAX_FINDINGS = 40
"""Findings passed to later agents: more would crowd out the rest of their briefs."""


async def data_analysis(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab, state = runtime.context, read_state(lab_state)
    brief = AnalysisBrief(**vars(make_problem_brief(state)), frame=TRAIN, columns=state.columns)
    result = await lab.crew["data_analysis"].run(
        lab.tool_context("data_analyst", make_training_context(state)), dump_facts(brief)
    )
    analysis: Analysis = result.output
    problem = exclude_answered(state, result.answers)
    excludable = {column.name for column in state.columns} - _required_columns(problem)
    problem = problem.without([name for name in analysis.exclude if name in excludable])
    exploration = parse_facts(AnalysisSummary, next(iter(reversed(result.values("perform_eda"))), {}))
    summary = replace(exploration, findings=exploration.findings[:MAX_FINDINGS], notes=analysis.notes)
    return {
        "problem": problem.to_json(),
        "analysis": dump_facts(summary),
        **collect_notes(lab_state, lab.crew["data_analysis"], analysis.notes),
    }


async def feature_engineering(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab, state = runtime.context, read_state(lab_state)
    brief = FeaturesBrief(
        **vars(make_problem_brief(state)),
        columns=[column.name for column in state.columns],
        analysis=parse_facts(AnalysisSummary, state.analysis),
        fits=state.fits,
    )
    agent = lab.crew["feature_engineering"]
    frames: list[str] = list(dict.fromkeys((TRAIN, state.frame)))

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
    frame, reasons = prepared.frame, list[str]()
    # Only chat models write features; operations of the rules need no second measurement.
    if not agent.is_offline:
        ctx = lab.tool_context("data_analyst", make_training_context(state))
        frame, reasons = await drop_useless_features(ctx, frame, result.answers)
    problem = exclude_answered(state, result.answers)
    if problem != state.problem:
        frame = TRAIN  # the features may have been made of columns that the user has left out since
    notes = collect_notes(lab_state, agent, [*prepared.notes, *reasons])
    return {"frame": frame, "problem": problem.to_json(), **notes}


async def answering(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Answer the plan's question. No hold-out is locked, because no model is trained on these rows."""
    lab, plan = runtime.context, Plan.model_validate(lab_state["plan"])
    ctx = lab.tool_context("data_analyst")
    brief = AnswerBrief(
        goal=lab_state["goal"],
        question=plan.question or lab_state["goal"],
        plan=PlannedQuestion(plan.tables, plan.parsed_question, plan.row_search, plan.filter),
        tables=await _read_schemas(lab, ctx),
    )
    quoted = (brief.goal, brief.question)

    def check(output: Answer, answers: Sequence[ToolAnswer]) -> str | None:
        return _answer_error(output, _recorded_calls(ctx, answers), quoted)

    result = await lab.crew["answering"].run(ctx, dump_facts(brief), check)
    answer: Answer = result.output
    if answer.text or answer.values or answer.unanswered:
        arguments = {**answer.model_dump(), "question": brief.question}
        await invoke({STATE: REGISTRY[STATE]}, ctx, ToolRequest("tool:stated.0", STATE, arguments))
    return {"answer": {"unanswered": answer.unanswered}}


def _recorded_calls(ctx: ToolContext, answers: Sequence[ToolAnswer]) -> list[RecordedCall]:
    """Return the calls of this step as the report will read them."""
    return [
        RecordedCall(
            ctx.step.seq,
            ctx.step.node,
            answer.request.key,
            answer.request.name,
            ctx.agent,
            dict(answer.request.arguments),
            answer.value,
            failed=answer.refusal is not None,
        )
        for answer in answers
    ]


def _answer_error(output: Answer, calls: Sequence[RecordedCall], quoted: Sequence[str]) -> str | None:
    """Return the reason why an answer cannot be delivered, or None."""
    if output.unanswered:
        return None
    if not any(call.tool in ANSWERS and not call.failed for call in calls):
        return f"Nothing has answered the question yet. Use {' or '.join(ANSWERS)}, or fill `unanswered`."
    unknown = find_unknown_figures(calls, quoted, output.text, output.values)
    if not unknown:
        return None
    figures = "; ".join(str(figure) for figure in unknown[:MAX_UNKNOWN_FIGURES])
    return (
        f"No recorded result holds these figures of the answer: {figures}. Copy figures from results, rounded "
        "no further than you write them, or have them computed by an answer tool first."
    )


async def _read_schemas(lab: LabContext, ctx: ToolContext) -> Sequence[Mapping[str, Any]]:
    """Read the schemas of all tables of the session; for a chat model in short form."""
    if not lab.crew["answering"].is_offline and (tables := await read_known_tables(lab)):
        return summarize_schemas(tables)
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
