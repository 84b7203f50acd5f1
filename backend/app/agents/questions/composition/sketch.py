"""A sketch: the parts of a reading that are recognised up to a place of the question, and what they cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.agents.questions.conditions.number_bounds import BoundSign, NumberBound
from app.agents.questions.items import QuestionItem
from app.agents.questions.question_reading import Condition, Value


@dataclass(frozen=True)
class Mention:
    """A noun of the question: a value of each row, or the rows of a table themselves.

    `functions`: the aggregates that are asked for of it.
    """

    place: int
    item: QuestionItem
    value: Value | None = None
    table: str = ""
    functions: tuple[str, ...] = ()
    divisor: "Mention | None" = None
    """What the measure is divided by: `fares per trip`."""
    joining_cost: float = 0.0
    """Cost of a measure beside others, which is given back where it turns out to be a bound."""

    @property
    def comes_back(self) -> bool:
        """Tell if the noun names things that several rows are about: `customers` of a table of orders."""
        reference = self.value.reference if self.value else None
        return reference is not None and not reference.column.unique and reference.column.type != "datetime"

    @property
    def is_rows(self) -> bool:
        return self.value is None


@dataclass(frozen=True)
class CountBound:
    """A comparison of the number of rows of a group, or of a figure of it, with a number."""

    mention: Mention
    bound: NumberBound


@dataclass(frozen=True)
class Ranking:
    """A superlative: its word, what is measured, how many are asked for and at which place of the order."""

    word: str
    place: int
    measure: Mention | None = None
    count: int | None = None
    ordinal: int = 1


@dataclass(frozen=True)
class Pending:
    """Words that wait for the noun or number that they belong to."""

    functions: tuple[str, ...] = ()
    key_word: str = ""
    is_negated: bool = False
    is_missing: bool = False
    sign: BoundSign | None = None
    adjective: str = ""
    bound: NumberBound | None = None
    """A comparison whose column stands behind it."""
    number: float | None = None
    number_place: int = -1
    is_distinct: bool = False
    superlative: str = ""
    superlative_count: int | None = None
    ordinal: int = 1
    orders: bool = False


NOTHING = Pending()
_PREPOSITIONS = frozenset({"from", "to", "with"})
"""Links that begin a further condition behind `or`."""


@dataclass(frozen=True)
class Sketch:
    """Parts of a reading. `skipped`: places of content words that nothing explains so far."""

    place: int = 0
    cost: float = 0.0
    used: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    pending: Pending = NOTHING
    last: str = ""
    """Kind of the part before: `key`, `measure`, `value`, `rows`, `head`, `displayed`."""
    link: str = ""
    """Sign or word of a list since that part."""
    interrogative: str = ""
    counts: bool = False
    shows: bool = False
    measures: tuple[Mention, ...] = ()
    keys: tuple[Mention, ...] = ()
    heads: tuple[Mention, ...] = ()
    rows: tuple[Mention, ...] = ()
    displayed: tuple[Mention, ...] = ()
    conditions: tuple[Condition, ...] = ()
    bounds: tuple[CountBound, ...] = ()
    ranking: Ranking | None = None
    order: str = ""
    ordered_by: Mention | None = None
    absent: tuple[str, ...] = ()
    """Tables of which no row belongs to the rows that are asked for."""
    flags: frozenset[str] = frozenset()
    never_place: int = -1
    """Place of a verb that is denied."""
    second_count_place: int = -1
    """Place of a second `how many` behind the conditions of the first one."""
    share_place: int = -1
    among_place: int = -1
    default_function: str = ""
    outer_function: str = ""
    limit: int | None = None
    notes: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    """Notes on nouns that only resemble what they are taken for."""
    qualities: tuple[float, ...] = field(default=())
    """Strengths of the matches of nouns, from 0 to 1."""

    def advance(self, places: Sequence[int], cost: float = 0.0, **changes: Any) -> "Sketch":
        """Use some items, the last of which is followed by the next place."""
        return replace(
            self,
            place=max(places) + 1,
            cost=self.cost + cost,
            used=(*self.used, *places),
            link=changes.pop("link", ""),
            **changes,
        )

    def skip(self, cost: float, is_content: bool, link: str = "") -> "Sketch":
        skipped = (*self.skipped, self.place) if is_content else self.skipped
        stays = self.link == "or" and link in _PREPOSITIONS  # `from Lyon or to Paris`
        own = self.link if stays else link or self.link
        return replace(self, place=self.place + 1, cost=self.cost + cost, skipped=skipped, link=own)

    def with_note(self, text: str) -> "Sketch":
        return self if text in self.notes else replace(self, notes=(*self.notes, text))

    def with_assumption(self, text: str) -> "Sketch":
        return self if text in self.assumptions else replace(self, assumptions=(*self.assumptions, text))

    def flagged(self, *flags: str) -> frozenset[str]:
        return self.flags | frozenset(flags)
