"""Assumptions of a result: conditions under which its score holds, with the score if they do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypedDict

from pydantic import Field


class AssumptionKind(StrEnum):
    """Kinds of conditions that a score may need."""

    COLUMN = "column"
    """The column has its value when the prediction is needed."""
    ENTITIES = "entities"
    """Predicted rows belong to entities that the model learned from."""
    TIME = "time"
    """Predicted rows are of the same times as the training rows."""
    EQUAL_ROWS = "equal_rows"
    """Predicted rows may equal a training row."""
    RECORDED_TARGET = "recorded_target"
    """Predicted rows are like those whose target was recorded."""
    JOINED_TABLE = "joined_table"
    """Predicted rows have a match in the table that was joined in."""


class AssumptionSide(StrEnum):
    """The side of an assumption that a result takes."""

    HOLDS = "holds"
    OTHERWISE = "otherwise"


class BoundsJson(TypedDict):
    low: float | None
    high: float | None


# The key is the word of the results' JSON, which is no name for code.
ChosenSideJson = TypedDict("ChosenSideJson", {"chosen": str})  # noqa: UP013 - a class would bind the word


class AssumptionJson(ChosenSideJson):
    """A condition, with two scores of plain gradient boosting that were cross-validated on training rows.

    `column`: the column that the condition is about, None if there is none; `columns`: it and those that go
    with it. Scores are in units of `metric`, with 95% intervals; `interval` is that of their difference,
    positive where the score is better if the condition holds. `matters`: the difference exceeds its interval
    and that of the score. `chosen`: the side of the result, an `AssumptionSide`. `why`: the evidence and the
    choice, as a sentence. `question`: how a user is asked, with both figures. `options`: the answer of each
    side.
    """

    kind: str
    column: str | None
    columns: list[str]
    metric: str
    holds_score: float | None
    otherwise_score: float | None
    interval: BoundsJson | None
    holds_interval: BoundsJson | None
    otherwise_interval: BoundsJson | None
    rows: int
    matters: bool
    why: str
    question: str
    options: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class AssumptionSummary:
    """The parts of an assumption that agents and nodes decide by."""

    kind: AssumptionKind
    column: str | None = None
    columns: Sequence[str] = ()
    matters: bool = False
    side: Annotated[AssumptionSide, Field(alias="chosen")]
    why: str = ""
    question: str = ""
    options: dict[str, str]

    @property
    def answer(self) -> str:
        """The answer that stands for the present choice."""
        return self.options[self.side]

    def side_of(self, answer: object) -> AssumptionSide:
        """Return the side of an answer; the present one for an answer that is no option."""
        return next((side for side in AssumptionSide if self.options.get(side) == answer), self.side)


def choose_side(assumption: dict[str, Any], side: AssumptionSide) -> dict[str, Any]:
    """Return the JSON of an assumption with another side."""
    return {**assumption, "chosen": side.value}
