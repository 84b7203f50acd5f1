"""Recorded facts of a study that reports and figures decide by, one dataclass a kind of fact.

Fields keep the names of the JSON. Keys that are only shown are not here: a claim reads them from the evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from app.modeling.facts.assumptions import AssumptionKind, AssumptionSide
from app.recorded_call import Json
from app.reporting.figure_data import DependencePanel, FeatureContribution, ImportanceEntry, SegmentRow

JsonObject = Mapping[str, Json]


@dataclass(frozen=True)
class MeasuredInterval:
    """A score with the bounds of its 95 % interval."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class SplitRecord:
    train_rows: int
    holdout_rows: int
    problem: JsonObject | None = None
    duplicates_removed: int | None = None


@dataclass(frozen=True)
class MeasuredAssumption:
    """A condition of the score. `chosen_side`: the side that was taken when it was measured."""

    kind: AssumptionKind
    metric: str
    chosen_side: Annotated[AssumptionSide, Field(alias="chosen")]
    columns: Sequence[str] = ()
    holds_score: float | None = None
    otherwise_score: float | None = None
    interval: Mapping[str, float | None] | None = None
    matters: bool = False

    @property
    def effect(self) -> float:
        """The change of the score without the condition, relative to the larger of both."""
        if self.holds_score is None or self.otherwise_score is None:
            return 0.0
        largest = max(abs(self.holds_score), abs(self.otherwise_score))
        return abs(self.holds_score - self.otherwise_score) / largest if largest else 0.0


@dataclass(frozen=True)
class EdaRecord:
    findings: Sequence[JsonObject]
    leaks: Sequence[JsonObject]


@dataclass(frozen=True)
class FrameRecord:
    effects: Sequence[str]
    recipe: Sequence[JsonObject]
    added: Sequence[JsonObject]


@dataclass(frozen=True)
class FitRecord:
    """One fit, or the part of one that ran some of the folds (`run`)."""

    name: str
    estimator: str
    score: float | None
    fold_scores: Sequence[float | None]
    problem: JsonObject | None = None
    recipe: Sequence[JsonObject] | None = None
    run: Sequence[int] | None = None
    settings: JsonObject | None = None
    threads: int | None = None


@dataclass(frozen=True)
class EnsembleMember:
    name: str
    run: Sequence[int]


@dataclass(frozen=True)
class BlendRecord:
    weights: Mapping[str, float]
    members: Sequence[EnsembleMember]
    name: str = ""
    fold_scores: Sequence[float | None] = ()


@dataclass(frozen=True)
class CandidateRow:
    """A row of the leaderboard. `is_compared`: it was judged on the same `folds` as the others."""

    name: str
    score: float | None = None
    std: float | None = None
    fit_s: float | None = None
    difference: float | None = None
    distinguishable: bool | None = None
    folds: int = 0
    fold_count: int = 0
    is_compared: bool = True
    is_cut: bool = False
    learned_rows: int | None = None


@dataclass(frozen=True)
class ComparisonRecord:
    leaderboard: Sequence[CandidateRow]
    chosen_name: Annotated[str | None, Field(alias="chosen")]
    metric: str
    baseline: str | None = None


@dataclass(frozen=True)
class RefitRecord:
    """`rows`: 0 if no model was refitted. `by_entity`: whether known groups have fits of their own. `widening`:
    the factor by which its intervals are wider than those of the evaluated model, None if they are as wide."""

    rows: int
    fits: int
    model: str
    by_entity: bool = False
    widening: float | None = None


@dataclass(frozen=True)
class ImportanceRecord:
    importances: Sequence[ImportanceEntry]
    metric: str


@dataclass(frozen=True)
class ContributionsRecord:
    features: Sequence[FeatureContribution]
    member: str = ""
    unit: str = "target"
    of_class: str | None = None


@dataclass(frozen=True)
class SegmentsRecord:
    """`measure`: `wrong` (a share of rows) or `absolute_error` (in units of the target)."""

    measure: str
    worst: Sequence[SegmentRow]
    overall: float | None = None


@dataclass(frozen=True)
class DriversRecord:
    """The columns that the target goes with. The first `leaders` of `drivers` may be the first.

    `is_first_clear`: one is, by more than chance explains. `rows`: measured ones of `holdout_rows`; 0 where
    they were not recorded.
    """

    drivers: Sequence[JsonObject]
    leaders: int
    is_first_clear: bool
    rows: int = 0
    holdout_rows: int = 0
    has_enough_rows: bool = True


@dataclass(frozen=True)
class ExplanationRecord:
    """`wants_drivers`: the goal asked for the drivers of its target."""

    importances: Sequence[ImportanceEntry]
    segments: JsonObject | None
    wants_drivers: bool = False


@dataclass(frozen=True)
class DrawnExplanation:
    """Input of the figures of an explanation."""

    importances: Sequence[ImportanceEntry]
    metric: str
    segments: SegmentsRecord | None = None
    dependence: Sequence[DependencePanel] | None = None
    contributions: ContributionsRecord | None = None


@dataclass(frozen=True)
class CurvePoints:
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class ConfusionRecord:
    """`counts[actual][predicted]` in rows."""

    labels: Sequence[Any]
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True)
class CalibrationBin:
    """Mean predicted probability and observed share of `count` rows."""

    predicted: float
    observed: float | None
    count: int


@dataclass(frozen=True)
class CalibrationRecord:
    bins: Sequence[CalibrationBin] | None = None


@dataclass(frozen=True)
class ResidualPoint:
    truth: float
    prediction: float


@dataclass(frozen=True)
class ResidualsRecord:
    points: Sequence[ResidualPoint] | None = None


@dataclass(frozen=True)
class ReferenceForecast:
    """A prediction without a model, with its score; `difference`: the gain of the model over it."""

    name: str
    difference: MeasuredInterval
    score: float | None = None

    @property
    def is_beaten(self) -> bool:
        """True if the model is better by more than chance explains."""
        return (self.difference.low or 0.0) > 0


@dataclass(frozen=True)
class StepScore:
    rows_ahead: int
    score: float | None
    references: Mapping[str, float | None]


@dataclass(frozen=True)
class EvaluationRecord:
    """An evaluation on the hold-out or out of fold (`on`)."""

    on: str
    metrics: Mapping[str, MeasuredInterval | None]
    rows: int
    baseline: Mapping[str, float | None] | None = None
    beats_baseline: bool | None = None

    def score(self, metric: str) -> MeasuredInterval:
        """Return the score of a metric, without a value if it was not measured."""
        return self.metrics.get(metric) or MeasuredInterval()


@dataclass(frozen=True)
class DrawnEvaluation(EvaluationRecord):
    """Input of the figures of an evaluation."""

    metric: str = ""
    model: str | None = None
    roc: CurvePoints | None = None
    precision_recall: CurvePoints | None = None
    confusion: ConfusionRecord | None = None
    calibration: CalibrationRecord | None = None
    residuals: ResidualsRecord | None = None
    by_step: Sequence[StepScore] | None = None


@dataclass(frozen=True)
class ForecastRecord:
    """Forecasts of `series` series from the times `first` to `last`.

    `delivered`: name of the model that forecasts; None in results of former releases: the refitted one.
    """

    forecasts: Sequence[JsonObject]
    first: str | None
    last: str | None
    rows: int = 0
    series: int = 1
    months_apart: int | None = None
    """Months between rows of a series, for series in months, quarters or years."""
    delivered: str | None = None
    ranking: str | None = None
    """Order of the answers of several series: `most` or `least` first."""


@dataclass(frozen=True)
class UnlabelledRecord:
    """Predictions of `rows` of the rows without a target, which are `unlabelled`, in a file.

    `first`: the names and values of the highest predictions, of rows that were ranked.
    """

    rows: int
    unlabelled: int
    file: str
    first: Sequence[JsonObject] = ()


@dataclass(frozen=True)
class BacktestRecord:
    """`edge`: True if the strategy earns its costs by more than chance explains. `horizon` in bars."""

    strategy: JsonObject
    baselines: Sequence[JsonObject]
    edge: bool
    horizon: int | None = None
    trials: int | None = None
    within_bars: bool | None = None


@dataclass(frozen=True)
class AnswerRecord:
    """`measures`: what the columns that a plan computed measure (`app.plans.measures`), by name."""

    columns: Sequence[JsonObject]
    rows: Sequence[Sequence[Json]]
    language: str
    code: str
    row_count: int = 0
    measures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StatedAnswerRecord:
    """The analyst's words of an answer, and its values by name; `unanswered`: why there is none."""

    text: str
    values: JsonObject
    unanswered: str
    question: str = ""


@dataclass(frozen=True)
class BacktestCurve:
    """Values at each bar of the hold-out; equities grow from 1, drawdowns are shares at most 0."""

    times: Sequence[str]
    price: Sequence[float | None]
    position: Sequence[float]
    equity: Sequence[float | None]
    hold: Sequence[float | None]
    drawdown: Sequence[float | None]
    hold_drawdown: Sequence[float | None]


@dataclass(frozen=True)
class PositionLimits:
    """Smallest and largest position, as shares of the capital."""

    low: float
    high: float


@dataclass(frozen=True)
class DrawnBacktest:
    """Input of the figures of a backtest."""

    curve: BacktestCurve
    terms: PositionLimits
    coins: Sequence[str]


@dataclass(frozen=True)
class UploadedTable:
    """A dataset of the session; `table`: its name in queries, where it differs."""

    name: str
    digest: str | None = None
    table: str | None = None


@dataclass(frozen=True)
class SessionRecord:
    """Facts of the session itself."""

    seed: int = 0
    versions: Mapping[str, str] | None = None
    datasets: Sequence[UploadedTable] | None = None
    fork: JsonObject | None = None
