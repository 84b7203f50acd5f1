"""The stages of the graph, and which of them a plan may leave out."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from app.modeling.problem.name_resolution import nearest_names

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
"""All stages in the order of the graph."""

REQUIRED_STAGES: Mapping[Stage, str] = {
    "data_retrieval": "without a table there is nothing to work on",
    "split": "a score is valid only on rows that were held out",
    "reporting": "a session ends with its report",
}
STAGE_DEPENDENCIES: Mapping[Stage, tuple[Stage, ...]] = {
    "model_training": ("model_evaluation", "final_evaluation"),
    "model_evaluation": ("model_training",),
    "hyperparameter_tuning": ("model_training",),
    "final_evaluation": ("model_training",),
}
"""Stages that other stages require. A plan without `model_training` explores the data and reports on it."""


def stages_error(stages: Sequence[str]) -> str | None:
    """Return the reason why the graph cannot run these stages in this order; None if it can."""
    for name in stages:
        if name not in STAGES:
            nearest = ", ".join(nearest_names(name, STAGES)) or ", ".join(STAGES)
            return f"There is no stage {name!r}; the nearest are {nearest}."
    if len(set(stages)) < len(stages):
        return f"Each stage stands once in a plan; tuning repeats by itself: {', '.join(stages)}."
    for name, reason in REQUIRED_STAGES.items():
        if name not in stages:
            return f"The stage {name} cannot be left out: {reason}."
    for name in stages:
        for dependency in STAGE_DEPENDENCIES.get(name, ()):  # type: ignore[call-overload]  # a name of STAGES by now
            if dependency not in stages:
                return f"The stage {name} needs {dependency}: keep both, or leave out both."
    in_order = [name for name in STAGES if name in stages]
    if list(stages) != in_order:
        return f"Each stage builds on the one before, so their order is fixed: {', '.join(in_order)}."
    return None


def next_stage(stages: Sequence[str], stage: Stage) -> Stage:
    """Return the next stage of the plan."""
    return next(name for name in STAGES[STAGES.index(stage) + 1 :] if name in stages)
