"""A reading under construction: the unused items, the conditions and the groups that were recognised so far."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from app.agents.goals.tables.ordinal_scales import ordered_values
from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import ColumnMatch, name_parts, word_strength
from app.agents.questions.matching.value_matching import NO, YES
from app.agents.questions.phrases import PhraseMatch, QuestionItems
from app.agents.questions.tables.scope import QuestionScope, Reference, stored_type
from app.plans import build
from app.plans.expressions import ColumnType, Expression, Scalar

AMBIGUITY = 0.06
"""Difference of scores below which two columns of a phrase are equally likely."""


GENERAL_PARTS = frozenset({"name", "total", "value", "overall", "amount", "all", "score", "count", "number"})
"""Words of a name that say that it is the whole of its kind (`sleep_total` beside `sleep_rem`)."""


class NotUnderstood(Exception):
    """A question that has no reading, with the reason; or an ambiguous word of it, with what it could mean."""

    def __init__(self, reason: str, ambiguous: str = "", meanings: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.ambiguous, self.meanings = ambiguous, tuple(meanings)

    def reword(self, question: str) -> tuple[str, ...]:
        """Return the question once for each meaning of its ambiguous word."""
        at = question.casefold().find(self.ambiguous.casefold()) if self.ambiguous else -1
        if at < 0:
            return ()
        before, after = question[:at], question[at + len(self.ambiguous) :]
        return tuple(f"{before}{meaning}{after}" for meaning in self.meanings)


class ImpossibleRequest(NotUnderstood):
    """A request that no rows can answer: for a day that its month does not have, or a value that no row has."""


@dataclass(frozen=True)
class Value:
    """A value of each row: a column or an expression over columns of the scope."""

    expression: Expression
    label: str
    type: ColumnType
    reference: Reference | None = None
    order: Expression | None = None
    """Sort key where the value itself does not sort (names of weekdays)."""
    classes: int = 0
    """Groups of equally many rows, of which the value is the number of that in which its expression lies."""


@dataclass(frozen=True)
class Condition:
    """A condition on rows. `column`, `values`: of a comparison with values of a column, if it is one."""

    expression: Expression
    column: Reference | None = None
    values: tuple[Scalar, ...] = ()
    is_compared: bool = False
    """True for values that the question sets against each other."""
    is_date: bool = False
    place: int = 0
    """Place of its first item."""
    group: "Value | None" = None
    """The value of which two are compared, where it is not a column's own: years of a date."""


@dataclass(frozen=True)
class StatisticBound:
    """A comparison of a column with a statistic of it over the rows that meet the other conditions.

    The statistic is the mean or, with a `share`, a quantile, times `factor`. With `deviations` it is so many
    standard deviations above the mean (sign `>`) or below it, or `is_either_way` far from it.
    """

    reference: Reference
    sign: build.ComparisonSign
    share: float | None = None
    factor: float = 1.0
    deviations: float | None = None
    is_either_way: bool = False


@dataclass
class QuestionReading:
    """`conditions` and `keys` apply to whatever figure is asked for. `notes`: how words were taken."""

    scope: QuestionScope
    text: QuestionItems
    conditions: list[Condition] = field(default_factory=list)
    keys: list[Value] = field(default_factory=list)
    means: list[StatisticBound] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    """Notes on what the words do not settle: a column that only resembles a word, an aggregate not named."""
    quality: float = 1.0
    """Product of the strengths of all matches."""

    def copy(self) -> "QuestionReading":
        return QuestionReading(
            self.scope,
            self.text.copy(),
            [*self.conditions],
            [*self.keys],
            [*self.means],
            [*self.notes],
            [*self.assumptions],
            self.quality,
        )

    @cached_property
    def main_tables(self) -> tuple[str, ...]:
        """Tables whose rows the question names, else all."""
        return tuple(dict.fromkeys(name for item in self.text.items for name in item.row_tables[:1]))

    def match(
        self, item: QuestionItem, is_number: bool | None = None, tables: Sequence[str] = ()
    ) -> ColumnMatch:
        """The column that an item means. Raises NotUnderstood where several are equally likely."""
        candidates = [m for m in item.columns if is_number is None or is_measurable(m.column) == is_number]
        preferred = [m for m in candidates if m.table in tables]
        candidates = preferred or candidates or [*item.columns]
        best = candidates[0]
        rivals = [m for m in candidates if best.score - m.score < AMBIGUITY]
        # A column whose full name was said has no rivals; of two parts the rest of the sentence decides.
        if len(rivals) > 1 and best.coverage < 1:
            rivals = self._by_context(rivals)
        if len(rivals) > 1 and rivals[0].coverage < 1:
            general = [m for m in rivals if GENERAL_PARTS & {*name_parts(m.column.name)}]
            rivals = general if len(general) == 1 else rivals
        # The same name in two tables is a key or its copy, so that either will do.
        if len({m.column.name for m in rivals}) > 1 and rivals[0].coverage < 1:
            names = ", ".join(f"`{m.column.name}`" for m in rivals)
            meanings = tuple(f"`{rival.column.name}`" for rival in rivals)
            raise NotUnderstood(f"{item.text!r} could be {names}.", item.text, meanings)
        return rivals[0]

    def _by_context(self, rivals: list[ColumnMatch]) -> list[ColumnMatch]:
        """The columns whose other words stand in the question too, if some do."""
        unused = [item.word for item in self.text.items if item.kind == "word"]
        scores = [
            sum(
                max((word_strength(word, part) for word in unused), default=0.0)
                for part in name_parts(m.column.name)
            )
            for m in rivals
        ]
        best = max(scores)
        return [m for m, score in zip(rivals, scores, strict=True) if score > best - 0.3]

    def column(self, item: QuestionItem, is_number: bool | None = None) -> Reference:
        """The column that an item means; what is not its name is noted."""
        tables = [*self.main_tables, *(c.column.table for c in self.conditions if c.column)]
        match = self.match(item, is_number, tables)
        self.quality *= min(1.0, max(match.score, 0.3) + 0.05) ** 0.5
        if match.coverage < 1 or match.score < 0.9:
            self.assume(f"`{match.column.name}` is taken for {item.text!r}.")
        return Reference(match.table, match.column)

    def value(self, item: QuestionItem, is_number: bool | None = None) -> Value:
        return make_value(self.column(item, is_number))

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def assume(self, text: str) -> None:
        self.note(text)
        if text not in self.assumptions:
            self.assumptions.append(text)


def make_value(reference: Reference) -> Value:
    """The value of a column; spellings that differ in case only are one, the most frequent of them."""
    column = reference.column
    if spellings := repeated_spellings(column):
        return Value(_unify_spellings(reference, spellings), column.name, "text", reference)
    order = _scale_order(reference)
    return Value(reference.expression, column.name, stored_type(column), reference, order)


def repeated_spellings(column: Column) -> list[list[str]]:
    """List the texts of a column that stand for one value, the one that is shown first.

    Texts are one if they differ in case only: the most frequent is shown; and if all mean yes, or no, in
    a column of both: the longest is shown.
    """
    if not column.is_stored_as_text and column.type != "text":
        return []
    spellings: dict[str, list[str]] = {}
    for text in dict.fromkeys(map(str, (*column.top, *column.values))):
        spellings.setdefault(_value_name(column, text), []).append(text)
    if column.type == "boolean":
        spellings = {name: sorted(texts, key=len, reverse=True) for name, texts in spellings.items()}
    return [texts for texts in spellings.values() if len(texts) > 1]


def _value_name(column: Column, text: str) -> str:
    name = text.strip().casefold()
    if column.type != "boolean":
        return name
    return YES[0] if name in YES else NO[0] if name in NO else name


def _unify_spellings(reference: Reference, spellings: Sequence[Sequence[str]]) -> Expression:
    column = reference.column
    if len(column.values) < column.distinct or len(spellings) > _MAX_SPELLED_VALUES:
        return build.call("lower", reference.expression)
    branches = [
        (build.is_one_of(reference.expression, others), build.literal(spelling))
        for spelling, *others in spellings
    ]
    return build.case(branches, reference.expression)


_MAX_SPELLED_VALUES = 30
"""Values with several spellings that a plan can name and still be read; others become lower case."""


def _scale_order(reference: Reference) -> Expression | None:
    """The place of each value on its scale, where the order of its letters is another one: `low`, `medium`."""
    steps = ordered_values(reference.column)
    return None if steps is None or steps == sorted(steps) else place_of_step(reference, steps)


def place_of_step(reference: Reference, steps: Sequence[str]) -> Expression:
    """The place of each value among the steps of its scale, from 1; null for other values."""
    places = [
        (build.compare("=", reference.expression, build.literal(step)), build.literal(place))
        for place, step in enumerate(steps, start=1)
    ]
    return build.case(places, None)


def is_measurable(column: Column) -> bool:
    """Tell if a column is a measure: a number that is no identifier."""
    if not column.is_number or column.is_stored_as_text:
        return False
    parts = words(column.name)
    # Sums and means of numbers that only name things say nothing.
    if column.hint == "id" or {"id", "code", "zip", "no", "nr"} & set(parts):
        return False
    if column.numbers_rows and not _SCALES & set(parts):
        return False
    if column.type != "integer" or not parts or parts[-1] not in _NUMBERED_THINGS:
        return True
    # `gross_month` is an amount of each month: its values are no months of the year.
    return isinstance(column.high, int | float) and column.high > _HIGHEST_PERIODS.get(parts[-1], inf)


_SCALES = word_set(
    "age rank ranking position place minute second step distance time percentile length depth height"
)
"""Words of whole numbers that measure rows even where each number occurs once."""
_HIGHEST_PERIODS = {"hour": 24, "weekday": 7, "day": 366, "week": 53, "month": 12, "quarter": 4, "year": 2200}
"""Highest numbers of periods within the next longer ones, and of years."""


_NUMBERED_THINGS = word_set(
    """
    day month year week quarter hour weekday decade season round semester
    subject chick patient household family child person animal tree rat plot site block batch lot sample trial
    diet treatment group class cluster zone region district store shop team room floor station machine customer
    user client employee member account order invoice ticket session run lap episode chapter page line stop
    """
)
"""Nouns whose numbers only name things: a total of them says nothing. Amounts are named in the plural."""


def contradicts_itself(reading: QuestionReading) -> bool:
    """Tell if two conditions want different values of one column, which no row has."""
    values_by_column: dict[str, set[Scalar]] = {}
    for condition in reading.conditions:
        # A denied value leaves all others, so that it contradicts no second one.
        if condition.column is None or not condition.values or condition.expression.kind == "not":
            continue
        if condition.expression.kind == "compare" and condition.expression.op != "=":
            continue
        own = set(condition.values)
        if not values_by_column.setdefault(condition.column.name, own) & own:
            return True
    return _equals_two(reading.conditions) or _excludes_all(reading.conditions)


def _equals_two(conditions: Sequence[Condition]) -> bool:
    """Tell if a part of a time is to be two numbers at once: month 4 and month 5."""
    numbers: dict[str, Scalar] = {}
    for condition in conditions:
        for operand, number in _equalities_of(condition.expression):
            if numbers.setdefault(operand, number) != number:
                return True
    return False


def _equalities_of(expression: Expression) -> Iterator[tuple[str, Scalar]]:
    """Yield each part of a time and the number that it has to be."""
    if expression.kind == "and":
        for operand in expression.operands:
            yield from _equalities_of(operand)
    elif expression.kind == "compare" and expression.op == "=":
        operand, number = expression.left, expression.right
        if operand.kind == "date_part" and number.kind == "literal" and number.value is not None:
            yield operand.model_dump_json(), number.value


def _excludes_all(conditions: Sequence[Condition]) -> bool:
    """Tell if the bounds of a column leave no value between them: below 25 and at least 50."""
    lows: dict[str, list[tuple[float, bool]]] = {}
    highs: dict[str, list[tuple[float, bool]]] = {}
    for condition in conditions:
        for name, sign, number in _bounds_of(condition.expression):
            side = lows if sign in (">", ">=") else highs
            side.setdefault(name, []).append((number, sign in (">", "<")))
    for name in lows.keys() & highs.keys():
        low, high = max(lows[name]), min(highs[name])
        if low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1])):
            return True
    return False


def _bounds_of(expression: Expression) -> Iterator[tuple[str, str, float]]:
    """Yield the column, sign and number of each comparison that all have to hold."""
    if expression.kind == "and":
        for operand in expression.operands:
            yield from _bounds_of(operand)
    elif expression.kind == "compare" and expression.op in ("<", "<=", ">", ">="):
        operand, bound = expression.left, expression.right
        if operand.kind == "column" and bound.kind == "literal" and isinstance(bound.value, int | float):
            yield operand.name, expression.op, bound.value


def add_condition(reading: QuestionReading, match: PhraseMatch, condition: Condition) -> None:
    reading.text.use(match.places, "condition")
    reading.conditions.append(condition)
