"""The facts of computations as tools read them: parts of the shapes in `modeling.facts.computation_facts`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.json_types import JsonValue
from app.modeling.facts.computation_facts import RecipeJson
from app.sandbox.computation_runner import ComputationFailed, ComputationResult


def json_object(computed: ComputationResult) -> dict[str, JsonValue]:
    """Return the facts of a computation. Raises ComputationFailed if its value is no JSON object."""
    if not isinstance(computed.value, dict):
        raise ComputationFailed("computation_died", "The computation did not return facts.")
    return computed.value


@dataclass(frozen=True)
class FigureTitle:
    """A figure's file, in its first format, and its title."""

    file: str
    title: str


@dataclass(frozen=True)
class ColumnName:
    name: str


@dataclass(frozen=True, kw_only=True)
class SplitRows:
    """The rows of `SplitFacts`; `columns` are those of the training frame."""

    kind: str
    train_rows: int
    holdout_rows: int
    columns: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class QueryRows:
    """The size and the columns of a query's result."""

    row_count: int
    columns: Sequence[Any]


@dataclass(frozen=True)
class UnusualRowCount:
    """The number of unusual rows of a search, and of all its rows."""

    unusual: int
    rows_used: int


@dataclass(frozen=True)
class GroupedRows:
    """The number of groups of a search."""

    row_count: int


@dataclass(frozen=True)
class JoinDescription:
    """A join as a sentence. `columns`: those of the joined table, where it is joined to the base itself."""

    text: str
    table: str = ""
    columns: Sequence[str] = ()


@dataclass(frozen=True)
class JoinDescriptions:
    joins: Sequence[JoinDescription]


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """The rows, findings and leaks of `EdaFacts`."""

    rows: int
    findings: Sequence[Any]
    leaks: Sequence[Any]


@dataclass(frozen=True)
class FigureList:
    figures: Sequence[FigureTitle] = ()


@dataclass(frozen=True, kw_only=True)
class RecipeFrame:
    """`FrameFacts`: the recipe of a frame and its effect on the training rows."""

    rows: int
    columns: Sequence[Mapping[str, Any]]
    recipe: RecipeJson
    effects: Sequence[str] = ()
    new_columns: Sequence[str] = ()


@dataclass(frozen=True)
class CodeTrial:
    """The test of custom code. `score` and `rows`: of an estimator's trial fit."""

    checks: Sequence[Any] = ()
    score: float | None = None
    rows: int = 0


@dataclass(frozen=True)
class FeatureTrial:
    """The columns that custom features make, with the test of their code."""

    new_columns: Sequence[str]
    trial: CodeTrial


@dataclass(frozen=True)
class EstimatorTrial:
    """A custom estimator whose code passed its test, as a candidate."""

    estimator: str
    hyperparameters: Mapping[str, Any]
    trial: CodeTrial


@dataclass(frozen=True, kw_only=True)
class ModelComparison:
    """The conclusion of `ComparisonFacts`."""

    reason: str
    beats_baseline: bool | None
    figures: Sequence[FigureTitle] = ()


@dataclass(frozen=True)
class ScoreInterval:
    """A score with its 95% interval."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class ModelEvaluation:
    """The scores of `EvaluationFacts`."""

    metric: str
    metrics: Mapping[str, ScoreInterval]
    figures: Sequence[FigureTitle] = ()

    @property
    def score(self) -> ScoreInterval:
        """The score by the problem's metric."""
        return self.metrics[self.metric]


@dataclass(frozen=True)
class ColumnImportance:
    column: str
    helps: bool = False


@dataclass(frozen=True)
class ColumnImportances:
    """`ImportanceFacts`, the most important column first."""

    importances: Sequence[ColumnImportance]
    figures: Sequence[FigureTitle] = ()


@dataclass(frozen=True)
class ErrorSegment:
    """Rows with a large error: a column and its values as text."""

    column: str
    text: str


@dataclass(frozen=True)
class ErrorSegments:
    worst: Sequence[ErrorSegment] = ()


@dataclass(frozen=True)
class DriverColumns:
    columns: Sequence[str]


@dataclass(frozen=True)
class DriverRanking:
    """The first `leaders` of the drivers may be the first; `is_first_clear`: one is, beyond chance."""

    drivers: Sequence[DriverColumns] = ()
    leaders: int = 0
    is_first_clear: bool = False


@dataclass(frozen=True)
class ExplanationSummary:
    """The drivers and error segments of `ExplanationFacts`."""

    drivers: DriverRanking = DriverRanking()
    segments: ErrorSegments | None = None
    figures: Sequence[FigureTitle] = ()


@dataclass(frozen=True)
class RefitOutcome:
    """`rows` is 0 if the time did not suffice and the model was not refitted."""

    rows: int


@dataclass(frozen=True)
class ProposedCandidate:
    estimator: str
    hyperparameters: Mapping[str, Any]
    recipe: RecipeJson


@dataclass(frozen=True)
class Proposals:
    """The candidates that tuning proposes, in order of trial."""

    candidates: Sequence[ProposedCandidate] = field(default_factory=list)


@dataclass(frozen=True)
class BacktestOutcome:
    verdict: str
    figures: Sequence[FigureTitle]


@dataclass(frozen=True)
class UnlabelledRows:
    """The number of rows without a target that were predicted, of all such rows, and their file."""

    rows: int
    unlabelled: int
    file: str


@dataclass(frozen=True)
class ForecastRange:
    """The number of forecasts, and the times of the first and the last one.

    `forecaster`: the classical methods that made them, None for the model.
    """

    rows: int
    first: Any
    last: Any
    figures: Sequence[FigureTitle]
    forecaster: str | None = None
