"""Where a session goes next: along the stages of its plan."""

from collections.abc import Callable

from app.agents.planner.stages import Stage, next_stage
from app.agents.state import LabState

Route = Callable[[LabState], str]


def after(done: Stage) -> Route:
    """What the plan does after a stage that it may go on from in several ways."""
    return lambda state: next_stage(state["plan"]["stages"], done)


def after_retrieval(state: LabState) -> str:
    """A question is answered from what was fetched; for a model a hold-out is locked away first."""
    return "split" if state["plan"].get("question") is None else "answering"


def after_training(state: LabState) -> str:
    """Judge the fits. A session that was told to end before its first one reports what it has found."""
    return "model_evaluation" if state["fits"] else "reporting"


def after_evaluation(state: LabState) -> str:
    """Tune when the evaluator asked for it (it can only while there is time), else open the hold-out."""
    return "hyperparameter_tuning" if state["verdict"]["tune"] else "final_evaluation"
