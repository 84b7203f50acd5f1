"""Parts of a session's result, as results of every version have them."""

from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic_core import PydanticUseDefault

from app.json_types import JsonScalar
from app.modeling.facts.assumptions import AssumptionKind, AssumptionSide
from app.modeling.facts.problem_summary import ProblemSummary


class _ResultPart(BaseModel):
    """A part of a stored result. Members that later or earlier versions write are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", json_schema_serialization_defaults_required=True)


class ScoreBounds(_ResultPart):
    low: float | None = None
    high: float | None = None


class ScoreView(ScoreBounds):
    """A score with its 95% interval; no bounds where too few rows allow none."""

    value: float | None = None


class AssumptionView(_ResultPart):
    """A condition of the score, with cross-validated scores if it holds and if it does not."""

    kind: AssumptionKind
    column: str | None = None
    columns: list[str] = Field(default_factory=list)
    metric: str | None = None
    holds_score: float | None = None
    otherwise_score: float | None = None
    interval: ScoreBounds | None = Field(
        default=None, description="95% interval of the difference; positive where the condition helps."
    )
    holds_interval: ScoreBounds | None = None
    otherwise_interval: ScoreBounds | None = None
    expected: "ScoreView | None" = Field(
        default=None,
        description="Score of the delivered model on the side that the result does not take: the hold-out's,"
        " moved by the step between the two cross-validated scores.",
    )
    matters: bool = Field(default=False, description="The difference exceeds its interval and the score's.")
    side: AssumptionSide = Field(alias="chosen", description="The side that the result takes.")
    why: str = ""
    question: str = ""
    text: str = Field(default="", description="The condition with both scores, as a sentence.")


class CandidateScoreView(_ResultPart):
    """A row of the leaderboard: a candidate with its cross-validated score."""

    name: str
    score: float | None = None
    std: float | None = Field(default=None, description="Over folds.")
    fit_s: float | None = None
    is_chosen: bool = Field(default=False, alias="chosen")
    weight: float | None = Field(default=None, description="Its share of the ensemble.")
    baseline: bool = False
    collapsed: bool = Field(default=False, description="Tied with the best, and only counted in the report.")
    compared: bool = Field(default=True, description="Judged on the same folds as the others.")
    folds: int | None = None
    fold_count: int | None = Field(default=None, description="Folds that were planned.")
    cut: bool = Field(default=False, description="The fit ended before its loss stopped falling.")
    learned_rows: int | None = None


class HoldoutScoreView(ScoreView):
    """The score on the hold-out, which is opened once."""

    metric: str | None = None
    rows: int | None = None
    baseline: float | None = Field(default=None, description="Score of the baseline on the same rows.")
    beats_baseline: bool | None = None
    openings: int | None = Field(default=None, description="How often this session opened it.")
    looks: int | None = Field(
        default=None, description="How often it and the sessions that it is a fork of opened it."
    )


class ImportanceView(_ResultPart):
    """The part of a column in the score, by permutation on rows that were not used in training."""

    column: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    helps: bool | None = Field(default=None, description="Significantly above zero.")
    rows: int | None = Field(default=None, description="Rows among which it was shuffled.")
    is_tested: bool | None = Field(default=None, description="Whether these are enough to say so.")


class DriversView(_ResultPart):
    """The columns that the target goes with, in a sentence (`text`) and one by one."""

    text: str = ""
    requested: bool = Field(default=False, description="The goal asked for the drivers of its target.")
    drivers: list[dict[str, JsonValue]] = Field(default_factory=list)


class FigureView(_ResultPart):
    """A figure of the conclusion. `text`: its value as it is written."""

    name: str = ""
    value: JsonScalar = None
    text: str = ""
    unit: str | None = None
    low: JsonScalar = None
    high: JsonScalar = None
    period: str | None = None
    series: str | None = None


class VerdictView(_ResultPart):
    """The verdict on the use of the model. `opening`: the words of it that begin the headline."""

    tone: str = ""
    text: str = ""
    opening: str = ""


class ConclusionView(_ResultPart):
    """The answer in a sentence, with its figures."""

    text: str = ""
    figures: list[FigureView] = Field(default_factory=list)


class UnlabelledView(_ResultPart):
    """Predictions of the rows without a value of the target, in a file of the session."""

    rows: int = Field(default=0, description="Rows that are predicted.")
    unlabelled: int = Field(default=0, description="All rows without a value of the target.")
    file: str = Field(default="", description="Name of the artifact of kind `table`.")


class ReportFiles(_ResultPart):
    """Ids of the report's artifacts; `artifact` is the page."""

    artifact: str
    markdown: str | None = None
    json_file: str | None = Field(default=None, alias="json")
    model_card: str | None = None
    checked_claims: int = 0


class ResultSummary(BaseModel):
    """Summary of a result. Phases that the session did not reach are null or empty.

    Members that are not listed here depend on what the session did.
    """

    model_config = ConfigDict(frozen=True, extra="allow", json_schema_serialization_defaults_required=True)

    headline: str | None = None
    verdict: VerdictView | None = None
    conclusion: ConclusionView | None = None
    problem: ProblemSummary | None = None
    metric: str | None = None
    forecaster: str | None = Field(default=None, description="What makes the forecast; methods or the model.")
    leaderboard: list[CandidateScoreView] = Field(default_factory=list)
    holdout: HoldoutScoreView | None = None
    metrics: dict[str, ScoreView | None] = Field(default_factory=dict, description="On the hold-out.")
    importances: list[ImportanceView] = Field(default_factory=list)
    drivers: DriversView | None = None
    unlabelled: UnlabelledView | None = None
    model: str | None = Field(default=None, description="Id of the model.")
    model_name: str | None = None
    report: ReportFiles | None = None
    notebook: str | None = Field(default=None, description="Id of the notebook's artifact.")
    assumptions: list[AssumptionView] = Field(
        default_factory=list, description="Conditions of the score, those that change it most first."
    )
    conditions: list[str] = Field(
        default_factory=list, description="Sentences of the assumptions that change the score most."
    )
    cautions: list[str] = Field(default_factory=list)
    file_notes: list[str] = Field(
        default_factory=list, description="Repairs and omissions when the files were read."
    )

    @field_validator("*", mode="wrap")
    @classmethod
    def _leave_out_unreadable(cls, value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
        """Leave out a member that another version stored in a form of its own: the others are of use."""
        try:
            return validate(value)
        except ValidationError:
            raise PydanticUseDefault from None
