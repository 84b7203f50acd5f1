"""The pipeline's state: names and small facts that agents pass on, never data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import Field

from app.errors import InvalidInput
from app.modeling.facts.computation_facts import ColumnFact, ProblemJson, SplitFacts
from app.modeling.facts.conversion import ProblemFact, parse_facts
from app.modeling.facts.fits import FitSummary
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.problem import Problem
from app.tools.context.preferences import TrainingPreferences, read_preferences

Json = dict[str, Any]


class JoinedTableJson(TypedDict):
    """A table that was joined in, with the columns that came from it."""

    table: str
    columns: list[str]


class RetrievedJson(TypedDict):
    frame: str
    target: str
    exclude: list[str]
    note: str
    sql: NotRequired[str]
    """The SELECT that fetched the table; empty or missing if no SELECT did."""
    joined: NotRequired[list[JoinedTableJson]]


class LeftOutJson(TypedDict):
    name: str
    reason: str


class NoteJson(TypedDict):
    agent: str
    text: str


class AnswerJson(TypedDict):
    unanswered: str
    """The reason why a question has no answer; empty if it was answered."""


class LabState(TypedDict, total=False):
    """State of the graph, as JSON. Frames, models and figures are artifacts and appear here by name.

    Nodes read it with `read_state`. `step` counts the steps and belongs to the journal. `worked_s` is the
    session's working time at the last reading of the clock, without waiting for the user and without thinking.
    """

    step: int
    goal: str
    preferences: Json
    plan: Json
    """The planner's `Plan`."""
    retrieved: RetrievedJson
    split: SplitFacts
    problem: ProblemJson
    """The complete problem, including the columns that the analyst excluded."""
    analysis: Json
    """The analyst's `AnalysisSummary`."""
    answer: AnswerJson
    frame: str
    """The frame that candidates are fitted on."""
    columns: list[ColumnFact]
    fits: list[Json]
    """`FitSummary` of all candidates so far."""
    left_out: list[LeftOutJson]
    weights: dict[str, float]
    """Weight of each candidate in the latest ensemble."""
    blended: bool
    """True if the ensemble includes all fits."""
    hands: int
    """Number of fits that the workers compute at a time (fit slots)."""
    rounds: int
    """Number of fitting rounds after the first."""
    verdict: Json
    """The evaluator's `Verdict`."""
    refit_from: str | None
    """The stage that runs again because an answer left out a column that candidates may have read."""
    final: Json
    """`FinalSummary`."""
    report: Json
    worked_s: float
    thought_s: float
    """Seconds that chat models have thought; not part of `worked_s` as far as their allowance goes."""
    notes: list[NoteJson]
    """What chat models noted for the agents after them, and for the user."""
    returns: int
    """How often the evaluation sent the work back to features or training."""
    took: dict[str, float]
    """Seconds that each node took when it ran last."""
    result: Json
    """The public result of a completed session; see `reporting.results.summarise`."""


LabUpdate = LabState


@dataclass(frozen=True, kw_only=True)
class PlanSummary:
    """The parts of the plan that nodes after planning read."""

    question: str | None = None
    model: str | None = None
    families: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    trading: Mapping[str, Any] | None = None
    understanding: Mapping[str, Any] | None = None
    """The reading of the goal as the user was shown it."""
    wants_drivers: bool = False
    time_limit_s: float | None = None


@dataclass(frozen=True)
class RetrievedTable:
    """`sql`: the SELECT that fetched the table; empty if no SELECT did."""

    sql: str = ""


@dataclass(frozen=True, kw_only=True)
class SplitSummary:
    """The parts of `SplitFacts` that nodes after the split read."""

    kind: SplitKind
    reason: str = ""
    train_rows: int
    folds: FoldPlan
    target_summary: Mapping[str, Any] = field(default_factory=dict)
    slowness: float = 1.0
    """Factor by which the split took longer than on an idle machine."""


@dataclass(frozen=True)
class FrameColumn:
    """A column of the training frame, with its type as in `ColumnFact`."""

    name: str
    type: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A candidate that was not fitted, with the reason."""

    name: str
    reason: str

    def to_json(self) -> LeftOutJson:
        return {"name": self.name, "reason": self.reason}


@dataclass(frozen=True)
class AgentNote:
    """A remark of an agent, for those after it and for the user."""

    agent: str
    text: str


@dataclass(frozen=True)
class TradingOutcome:
    """The conclusion of the backtest."""

    edge: Any
    verdict: str


@dataclass(frozen=True)
class AnswerSummary:
    """`unanswered`: the reason why a question has no answer; empty if it was answered."""

    unanswered: str


@dataclass(frozen=True, kw_only=True)
class FinalSummary:
    """The evaluation on the hold-out, as the report's author reads it. `traded`: the backtest's outcome."""

    metric: str
    metrics: Mapping[str, Any]
    beats_baseline: bool | None
    notes: Sequence[str] = ()
    rows: int = 0
    traded: TradingOutcome | None = None


@dataclass(frozen=True, kw_only=True)
class VerdictSummary:
    """The parts of the evaluator's verdict that later nodes read."""

    candidate: Annotated[str, Field(alias="chosen")]
    tune: bool = False
    cautions: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class SessionState:
    """`LabState` as values. Facts of later nodes are None or empty until their node has run."""

    goal: str = ""
    preferences: Mapping[str, Any] = field(default_factory=dict)
    plan: PlanSummary = PlanSummary()
    retrieved: RetrievedTable = RetrievedTable()
    locked_split: Annotated[SplitSummary | None, Field(alias="split")] = None
    complete_problem: Annotated[ProblemFact | None, Field(alias="problem")] = None
    analysis: Mapping[str, Any] = field(default_factory=dict)
    answer: AnswerSummary | None = None
    frame: str = ""
    columns: Sequence[FrameColumn] = ()
    fits: Sequence[FitSummary] = ()
    left_out: Sequence[LeftOut] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    blended: bool = False
    fit_slots: Annotated[int, Field(alias="hands")] = 1
    completed_rounds: Annotated[int, Field(alias="rounds")] = 0
    verdict: VerdictSummary | None = None
    final: FinalSummary | None = None
    worked_s: float = 0.0
    notes: Sequence[AgentNote] = ()
    return_count: Annotated[int, Field(alias="returns")] = 0
    node_seconds: Annotated[Mapping[str, float], Field(alias="took")] = field(default_factory=dict)

    @property
    def training_preferences(self) -> TrainingPreferences:
        return read_preferences(self.preferences).limited_to(self.plan.time_limit_s)

    @property
    def split(self) -> SplitSummary:
        """Raises InvalidInput `not_split` before the hold-out is locked."""
        if self.locked_split is None:
            raise InvalidInput("not_split", "The hold-out is not locked yet.")
        return self.locked_split

    @property
    def problem(self) -> Problem:
        """Raises InvalidInput `not_split` before the hold-out is locked."""
        if self.complete_problem is None:
            raise InvalidInput("not_split", "The problem is complete only after the hold-out is locked.")
        return self.complete_problem

    @property
    def candidate(self) -> str:
        """The evaluator's choice. Raises InvalidInput `nothing_chosen` before its verdict."""
        if self.verdict is None:
            raise InvalidInput("nothing_chosen", "No candidate is chosen yet.")
        return self.verdict.candidate


MAX_NOTES = 40
"""Notes of a session that are kept, the newest: more would crowd out the rest of a brief."""
MAX_NOTE_CHARS = 600
"""Characters of a note: a few sentences."""


def add_notes(state: LabState, agent: str, texts: Sequence[str]) -> list[NoteJson]:
    """Return the session's notes with those of an agent."""
    notes: list[NoteJson] = [{"agent": agent, "text": text[:MAX_NOTE_CHARS]} for text in texts if text.strip()]
    return [*state.get("notes", []), *notes][-MAX_NOTES:]


def read_state(state: LabState) -> SessionState:
    """Read the state of the graph once, at the start of a node."""
    return parse_facts(SessionState, state)
