"""The briefs of the data analyst, and the values of its tools that policy and nodes read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.row_search import RowSearch
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.state import FrameColumn
from app.agents.training_context import ProblemBrief
from app.modeling.facts.assumptions import AssumptionSummary
from app.modeling.facts.computation_facts import RecipeJson
from app.modeling.facts.fits import FitSummary


@dataclass(frozen=True)
class ColumnExploration:
    """A column of the training frame. `relation`: its score as the only feature, see `ColumnProfile`."""

    name: str
    type: str = ""
    missing: float = 0.0
    distinct: int = 0
    relation: float | None = None


@dataclass(frozen=True)
class ExplorationFinding:
    kind: str
    column: str | None
    text: str
    severity: str


@dataclass(frozen=True)
class LeakingColumn:
    """A column that may give the target away; `certain`: it is excluded without a question."""

    column: str
    kind: str
    text: str
    certain: bool
    evidence_of: str = "identity"
    """`identity`, `time` or `score`; a score alone is no reason to leave the column out."""
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AnalysisSummary:
    """The parts of an exploration (`EdaFacts`) that later agents use, with the analyst's notes."""

    columns: Sequence[ColumnExploration] = ()
    findings: Sequence[ExplorationFinding] = ()
    leaks: Sequence[LeakingColumn] = ()
    assumptions: Sequence[AssumptionSummary] = ()
    suggested_cleaning: RecipeJson = field(default_factory=list)
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class AnalysisBrief(ProblemBrief):
    """The brief of the stage `analysis`."""

    stage: str = "analysis"
    frame: str
    columns: Sequence[FrameColumn]


@dataclass(frozen=True, kw_only=True)
class FeaturesBrief(ProblemBrief):
    """The brief of the stage `features`; `columns` are names of columns of the training frame."""

    stage: str = "features"
    columns: Sequence[str]
    analysis: AnalysisSummary = AnalysisSummary()
    fits: Sequence[FitSummary] = ()
    """Results so far, where the evaluation sent the work back; empty at first."""


@dataclass(frozen=True)
class PlannedQuestion:
    """The parts of a plan that its question is answered by. `filter`: of the rows of a search."""

    tables: Sequence[str] = ()
    parsed_question: ParsedQuestion | None = None
    row_search: RowSearch | None = None
    filter: Sequence[RowCondition] = ()


@dataclass(frozen=True, kw_only=True)
class AnswerBrief:
    """The brief of the stage `answer`. `tables`: schemas of the session's tables, see `get_dataset_schema`."""

    goal: str
    question: str
    stage: str = "answer"
    plan: PlannedQuestion
    tables: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class PreparedFrame:
    """The value of a tool that prepares a frame: its name, columns, and a sentence for each operation."""

    frame: str
    effects: Sequence[str]
    columns: Sequence[Any]


@dataclass(frozen=True)
class TableAnswer:
    """The size of an answer from the tables; None where the rows used could not be counted."""

    row_count: int
    rows_used: int | None = None
    total_rows: Annotated[int | None, Field(alias="rows_there")] = None
