"""Values that figures are drawn from. No drawing library is imported, so that every process may make them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

Numbers = Sequence[float | None]


@dataclass(frozen=True)
class LabelledLine:
    label: str
    values: Numbers


@dataclass(frozen=True)
class DrawnCandidate:
    """A candidate: mean and standard deviation over folds, and the score of each fold."""

    name: str
    mean: float
    std: float
    folds: Sequence[float] = ()
    baseline: bool = False
    best: bool = False


@dataclass(frozen=True)
class RocCurve:
    label: str
    fpr: Sequence[float]
    tpr: Sequence[float]
    auc: float


@dataclass(frozen=True)
class PrecisionRecallCurve:
    label: str
    recall: Sequence[float]
    precision: Sequence[float]
    average_precision: float


@dataclass(frozen=True)
class CalibrationCurve:
    """One point per bin of the predicted probability; `counts`: rows in each bin."""

    label: str
    predicted: Numbers
    observed: Numbers
    counts: Sequence[int]


@dataclass(frozen=True)
class ImportanceEntry:
    """Loss of the metric when a column is shuffled. `helps`: significantly above zero."""

    column: str
    mean: float
    std: float
    helps: bool | None = None


@dataclass(frozen=True)
class DependenceLine:
    """Predictions at each value of a column, with bounds of the middle four fifths of the rows."""

    mean: Numbers
    low: Numbers
    high: Numbers
    of_class: Annotated[str | None, Field(alias="class")] = None


@dataclass(frozen=True)
class ColumnDensity:
    """Rows per value, or per range between `edges`."""

    counts: Sequence[float] = ()
    edges: Sequence[float] = ()


@dataclass(frozen=True)
class DependencePanel:
    """`kind`: `number`, `category` or `datetime`; `at`: the values that the column was set to."""

    column: str
    kind: str
    at: Sequence[Any]
    lines: Sequence[DependenceLine]
    density: ColumnDensity


@dataclass(frozen=True)
class FeatureContribution:
    """`mean`: mean absolute SHAP value."""

    feature: str
    mean: float


@dataclass(frozen=True)
class SegmentRow:
    """A segment (`column` `text`, such as `age is above 60`) and its error with a 95 % interval."""

    column: str
    text: str
    rows: int
    error: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ForecastPanel:
    """Known `values` at `times`, then `predictions` at the times `ahead`; ISO 8601. Bounds may be None."""

    label: str | None
    times: Sequence[str]
    values: Numbers
    ahead: Sequence[str]
    predictions: Numbers
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True)
class ColumnGaps:
    """`missing`: rows without a value."""

    name: str
    missing: int


@dataclass(frozen=True)
class ColumnDistribution:
    """Rows per range between `edges` (`kind` is `numeric`), or per label."""

    name: str
    kind: str
    counts: Sequence[float]
    edges: Sequence[float] = ()
    labels: Sequence[Any] = ()


@dataclass(frozen=True)
class TargetPanel:
    """The target's value per group of rows of a feature, with bounds and group sizes if known."""

    feature: str
    labels: Sequence[Any]
    values: Numbers
    low: Numbers = ()
    high: Numbers = ()
    counts: Sequence[float] = ()


@dataclass(frozen=True)
class Drawable:
    """`kind` is a kind of `figures.drawing` and the name of the file; `facts` are the arguments it takes."""

    kind: str
    facts: Mapping[str, Any]
