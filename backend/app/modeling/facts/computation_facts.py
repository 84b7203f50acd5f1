"""Shapes of the facts that computations return, as strict JSON."""

from typing import Any, NotRequired, TypedDict

from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.facts.leaks import Leak

RecipeJson = list[dict[str, Any]]
ProblemJson = dict[str, Any]
Metrics = dict[str, float | None]


class ColumnFact(TypedDict):
    name: str
    type: str
    """`number`, `boolean`, `category`, `text`, `datetime` or `empty`."""


class FoldsJson(TypedDict):
    kind: str
    """`stratified`, `grouped`, `time` or `random`."""
    count: int
    seed: int
    equal_rows_together: NotRequired[bool]


class RepeatedRowsJson(TypedDict):
    """Rows that equal another row, all of them kept; and how many of them stay on one side of every split,
    because such values do not coincide."""

    equal: int
    on_one_side: int


class ReadingFact(TypedDict):
    """The inferred type of one raw column: `number`, `datetime`, `boolean`, or `text` without missing words."""

    column: str
    reads_as: str
    way: dict[str, Any]
    """The parser, as JSON of `type_inference.parsers`, without its columns."""
    text: str
    confidence: float
    evidence: dict[str, Any]


class SplitFacts(TypedDict):
    """`split.split_table`; files train.parquet and holdout.parquet. `problem` is the completed request."""

    problem: ProblemJson
    kind: str
    reason: str
    folds: FoldsJson
    rows: int
    train_rows: int
    holdout_rows: int
    duplicates_removed: int  # always 0: equal rows are kept
    unmeasured: NotRequired[list[str]]  # structures of the rows without a figure, as a sentence
    slowness: NotRequired[float]  # factor by which the split took longer than on an idle machine
    repeated_rows: NotRequired[RepeatedRowsJson]
    unlabelled_removed: int
    target_summary: dict[str, Any]
    """Summary of the target in the training rows: `{"classes": {name: count}}` or `{"mean", "std", "min",
    "median", "max"}`."""
    columns: list[ColumnFact]
    """Columns of the training frame."""
    reading: list[ReadingFact]
    """Columns whose inferred type differs from their stored type."""
    notes: list[str]
    construction: NotRequired[list[str]]  # how the table was made of rows of the datasets, in sentences
    row_noun: NotRequired[str]  # plural word for what a row of the predicted moment stands for: `customers`
    assumptions: NotRequired[list[AssumptionJson]]  # conditions about the rows to predict, of training rows


class Finding(TypedDict):
    """`severity`: `info`, `warning` or `serious`. `suggestion`: recipe operations that repair it."""

    kind: str
    column: str | None
    text: str
    severity: str
    evidence: dict[str, Any]
    suggestion: RecipeJson


class ColumnProfile(TypedDict):
    name: str
    type: str
    missing: float
    distinct: int
    summary: dict[str, Any]
    relation: float | None
    """Out-of-fold score of the column as the only feature: ROC AUC (0.5 to 1) or R2 (0 to 1)."""


class EdaFacts(TypedDict):
    """`explore.perform_eda`; figures as SVG. `looked_at`: number of rows in the analysis."""

    rows: int
    looked_at: int
    columns: list[ColumnProfile]
    findings: list[Finding]
    leaks: list[Leak]
    assumptions: NotRequired[list[AssumptionJson]]
    """What suspected columns bring, and those that were left out."""
    notes: NotRequired[list[str]]  # what no time was left for, as sentences
    target: dict[str, Any]
    correlations: list[dict[str, Any]]
    """The strongest pairs of numeric columns: `{"a", "b", "r"}`."""
    suggested_cleaning: RecipeJson
    suggested_features: RecipeJson
    figures: list[dict[str, str]]  # `{"file", "title"}` of each figure


class FrameFacts(TypedDict):
    """`clean.clean_data`, `features.create_features`, `features.technical_indicators`; file frame.parquet.

    `recipe` is the complete recipe (input + added); frame.parquet shows its effect on the training rows.
    """

    recipe: RecipeJson
    added: RecipeJson
    effects: list[str]
    """One sentence for each operation."""
    rows: int
    of: NotRequired[int]
    """All training rows; frame.parquet holds `rows` of them."""
    columns: list[ColumnFact]
    new_columns: list[str]
    dropped_columns: list[str]


class CalibrationJson(TypedDict):
    """`calibration.fit_calibration`: the calibration curve of a model, as parameters."""

    method: str
    """`identity`, `platt`, `isotonic` or `temperature`."""
    parameters: dict[str, Any]
    log_loss_before: float | None
    log_loss: float | None
    """Cross-fitted, on the same rows."""
    rows: int
    text: str


class ThresholdJson(TypedDict):
    """`thresholds.choose_threshold`. `aim`: the metric that it optimises, or `cost`."""

    value: float
    aim: str
    text: str


class CoverageJson(TypedDict):
    """Rows inside their interval, its median `width`, and the factor of bounds that hold `level`."""

    level: float
    coverage: "Interval"
    width: float | None
    rows: int
    widening: NotRequired[float]


class FitFacts(TypedDict):
    """`train.fit_candidate`; files model.skops (these facts are its metadata) and oof.parquet.

    oof.parquet: `row` (position in train.parquet), `fold`, `truth`, and `p_<place of class>` or `prediction`.
    """

    name: str
    estimator: str
    hyperparameters: dict[str, Any]
    recipe: RecipeJson
    metric: str
    greater_is_better: bool
    score: float | None
    """Mean over folds of `metric`."""
    std: float | None
    fold_scores: list[float | None]
    """One score for every fold of the plan, None for a fold that was not run."""
    metrics: dict[str, dict[str, float | None]]
    """metric -> `{"mean", "std"}` over folds."""
    threshold: float | None
    """Binary: the (calibrated) probability, set out of fold, from which the positive class is predicted."""
    threshold_text: str | None
    calibration: dict[str, Any] | None
    """Classification: `CalibrationJson`, applied to every predicted probability."""
    prediction_intervals: dict[str, Any] | None
    """Regression: `PredictionIntervalsJson`."""
    rows: int
    features: int
    """Width of the encoded matrix; the largest if there are several."""
    fit_s: float
    fold_s: list[float]
    """Seconds of each fold in `run`."""
    run: list[int]
    """Folds that were fitted; empty if the model was fitted on all rows at once, without a score."""
    settings: dict[str, Any]
    """Hyperparameters that early stopping chose. Passed back as `settings`, they reproduce the fit."""
    threads: NotRequired[int]
    """Threads of the fit: the last digits of sums depend on their number."""
    folds: FoldsJson
    fold_count: int
    limited: str | None
    """Description of what was cut to keep the time limit, else None."""
    is_cut: NotRequired[bool]
    """True if the time ended while the loss still fell: the score is not that of a finished fit."""
    learned_share: NotRequired[float]
    """Share of the training rows of each fold that the fit learned from."""
    schema: list[dict[str, Any]]
    """Raw input columns of the model, see `SchemaColumn`."""
    problem: ProblemJson
    versions: dict[str, str]
    """Versions of Python and of the libraries that fitted the model."""
    weights: NotRequired[dict[str, float]]
    """`train.blend`: the weight of each candidate; nonnegative, with sum 1."""
    members: NotRequired[list[dict[str, Any]]]
    """`train.blend`: `{"name", "run", "weight"}` of each input, in order."""
    candidates: NotRequired[list[dict[str, Any]]]
    """`train.blend`: a summary of each candidate over all its parts."""


class SchemaColumn(TypedDict):
    name: str
    type: str
    required: bool
    missing_allowed: bool
    categories: list[str] | None  # of a boolean the words for no and yes of its file
    minimum: float | str | None
    maximum: float | str | None
    judged_ahead: NotRequired[float]  # of the time column, see `value_ranges`


class Comparison(TypedDict):
    """One candidate compared with the best. `difference`: the gain of the best over it, in the metric.

    `kind`: `ensemble`, `member` (it has a weight in the ensemble), `candidate` or `baseline`. `folds`: the
    number of folds it was scored on, of `fold_count`. `is_compared`: false for a candidate that lacks some of
    the folds of the others; it stands after them, without a difference.
    """

    name: str
    kind: str
    weight: float | None
    folds: int
    fold_count: NotRequired[int]
    is_compared: NotRequired[bool]
    score: float | None
    std: float | None
    difference: float | None
    low: float | None
    high: float | None
    """95% interval of the paired difference, over rows that both predicted, or over folds."""
    distinguishable: bool
    beats_baseline: bool | None
    fit_s: float
    limited: NotRequired[str | None]
    is_cut: NotRequired[bool]
    """True if its time ended while its loss still fell: it is not compared as if it were finished."""
    learned_rows: NotRequired[int | None]
    """Training rows that it learned from, of those that folds share out."""


class ComparisonFacts(TypedDict):
    """`evaluate.compare_models`: `leaderboard` best first.

    `chosen` is the best, or an ensemble that the rows do not distinguish from it; `reason` names candidates
    close to the best. `folds_compared`: the folds that all scores of compared candidates are of.
    """

    metric: str
    greater_is_better: bool
    leaderboard: list[Comparison]
    folds_compared: NotRequired[int]
    best: str
    chosen: str
    reason: str
    baseline: str | None
    beats_baseline: bool | None
    left_out: list[dict[str, str]]
    figures: list[dict[str, str]]


class Importance(TypedDict):
    """Loss of the metric when a raw column is shuffled, with its standard error and joint 95% interval.

    `columns`: those shuffled together, `grouped_by` `codes`, `date`, `lags`, `correlated`, `words` or `single`.
    `rows`: those shuffled. `helps`: above as many useless columns by chance; `is_tested`: the rows tell that.
    """

    column: str
    columns: NotRequired[list[str]]
    grouped_by: NotRequired[str]
    mean: float
    std: float
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    rows: NotRequired[int]
    helps: bool
    is_tested: NotRequired[bool]


class ImportanceFacts(TypedDict):
    metric: str
    importances: list[Importance]
    repeats: int
    base_score: float | None
    rows: int
    left_out: NotRequired[int]
    """Number of columns that were not shuffled, because there were too many."""
    figures: list[dict[str, str]]


class Interval(TypedDict):
    value: float | None
    low: float | None
    high: float | None


class Curve(TypedDict):
    """At most 200 points."""

    x: list[float]
    y: list[float]


class ColumnReference(TypedDict):
    """A prediction without a model, by one column, see `evaluation.column_references`."""

    name: str
    column: str


class EvaluationFacts(TypedDict):
    """`evaluate.evaluate_model` (out of fold) and `evaluate.final_evaluation` (hold-out)."""

    on: str
    """`cross-validation` or `hold-out`."""
    model: str | None
    rows: int
    metric: str
    metrics: dict[str, Interval]
    """95% intervals by `interval_method`."""
    interval_method: str
    periods: list[float | None]
    """The metric in each quarter of the rows, in time order; for rows of one time, in folds and in them."""
    baseline: Metrics
    beats_baseline: bool
    baseline_difference: Interval
    threshold: float | None
    confusion: dict[str, Any] | None
    """`{"labels": [...], "counts": [[...]]}`: rows are the truth."""
    per_class: list[dict[str, Any]]
    roc: Curve | None
    precision_recall: Curve | None
    calibration: dict[str, Any] | None
    """`{"bins": [{"predicted", "observed", "count"}], "error": float}`"""
    residuals: dict[str, Any] | None
    """`{"points": [{"truth", "prediction"}], "quantiles": {...}, "histogram": {"edges", "counts"}}`"""
    intervals: CoverageJson | None
    """Share of rows within the model's prediction intervals."""
    recommended: NotRequired[dict[str, Any]]
    """`{"name", "is_model"}` of who makes the forecast, see `reference_comparison.recommend`."""
    methods: NotRequired[dict[str, Any]]
    """Scores of the classical methods where they make the forecast, see `methods_evaluation`."""
    references: NotRequired[list[dict[str, Any]]]
    """Predictions of the hold-out without a model, see `forecasting.reference_comparison`."""
    by_step: NotRequired[list[dict[str, Any]]]
    """Scores of each step of a forecast, see `forecasting.step_scores`."""
    family: NotRequired[dict[str, Any]]
    """From the second look on: `looks`, `level` of the intervals (0 to 1), `forks_after_look`, `siblings`."""
    cv_score: float | None
    agrees_with_cv: bool | None
    notes: list[str]
    """Caveats, as sentences."""
    figures: list[dict[str, str]]


class PredictionFacts(TypedDict):
    """`predict.predict`; its parts are those of `PredictionView`, which describes them."""

    rows: int
    predictions: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    """`{"kind", "column", "text", "rows"}`: extra columns, unseen categories, values out of range or unread."""
    problems: list[dict[str, Any]]
    outside_training: list[dict[str, Any]]
    forecaster: NotRequired[str | None]
    """The classical methods that forecast in place of the model; None for the model."""
