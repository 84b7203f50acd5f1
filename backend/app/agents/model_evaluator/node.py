"""The model evaluator's nodes: evaluate the candidates, and fit more of them while there is time."""

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from app.agents.budget import MAX_ROUNDS, make_budget
from app.agents.context import LabContext
from app.agents.fits import ensemble_weights, merge_fits, summarise_fits
from app.agents.model_evaluator.output import Verdict
from app.agents.state import Json, LabState, LabUpdate
from app.agents.training_context import make_problem_brief, make_training_context
from app.modeling.problem.kinds import ENSEMBLE
from app.modeling.problem.names import nearest_names
from app.tools.invoke import ToolAnswer

DEFAULT_EVALUATION_S = 0.8
"""Seconds of an evaluation, until the first one has been measured."""
FITTING_TOOLS = ("add_folds", "tune_hyperparameters")


async def model_evaluation(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    names = [fit["name"] for fit in state["fits"]]
    is_tuning_planned = "hyperparameter_tuning" in state["plan"]["stages"]
    can_tune = (
        is_tuning_planned
        and state["rounds"] < make_budget(state).max_rounds
        and not await lab.step.is_wrapping_up()
    )
    brief = {
        **_make_evaluator_brief(state, state.get("took", {}).get("model_evaluation", DEFAULT_EVALUATION_S)),
        "stage": "evaluation",
        "left_out": state.get("left_out", []),
        "can_tune": can_tune,
    }

    def check(verdict: Verdict, answers: Sequence[ToolAnswer]) -> str | None:
        blended = [name for answer in answers if (name := _blended_model_name(answer))]
        valid_names = [*names, *blended, *([ENSEMBLE] if state.get("blended") else [])]
        if verdict.chosen in valid_names:
            return None
        close = ", ".join(nearest_names(verdict.chosen, valid_names)) or ", ".join(valid_names)
        return f"No candidate is called {verdict.chosen!r}. Choose one of: {close}."

    ctx = lab.tool_context("model_evaluator", make_training_context(state, make_budget(state).fits_deadline_s))
    result = await lab.crew["model_evaluation"].run(ctx, brief, check)
    verdict: Verdict = result.output
    blends = [answer for answer in result.answers if _blended_model_name(answer) == ENSEMBLE]
    return {
        "verdict": {**verdict.model_dump(mode="json"), "tune": verdict.tune and can_tune},
        "weights": _call_weights(blends[0]) if blends else state.get("weights", {}),
        "blended": bool(blends) or state.get("blended", False),
    }


async def hyperparameter_tuning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    state = {**state, "hands": await lab.current_fit_slots()}
    brief = {**_make_evaluator_brief(state), "stage": "tuning", "chosen": state["verdict"]["chosen"]}
    ctx = lab.tool_context("model_evaluator", make_training_context(state, make_budget(state).fits_deadline_s))
    result = await lab.crew["hyperparameter_tuning"].run(ctx, brief)
    rounds = result.values(*FITTING_TOOLS)
    return {
        "fits": merge_fits(state["fits"], summarise_fits(fit for answer in rounds for fit in answer["fits"])),
        "left_out": [
            *state.get("left_out", []),
            *(entry for answer in rounds for entry in answer["left_out"]),
        ],
        "hands": state["hands"],
        "rounds": state["rounds"] + 1 if rounds else MAX_ROUNDS,
        "blended": state.get("blended", False) and not rounds,
    }


def _make_evaluator_brief(state: LabState, reserved_s: float = 0.0) -> Json:
    """Make the brief of both stages. `reserved_s`: seconds subtracted from the time left for fits."""
    budget = make_budget(state)
    return {
        **make_problem_brief(state),
        "fits": state["fits"],
        "weights": state.get("weights", {}),
        "blended": state.get("blended", False),
        "folds": state["split"]["folds"],
        "time_left_s": None if budget.deterministic else round(budget.fit_time_s - reserved_s, 2),
        "worked_s": round(budget.worked_s, 1),
        "hands": state["hands"],
        "rounds": state["rounds"],
    }


def _blended_model_name(answer: ToolAnswer) -> str | None:
    """Return the name of the model that `build_ensemble` made; None for any other call."""
    facts: Any = answer.value
    return str(facts["name"]) if answer.request.name == "build_ensemble" and "name" in facts else None


def _call_weights(answer: ToolAnswer) -> dict[str, float]:
    facts: Any = answer.value
    return ensemble_weights(answer.request.arguments["models"], facts)
