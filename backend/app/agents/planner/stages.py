"""What the graph can do, stage by stage, and which of it a plan may leave out."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from app.modeling.problem.names import nearest_names

Stage = Literal[
    "data_retrieval",
    "split",
    "data_analysis",
    "feature_engineering",
    "model_training",
    "model_evaluation",
    "hyperparameter_tuning",
    "final_evaluation",
    "reporting",
]

STAGES: tuple[Stage, ...] = get_args(Stage)
"""In the order of the graph."""

ALWAYS: Mapping[Stage, str] = {
    "data_retrieval": "without a table there is nothing to work on",
    "split": "a result counts only on rows that nobody has seen",
    "reporting": "a session ends with its report",
}
NEEDS: Mapping[Stage, tuple[Stage, ...]] = {
    "model_training": ("model_evaluation", "final_evaluation"),
    "model_evaluation": ("model_training",),
    "hyperparameter_tuning": ("model_training",),
    "final_evaluation": ("model_training",),
}
"""A plan without `model_training` looks at the data and reports on it."""


def wrong_stages(stages: Sequence[str]) -> str | None:
    """Why the graph cannot go through these stages in this order; None when it can."""
    for name in stages:
        if name not in STAGES:
            close = ", ".join(nearest_names(name, STAGES)) or ", ".join(STAGES)
            return f"There is no stage {name!r}; the nearest are {close}."
    if len(set(stages)) < len(stages):
        return f"Each stage stands once in a plan; tuning repeats by itself: {', '.join(stages)}."
    for name, why in ALWAYS.items():
        if name not in stages:
            return f"The stage {name} cannot be left out: {why}."
    for name in stages:
        for needed in NEEDS.get(name, ()):  # type: ignore[call-overload]  # a name of STAGES by now
            if needed not in stages:
                return f"The stage {name} needs {needed}: keep both, or leave out both."
    in_order = [name for name in STAGES if name in stages]
    if list(stages) != in_order:
        return f"Each stage builds on the one before, so their order is fixed: {', '.join(in_order)}."
    return None


def next_stage(stages: Sequence[str], done: Stage) -> Stage:
    """The stage of the plan that comes after `done`."""
    return next(name for name in STAGES[STAGES.index(done) + 1 :] if name in stages)
