"""The two nodes that access the hold-out: one locks it, the other evaluates the final model on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.goals.persons.person_texts import describe_construction
from app.agents.planner.output import Plan
from app.agents.planner.person_plan import person_problem, person_references
from app.agents.state import FinalSummary, Json, LabState, LabUpdate, TradingOutcome, read_state
from app.agents.time_budget import make_budget
from app.agents.training_context import make_training_context
from app.errors import InvalidInput
from app.modeling.facts.assumptions import AssumptionKind, AssumptionSide, AssumptionSummary, choose_side
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.modeling.problem.problem import Problem
from app.pipeline.requirement_check import allows_fits_by_entity, check_requirements
from app.tasks import run_concurrently
from app.tools.ask_user import ask_user
from app.tools.context.tool_context import ToolContext
from app.tools.data.frames import TRAIN
from app.tools.data.retrieval import lock_holdout
from app.tools.finalization.backtest import backtest_model
from app.tools.finalization.explanation import explain_model
from app.tools.finalization.final_evaluation import final_evaluation as evaluate_on_holdout
from app.tools.finalization.forecast import forecast_future
from app.tools.finalization.refit import refit_model
from app.tools.finalization.unlabelled import predict_unlabelled
from app.tools.fits.fit_parts import load_model
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import REGISTRY

SPLITTER = "pipeline"
"""Agent name of the two nodes in messages and calls: they belong to no agent."""


@dataclass(frozen=True)
class RepeatedRows:
    """Numbers of rows that equal another one."""

    equal: int = 0


@dataclass(frozen=True, kw_only=True)
class LockedSplit:
    """The parts of `SplitFacts` that are described to the user. All numbers count rows."""

    rows: int
    holdout_rows: int
    repeated_rows: RepeatedRows = RepeatedRows()
    reason: str
    notes: Sequence[str]


async def split(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Lock the hold-out before any agent sees rows, and complete the problem from the data."""
    lab = runtime.context
    ctx, arguments = lab.tool_context(SPLITTER), make_split_arguments(state)
    facts = await _lock(ctx, "tool:0.0", arguments)
    assumptions = await _ask_about_rows(ctx, facts.get("assumptions") or [])
    if assumptions is not None:
        facts = await _lock(ctx, "tool:0.2", {**arguments, "assumptions": assumptions})
    lab.step.post_message(SPLITTER, _describe_split(parse_facts(LockedSplit, facts)))
    return {
        "split": facts,
        "problem": facts["problem"],
        "columns": facts["columns"],
        "analysis": {},
        "frame": TRAIN,
    }


SPLIT_KINDS = (AssumptionKind.ENTITIES, AssumptionKind.TIME)
"""Conditions whose other side is another split."""


async def _lock(ctx: ToolContext, key: str, arguments: Json) -> Any:
    answer = await _invoke(ctx, ToolRequest(key, lock_holdout.__name__, arguments))
    if answer.refusal is not None:
        raise InvalidInput("cannot_split", answer.refusal)
    return answer.value


async def _ask_about_rows(ctx: ToolContext, assumptions: Sequence[Json]) -> list[Json] | None:
    """Ask which rows the model will predict, if that decides the split and changes its score.

    Returns the assumptions with the user's side, or None if the split stays as it is.
    """
    for place, assumption in enumerate(assumptions):
        summary = parse_facts(AssumptionSummary, assumption)
        if summary.kind not in SPLIT_KINDS or not summary.matters or summary.side is AssumptionSide.HOLDS:
            continue
        arguments = {
            "question": summary.question,
            "options": list(summary.options.values()),
            "default": summary.answer,
        }
        answer = await _invoke(ctx, ToolRequest("tool:0.1", ask_user.__name__, arguments))
        side = summary.side_of(answer.value.get("answer") if isinstance(answer.value, dict) else None)
        # The user agrees with the split: nothing has to be locked again.
        if side is summary.side:
            return None
        return [*assumptions[:place], choose_side(assumption, side), *assumptions[place + 1 :]]
    return None


def make_split_arguments(state: LabState) -> Json:
    """Make the arguments of the first call: the problem, and the tables that were joined in, if any."""
    joined, plan = state["retrieved"].get("joined"), Plan.model_validate(state["plan"])
    arguments: Json = {"problem": make_problem_request(state), **({"joined": joined} if joined else {})}
    if plan.persons:
        arguments["construction"] = describe_construction(plan.persons, plan.tables[0])
        arguments["row_noun"] = plan.persons.noun
    return arguments


def make_problem_request(state: LabState) -> dict[str, Any]:
    """Make the problem request for the retrieved table. Retrieval may have replaced the planned target."""
    plan = Plan.model_validate(state["plan"])
    retrieved = state["retrieved"]
    request: dict[str, Any] = {
        **plan.problem_request(),
        "target": retrieved["target"],
        "exclude": retrieved["exclude"],
    }
    request["goal"] = plan.goal_with_entities(state["goal"])
    # The planned class is a value of the planned target.
    if retrieved["target"] != plan.target:
        request.pop("positive_class", None)
    return request | person_problem(plan.persons, plan.tables[0]) if plan.persons else request


async def final_evaluation(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Evaluate the chosen model on the hold-out, once, then refit it on all rows.

    The explanation and the backtest run at the same time, in a second cell.
    """
    state = read_state(lab_state)
    ctx = runtime.context.tool_context(
        SPLITTER, make_training_context(state, make_budget(state).report_deadline_s)
    )
    fit = (await load_model(ctx, state.candidate)).fit
    plan = Plan.model_validate(lab_state["plan"])
    check_requirements(fit, plan, ctx.training)
    ctx = replace(ctx, holdout_look=await runtime.context.count_look())
    # The look was numbered before the rows are opened, so one that breaks off has been a look too.
    model, series = {"model": state.candidate}, lab_state["plan"].get("aggregation") or {}
    unlabelled: Json | None = None
    if lab_state["split"].get("unlabelled_removed"):
        # Who is likeliest to, or who spends most, comes first.
        unlabelled = {"ranked_by": plan.persons.person} if plan.persons else {}
    is_by_entity = _meets_known_entities(lab_state) and allows_fits_by_entity(plan, ctx.training)
    refit: Json = {**model, "by_entity": True} if is_by_entity else model
    evaluated: Json = {**model, **({"references": person_references(plan.persons)} if plan.persons else {})}
    # Both branches run at once, so the keys of their calls are fixed: by these a resumed step finds its calls.
    answer, trading = await run_concurrently(
        _evaluate_and_refit(ctx, evaluated, refit, series, unlabelled),
        _explain_and_backtest(ctx, model, state.plan.trading),
    )
    if answer.refusal is not None:
        raise InvalidInput("cannot_evaluate", answer.refusal)
    final = replace(parse_facts(FinalSummary, answer.value), traded=trading)
    return {"final": dump_facts(final)}


def _meets_known_entities(state: LabState) -> bool:
    """Return true if the split keeps entities together that nobody named, and no measurement says that new ones
    are like the known: the model then meets both, and its assumptions tell the score of each."""
    problem = Problem.from_json(state["problem"])
    if problem.group_column is None or make_problem_request(state).get("group_column"):
        return False
    measured = [parse_facts(AssumptionSummary, entry) for entry in state["split"].get("assumptions") or []]
    return all(
        summary.matters
        for summary in measured
        if summary.kind is AssumptionKind.ENTITIES and problem.group_column in summary.columns
    )


async def _evaluate_and_refit(
    ctx: ToolContext, evaluated: Json, refitted: Json, series: Mapping[str, Any], unlabelled: Json | None
) -> ToolAnswer:
    """Return the answer of the evaluation. The refitted model and its predictions are artifacts.

    `evaluated`, `refitted`: arguments of the evaluation and the refit. `unlabelled`: those of the
    predictions of rows without a target; None where there are none.
    """
    evaluation = await _invoke(ctx, ToolRequest("tool:0.0", evaluate_on_holdout.__name__, evaluated))
    if evaluation.refusal is None:
        # After the evaluation: the refitted model has learned from the hold-out, and cannot be judged on it.
        measured: Any = evaluation.value
        widening = (measured.get("intervals") or {}).get("widening")
        arguments = refitted if widening is None else {**refitted, "widening": widening}
        refit = await _invoke(ctx, ToolRequest("tool:0.2", refit_model.__name__, arguments))
        # Without time for the refit the evaluated model predicts.
        trained: Any = refit.value if refit.refusal is None else evaluated
        if ctx.training.problem.horizon:
            recommended = measured.get("recommended") or {}
            arguments = {
                "model": trained["model"],
                "is_model": recommended.get("is_model", True),
                "answer": series.get("answer", "each_period"),
                "skipped": series.get("skipped_periods", 0),
                **{name: series[name] for name in ("ranking", "bound") if series.get(name)},
            }
            await _invoke(ctx, ToolRequest("tool:0.4", forecast_future.__name__, arguments))
        elif unlabelled is not None:
            arguments = {"model": trained["model"], **unlabelled}
            await _invoke(ctx, ToolRequest("tool:0.5", predict_unlabelled.__name__, arguments))
    return evaluation


async def _explain_and_backtest(
    ctx: ToolContext, model: Json, terms: Mapping[str, Any] | None
) -> TradingOutcome | None:
    """Explain the model and return the backtest's verdict; None if the plan has no trading terms."""
    trading = await _backtest(ctx, {**model, **terms}) if terms else None
    await _invoke(ctx, ToolRequest("tool:0.1", explain_model.__name__, model))
    return trading


async def _backtest(ctx: ToolContext, arguments: Json) -> TradingOutcome | None:
    answer = await _invoke(ctx, ToolRequest("tool:0.3", backtest_model.__name__, arguments))
    return None if answer.refusal is not None else parse_facts(TradingOutcome, answer.value)


async def _invoke(ctx: ToolContext, request: ToolRequest) -> ToolAnswer:
    return await invoke({request.name: REGISTRY[request.name]}, ctx, request)


def _describe_split(split: LockedSplit) -> str:
    equal = split.repeated_rows.equal
    duplicates = f" {equal:,} rows equal another one; they are kept." if equal else ""
    return (
        f"{split.holdout_rows:,} of {split.rows:,} rows are held out until the final evaluation. "
        f"{split.reason}{duplicates} {' '.join(split.notes)}"
    ).strip()
