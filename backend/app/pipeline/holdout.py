"""The two nodes that touch the hold-out: one locks it away, one opens it."""

from typing import Any

from langgraph.runtime import Runtime

from app.agents.budget import budget_of
from app.agents.context import LabContext
from app.agents.planner.output import Plan
from app.agents.state import Json, LabState, LabUpdate
from app.agents.training_context import study_of
from app.errors import InvalidInput
from app.tasks import side_by_side
from app.tools.backtest import backtest_model
from app.tools.choosing import final_evaluation as evaluate_on_holdout
from app.tools.choosing import refit_model
from app.tools.context import ToolContext
from app.tools.data import lock_holdout
from app.tools.explanation import explain_model
from app.tools.forecast import forecast_future
from app.tools.frames import TRAIN
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import REGISTRY

SPLITTER = "pipeline"


async def split(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Lock the hold-out before anyone looks, and complete the problem from the data."""
    lab = runtime.context
    request = ToolRequest("tool:0.0", lock_holdout.__name__, {"problem": wish_of(state)})
    answer = await _invoke(lab.tools(SPLITTER), request)
    if answer.refusal is not None:
        raise InvalidInput("cannot_split", answer.refusal)
    facts: Any = answer.value
    lab.step.say(SPLITTER, _said(facts))
    return {
        "split": facts,
        "problem": facts["problem"],
        "columns": facts["columns"],
        "analysis": {},
        "frame": TRAIN,
    }


def wish_of(state: LabState) -> dict[str, Any]:
    """What is wanted of the retrieved table; retrieval may have made a target that the plan did not know."""
    plan = Plan.model_validate(state["plan"])
    retrieved = state["retrieved"]
    wish: dict[str, Any] = {**plan.wish(), "target": retrieved["target"], "exclude": retrieved["exclude"]}
    wish["goal"] = plan.heard(state["goal"])
    if retrieved["target"] != plan.target:
        wish.pop("positive_class", None)
    return wish


async def final_evaluation(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Open the hold-out, once, after the last choice; then let the model learn from all rows.

    Beside it the model is explained on the hold-out: two cells at a time.
    """
    ctx = runtime.context.tools(SPLITTER, study_of(state, budget_of(state).until_report_s))
    model = {"model": state["verdict"]["chosen"]}
    answer, traded = await side_by_side(
        _judge_and_refit(ctx, model), _explain_and_trade(ctx, model, state["plan"].get("trading"))
    )
    if answer.refusal is not None:
        raise InvalidInput("cannot_evaluate", answer.refusal)
    facts: Any = answer.value
    final = {key: facts[key] for key in ("metric", "metrics", "beats_baseline", "notes", "rows")}
    return {"final": {**final, "traded": traded}}


async def _judge_and_refit(ctx: ToolContext, model: Json) -> ToolAnswer:
    """How the model was judged; what it learned afterwards is an artifact."""
    judged = await _invoke(ctx, ToolRequest("tool:0.0", evaluate_on_holdout.__name__, model))
    if judged.refusal is None:
        refitted = await _invoke(ctx, ToolRequest("tool:0.2", refit_model.__name__, model))
        if ctx.training.problem.get("horizon"):
            made: Any = refitted.value if refitted.refusal is None else model
            await _invoke(ctx, ToolRequest("tool:0.4", forecast_future.__name__, {"model": made["model"]}))
    return judged


async def _explain_and_trade(ctx: ToolContext, model: Json, terms: Json | None) -> Json | None:
    """Whether trading on the model's word pays, and why; None where nothing was to be traded."""
    traded = await _trade(ctx, {**model, **terms}) if terms else None
    await _invoke(ctx, ToolRequest("tool:0.1", explain_model.__name__, model))
    return traded


async def _trade(ctx: ToolContext, wanted: Json) -> Json | None:
    answer = await _invoke(ctx, ToolRequest("tool:0.3", backtest_model.__name__, wanted))
    facts: Any = answer.value
    return None if answer.refusal is not None else {key: facts[key] for key in ("edge", "verdict")}


async def _invoke(ctx: ToolContext, request: ToolRequest) -> ToolAnswer:
    return await invoke({request.name: REGISTRY[request.name]}, ctx, request)


def _said(facts: dict[str, Any]) -> str:
    removed = facts["duplicates_removed"]
    without = f" {removed} repeated row(s) were left out." if removed else ""
    return (
        f"{facts['holdout_rows']:,} of {facts['rows']:,} rows are locked away until the end. "
        f"{facts['reason']}{without} {' '.join(facts['notes'])}"
    ).strip()
