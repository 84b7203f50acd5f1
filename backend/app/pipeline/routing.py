"""Routing between nodes, along the stages of the plan."""

from collections.abc import Callable

from app.agents.planner.stages import Stage, next_stage
from app.agents.state import LabState

Route = Callable[[LabState], str]


def route_after(stage: Stage) -> Route:
    """Make the route after a stage with several possible successors."""
    return lambda state: next_stage(state["plan"]["stages"], stage)


def after_retrieval(state: LabState) -> str:
    """Answer a question from the retrieved table; for a model, lock a hold-out first."""
    return "split" if state["plan"].get("question") is None else "answering"


def after_training(state: LabState) -> str:
    """Evaluate the fits. A session that has to end before its first fit reports what it has."""
    if stage := state.get("refit_from"):
        return stage
    return "model_evaluation" if state["fits"] else "reporting"


def after_tuning(state: LabState) -> str:
    """Evaluate the candidates again, or fit all of them again without a column that an answer left out."""
    return state.get("refit_from") or "model_evaluation"


def after_evaluation(state: LabState) -> str:
    """Tune or go back if the evaluator requested it (possible while there is time), else open the hold-out."""
    if stage := state.get("refit_from"):
        return stage
    if back_to := state["verdict"].get("back_to"):
        return str(back_to)
    return "hyperparameter_tuning" if state["verdict"]["tune"] else "final_evaluation"
