"""What is to be predicted, and how well is judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from app.errors import InvalidInput
from app.json_types import JsonScalar
from app.modeling.problem.forecast_steps import training_steps


class ProblemKind(StrEnum):
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class Outlook(StrEnum):
    """What of the target's future is predicted when there is a horizon."""

    VALUE = "value"
    CHANGE = "change"
    """Relative change from now to the horizon."""
    DIRECTION = "direction"
    """Class `up` when the target is higher at the horizon than now, else `down`."""
    VOLATILITY = "volatility"
    """The realised volatility until the horizon: the root of the summed squared log returns, not annualised."""


QUANTILES = {f"pinball_{percent:02}": percent / 100 for percent in (5, 10, 25, 50, 75, 90, 95)}
"""Metric -> the quantile of the target that a model is asked for."""

METRICS: dict[ProblemKind, tuple[str, ...]] = {
    ProblemKind.CLASSIFICATION: (
        "roc_auc",
        "log_loss",
        "accuracy",
        "balanced_accuracy",
        "f1",
        "average_precision",
        "brier",
        "precision",
        "recall",
        "mcc",
        "cohen_kappa",
        "top_3_accuracy",
        "cost",
    ),
    ProblemKind.REGRESSION: (
        "rmse",
        "mae",
        "r2",
        "mape",
        "median_ae",
        "rmsle",
        "smape",
        "poisson_deviance",
        *QUANTILES,
    ),
}


@dataclass(frozen=True)
class Problem:
    """A complete problem; `classes` are JSON scalars in sorted order, None for regression.

    With a `horizon` (rows ahead, within a group) the label of a row is its target's future, and the target's
    present value is one of the inputs. `time_column` alone only orders the split.
    """

    target: str
    kind: ProblemKind
    metric: str
    classes: tuple[JsonScalar, ...] | None = None
    positive_class: JsonScalar = None
    time_column: str | None = None
    group_column: str | None = None
    horizon: int | None = None
    every_step: bool = False
    """Each step from the next row to the horizon is forecast, not the farthest alone."""
    outlook: Outlook | None = None
    exclude: tuple[str, ...] = ()
    barriers: tuple[float, float] | None = None
    """Of a direction: the relative rise at which a trade takes its profit, and the fall at which it stops; 0
    for none. `up` is then a trade that ends with a gain, at a barrier or at the horizon at the latest."""
    parsers: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    """How raw columns are read, as `reading.operations` write it: what a model does first with raw rows."""
    costs: tuple[float, float] | None = None
    """Of a false alarm and of a missed positive; binary problems only."""

    @property
    def is_classification(self) -> bool:
        return self.kind is ProblemKind.CLASSIFICATION

    @property
    def is_binary(self) -> bool:
        return self.classes is not None and len(self.classes) == 2

    @property
    def positive_index(self) -> int:
        """Place of the positive class in `classes`; 1 where none is named."""
        if self.classes and self.positive_class in self.classes:
            return self.classes.index(self.positive_class)
        return 1

    @property
    def default_threshold(self) -> float:
        """From which probability the positive class is chosen by right: where both mistakes cost the same."""
        return 0.5 if self.costs is None else self.costs[0] / sum(self.costs)

    @property
    def forecasts_per_row(self) -> int:
        """How many answers one row is asked for."""
        return len(training_steps(self.horizon)) if self.every_step and self.horizon else 1

    @property
    def quantile(self) -> float | None:
        """Which quantile of the target a model is asked for; None where it is the mean."""
        return QUANTILES.get(self.metric)

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "kind": self.kind.value,
            "metric": self.metric,
            "classes": list(self.classes) if self.classes is not None else None,
            "positive_class": self.positive_class,
            "time_column": self.time_column,
            "group_column": self.group_column,
            "horizon": self.horizon,
            "every_step": self.every_step,
            "outlook": self.outlook.value if self.outlook else None,
            "exclude": list(self.exclude),
            "barriers": list(self.barriers) if self.barriers else None,
            "reading": [dict(one) for one in self.parsers],
            "costs": list(self.costs) if self.costs else None,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The problem that `to_json` or `define` gave; raises InvalidInput `bad_problem` for anything else."""
        try:
            classes, costs = document.get("classes"), document.get("costs")
            barriers = document.get("barriers")
            return cls(
                target=document["target"],
                kind=ProblemKind(document["kind"]),
                metric=document["metric"],
                classes=tuple(classes) if classes else None,
                positive_class=document.get("positive_class"),
                time_column=document.get("time_column"),
                group_column=document.get("group_column"),
                horizon=document.get("horizon"),
                every_step=bool(document.get("every_step")),
                outlook=Outlook(document["outlook"]) if document.get("outlook") else None,
                exclude=tuple(document.get("exclude") or ()),
                barriers=(float(barriers[0]), float(barriers[1])) if barriers else None,
                parsers=tuple(document.get("reading") or ()),
                costs=(float(costs[0]), float(costs[1])) if costs else None,
            )
        except (KeyError, ValueError) as error:
            raise InvalidInput("bad_problem", f"This is not a complete problem: {error}.") from error
