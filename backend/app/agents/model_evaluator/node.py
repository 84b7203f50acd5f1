"""The evaluator's nodes: judge the candidates, tune once, and open the hold-out at the very end."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from app.agents.budget import budget_of
from app.agents.context import LabContext
from app.agents.fits import merged, short
from app.agents.model_evaluator.output import Verdict
from app.agents.state import LabState, LabUpdate
from app.agents.study import problem_brief, study_of
from app.modeling.nearest import nearest
from app.tools.invoke import ToolAnswer

MOST_TUNING_ROUNDS = 1


async def model_evaluation(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    names = [fit["name"] for fit in state["fits"]]
    budget = budget_of(state)
    can_tune = budget.allows_tuning and state.get("tuning_rounds", 0) < MOST_TUNING_ROUNDS
    brief = {
        **problem_brief(state),
        "stage": "evaluation",
        "fits": state["fits"],
        "left_out": state.get("left_out", []),
        "can_tune": can_tune,
    }

    def check(verdict: Verdict, answers: Sequence[ToolAnswer]) -> str | None:
        if verdict.chosen in names:
            return None
        close = ", ".join(nearest(verdict.chosen, names)) or ", ".join(names)
        return f"No candidate is called {verdict.chosen!r}. Choose one of: {close}."

    ctx = lab.tools("model_evaluator", study_of(state, budget.left_s))
    thought = await lab.crew["model_evaluation"].run(ctx, brief, check)
    verdict: Verdict = thought.output
    return {"verdict": {**verdict.model_dump(mode="json"), "tune": verdict.tune and can_tune}}


async def hyperparameter_tuning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    time_left_s = round(budget_of(state).for_tuning_s, 1)
    brief = {
        **problem_brief(state),
        "stage": "tuning",
        "fits": state["fits"],
        "chosen": state["verdict"]["chosen"],
        "time_left_s": time_left_s,
    }
    ctx = lab.tools("model_evaluator", study_of(state, time_left_s))
    thought = await lab.crew["hyperparameter_tuning"].run(ctx, brief)
    rounds = thought.values("tune_hyperparameters")
    return {
        "fits": merged(state["fits"], short(fit for answer in rounds for fit in answer["fits"])),
        "left_out": [
            *state.get("left_out", []),
            *(entry for answer in rounds for entry in answer["left_out"]),
        ],
        "tuning_rounds": state.get("tuning_rounds", 0) + 1,
    }
