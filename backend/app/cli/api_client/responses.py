"""Responses of the API as values, validated where they are received.

Members that a class does not declare are kept: `to_json` returns the document as the service sent it.
"""

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Json = dict[str, Any]

NOT_UNDERSTOOD = "not_understood"
"""Error code of a goal that no plan was made for."""


class ApiDocument(BaseModel):
    # Built at first use: most commands receive few of these documents, and all of them take 0.07 s.
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def to_json(self) -> Json:
        # Without defaults, which the service did not send.
        return self.model_dump(mode="json", exclude_unset=True)


class NamedColumn(ApiDocument):
    name: str
    type: str


class UploadFormat(ApiDocument):
    notes: tuple[str, ...] = ()


class CellValue(ApiDocument):
    cell: str
    value: Any = None

    def __str__(self) -> str:
        return f"{self.cell} -> {self.value}"


class OtherReading(ApiDocument):
    choice: str
    examples: tuple[CellValue, ...] = ()


class ColumnReading(ApiDocument):
    column: str
    examples: tuple[CellValue, ...] = ()
    alternatives: tuple[OtherReading, ...] = ()


class FileReading(ApiDocument):
    columns: tuple[ColumnReading, ...] = ()


class UploadedDataset(ApiDocument):
    id: str
    rows: int
    columns: tuple[NamedColumn, ...]
    format: UploadFormat = UploadFormat()
    reading: FileReading | None = None


class SavedArtifact(ApiDocument):
    id: str
    kind: str
    name: str


class RankedCandidate(ApiDocument):
    """A row of the leaderboard.

    `collapsed`: tied with the best, and counted instead of listed. `compared`: judged on the same folds as the
    others, else on `folds` of `fold_count`. `weight`: its share of the ensemble.
    `cut`: its time ended before it had learned all that it could.
    """

    name: str
    score: float | None = None
    std: float | None = None
    is_chosen: bool = Field(default=False, alias="chosen")
    is_baseline: bool = Field(default=False, alias="baseline")
    weight: float | None = None
    collapsed: bool = False
    compared: bool = True
    cut: bool = False
    learned_rows: int | None = None
    folds: int = 0
    fold_count: int = 0


class HoldoutScore(ApiDocument):
    metric: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    rows: int


class MetricScore(ApiDocument):
    value: float | None = None


class AnswerTable(ApiDocument):
    """`rows_used` of `total_rows`; null if not counted. `values`: of words, `measures`: of columns, by name."""

    columns: tuple[NamedColumn, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    row_count: int = 0
    readings: tuple[str, ...] = ()
    rows_used: int | None = None
    total_rows: int | None = None
    code: str = ""
    values: dict[str, Json] = {}
    measures: dict[str, str] = {}


class DriverTexts(ApiDocument):
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


class DriverList(ApiDocument):
    """The drivers of the target. `requested`: the goal asked for them; `text`: the first sentence."""

    requested: bool = False
    text: str = ""
    drivers: tuple[DriverTexts, ...] = ()


class ReportSummary(ApiDocument):
    checked_claims: int | None = None


class VerdictText(ApiDocument):
    """If the model may be used, in a sentence. `opening`: the words of it that begin the headline."""

    tone: str = ""
    text: str = ""
    opening: str = ""


class ConclusionFigure(ApiDocument):
    """A figure of the answer, such as the forecast of one period with its interval."""

    name: str = ""
    value: Any = None
    text: str = ""
    low: float | None = None
    high: float | None = None
    period: str | None = None
    unit: str | None = None
    series: str | None = None


class Conclusion(ApiDocument):
    figures: tuple[ConclusionFigure, ...] = ()


class ResultCondition(ApiDocument):
    """A condition of the score, as a sentence with the score if it holds and if not."""

    text: str = ""
    matters: bool = False


class UnreadableCell(ApiDocument):
    """A cell that could not be read, and is taken as a missing value. `row`: its position, from 0."""

    row: int
    column: str
    value: Any = None


class RowsWarning(ApiDocument):
    text: str
    rows: int = 0


class Predictions(ApiDocument):
    """Predictions of a table. `problems`: at most 1,000; `warnings` count all."""

    rows: int
    artifact_id: str
    warnings: tuple[RowsWarning, ...] = ()
    problems: tuple[UnreadableCell, ...] = ()


class SessionResult(ApiDocument):
    """Members that the session did not reach are null or empty."""

    headline: str | None = None
    verdict: VerdictText | None = None
    conclusion: Conclusion | None = None
    metric: str | None = None
    forecaster: str | None = None
    leaderboard: tuple[RankedCandidate, ...] = ()
    holdout: HoldoutScore | None = None
    metrics: dict[str, MetricScore] = {}
    problem: Json | None = None
    unlabelled: Json | None = None
    model: str | None = None
    answer: AnswerTable | None = None
    drivers: DriverList | None = None
    assumptions: tuple[ResultCondition, ...] = ()
    conditions: tuple[str, ...] = ()
    report: ReportSummary | None = None


class SessionError(ApiDocument):
    code: str = ""
    detail: str = ""


class SessionUsage(ApiDocument):
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0


class OpenQuestion(ApiDocument):
    """A question that waits for an answer; `key` names it."""

    key: str
    agent: str = ""
    text: str = ""
    options: tuple[Any, ...] = ()
    default: Any = None
    answer_schema: Json = Field(default_factory=dict)


class ListedSession(ApiDocument):
    """A session in a list. `node`: the last step that ended."""

    id: str
    goal: str = ""
    status: str
    node: str | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error_code: str | None = None

    @property
    def outcome(self) -> str:
        """Its status in words. A goal that was not understood is no failure of the crew."""
        return (NOT_UNDERSTOOD if self.error_code == NOT_UNDERSTOOD else self.status).replace("_", " ")

    @property
    def ended(self) -> bool:
        return self.ended_at is not None

    @property
    def elapsed_s(self) -> float:
        """Seconds from the start to the end, or until now; 0 before the start."""
        if self.started_at is None:
            return 0.0
        return ((self.ended_at or datetime.now(UTC)) - self.started_at).total_seconds()


class SessionDocument(ListedSession):
    seed: int | None = None
    worked_s: float = 0.0
    preferences: Json = Field(default_factory=dict)
    forked_from: str | None = None
    question: OpenQuestion | None = None
    result: SessionResult | None = None
    error: SessionError | None = None
    usage: SessionUsage = SessionUsage()


class StepCall(ApiDocument):
    kind: str
    name: str


class CommittedStep(ApiDocument):
    step: int
    node: str
    calls: tuple[StepCall, ...]


class ClaimMismatch(ApiDocument):
    location: str
    problem: str


class ReportCheck(ApiDocument):
    checked_claims: int
    mismatches: tuple[ClaimMismatch, ...]


class CoinSeries(ApiDocument):
    coin: str
    interval: str
    bars: int
    first: str
    last: str
    shared: bool


class SeriesStatistics(CoinSeries):
    missing_bars: int
    gaps: int
    mean_close: float
    std_close: float | None
    change: float
    lowest: float
    highest: float
    total_volume: float


class ImportedSummary(ApiDocument):
    missing_bars: int


class ImportedCoin(ApiDocument):
    coin: str
    interval: str
    bars: int
    summary: ImportedSummary


class RejectedExample(ApiDocument):
    row: int
    reason: str


class RejectedRows(ApiDocument):
    """`reasons`: number of rows by reason."""

    reasons: dict[str, int]
    examples: tuple[RejectedExample, ...]


class ImportResult(ApiDocument):
    rows: int
    added_bars: int
    changed_bars: int
    series: tuple[ImportedCoin, ...]
    rejected: RejectedRows
    format: UploadFormat
