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
    return "model_evaluation" if state["fits"] else "reporting"


def after_evaluation(state: LabState) -> str:
    """Tune if the evaluator requested it (only possible while there is time), else open the hold-out."""
    return "hyperparameter_tuning" if state["verdict"]["tune"] else "final_evaluation"
