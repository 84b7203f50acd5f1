"""Where a session goes next."""

from app.agents.state import LabState


def after_training(state: LabState) -> str:
    """Judge the fits. A session that was told to end before its first one reports what it has found."""
    return "model_evaluation" if state["fits"] else "reporting"


def after_evaluation(state: LabState) -> str:
    """Tune when the evaluator asked for it (it can only while there is time), else open the hold-out."""
    return "hyperparameter_tuning" if state["verdict"]["tune"] else "final_evaluation"
