"""The evaluator's nodes: judge the candidates, and have more fitted while there is time."""

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from app.agents.budget import MAX_ROUNDS, budget_of
from app.agents.context import LabContext
from app.agents.fits import merged, short, weights_of
from app.agents.model_evaluator.output import Verdict
from app.agents.state import Json, LabState, LabUpdate
from app.agents.training_context import problem_brief, study_of
from app.modeling.problem.kinds import ENSEMBLE
from app.modeling.problem.names import nearest_names
from app.tools.invoke import ToolAnswer

BLEND_S = 0.8
"""What judging takes, until it was measured."""
FITTING = ("add_folds", "tune_hyperparameters")


async def model_evaluation(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    names = [fit["name"] for fit in state["fits"]]
    planned = "hyperparameter_tuning" in state["plan"]["stages"]
    can_tune = planned and state["rounds"] < budget_of(state).rounds and not await lab.step.wrapping_up()
    brief = {
        **_standing(state, state.get("took", {}).get("model_evaluation", BLEND_S)),
        "stage": "evaluation",
        "left_out": state.get("left_out", []),
        "can_tune": can_tune,
    }

    def check(verdict: Verdict, answers: Sequence[ToolAnswer]) -> str | None:
        made = [name for answer in answers if (name := _made(answer))]
        known = [*names, *made, *([ENSEMBLE] if state.get("blended") else [])]
        if verdict.chosen in known:
            return None
        close = ", ".join(nearest_names(verdict.chosen, known)) or ", ".join(known)
        return f"No candidate is called {verdict.chosen!r}. Choose one of: {close}."

    ctx = lab.tools("model_evaluator", study_of(state, budget_of(state).until_s))
    thought = await lab.crew["model_evaluation"].run(ctx, brief, check)
    verdict: Verdict = thought.output
    blends = [answer for answer in thought.answers if _made(answer) == ENSEMBLE]
    return {
        "verdict": {**verdict.model_dump(mode="json"), "tune": verdict.tune and can_tune},
        "weights": _weights(blends[0]) if blends else state.get("weights", {}),
        "blended": bool(blends) or state.get("blended", False),
    }


async def hyperparameter_tuning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    state = {**state, "hands": await lab.hands_now()}
    brief = {**_standing(state), "stage": "tuning", "chosen": state["verdict"]["chosen"]}
    ctx = lab.tools("model_evaluator", study_of(state, budget_of(state).until_s))
    thought = await lab.crew["hyperparameter_tuning"].run(ctx, brief)
    rounds = thought.values(*FITTING)
    return {
        "fits": merged(state["fits"], short(fit for answer in rounds for fit in answer["fits"])),
        "left_out": [
            *state.get("left_out", []),
            *(entry for answer in rounds for entry in answer["left_out"]),
        ],
        "hands": state["hands"],
        "rounds": state["rounds"] + 1 if rounds else MAX_ROUNDS,
        "blended": state.get("blended", False) and not rounds,
    }


def _standing(state: LabState, needed_s: float = 0.0) -> Json:
    """What both parts are told: the candidates, what they weigh, and what is left once `needed_s` are gone."""
    budget = budget_of(state)
    return {
        **problem_brief(state),
        "fits": state["fits"],
        "weights": state.get("weights", {}),
        "blended": state.get("blended", False),
        "folds": state["split"]["folds"],
        "time_left_s": None if budget.deterministic else round(budget.for_fits_s - needed_s, 2),
        "worked_s": round(budget.worked_s, 1),
        "hands": state["hands"],
        "rounds": state["rounds"],
    }


def _made(answer: ToolAnswer) -> str | None:
    """The name of the model that a blend made; None of any other call."""
    facts: Any = answer.value
    return str(facts["name"]) if answer.request.name == "build_ensemble" and "name" in facts else None


def _weights(answer: ToolAnswer) -> dict[str, float]:
    facts: Any = answer.value
    return weights_of(answer.request.arguments["models"], facts)
