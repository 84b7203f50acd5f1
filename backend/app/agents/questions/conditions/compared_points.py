"""Two points of a number that orders rows, which a question compares: `from week 1 to week 8`."""

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import Condition, QuestionReading, make_value
from app.agents.questions.tables.scope import Reference
from app.plans import build

_CHANGES = word_set(
    """
    change changes changed difference growth grew grow increase increased decrease decreased more fewer less
    higher lower better worse faster slower rise rose risen fall fell fallen drop dropped decline declined gain
    gained gains lose lost loss improve improved improvement minus progress
    """
)
"""Words of questions that compare the two points, between which all rows would else be meant."""
_PHRASES = (
    "in|on|at? C=column N=second and|than|minus|less|vs|versus in|on|at? C=again N=first",
    "between|from C=column N=first and|to|until C?=again N=second",
    "between|from first and|to last|final|latest C=column",
    "between|from first C=column and|to last|final|latest C?=again",
    "in|on|at? C=column N=first to|and|until C=again N=second",
)
MAX_POINTS = 1_000
"""Different numbers of a column that orders rows."""


def parse_compared_points(reading: QuestionReading) -> None:
    """Parse two numbers of one column as values that are compared."""
    if not any(item.text in _CHANGES for item in reading.text.items):
        return
    for phrase in _PHRASES:
        match = reading.text.find(phrase)
        item = reading.text.item(match, "column") if match else None
        again = reading.text.item(match, "again") if match else None
        if match is None or item is None:
            continue
        column = _ordering(item)
        if column is None or (again is not None and _ordering(again) != column):
            continue
        points = _points(reading, match, column)
        if points is None or points[0] == points[1]:
            continue
        condition = Condition(
            build.is_one_of(column.expression, points),
            column,
            points,
            is_compared=True,
            is_date=True,
            place=match.places[0],
            group=make_value(column),
        )
        reading.text.use(match.places, "condition")
        reading.conditions.append(condition)
        return


def _ordering(item: QuestionItem) -> Reference | None:
    """The column of whole numbers that an item names: of weeks, days or rounds."""
    for match in item.columns[:1]:
        column = match.column
        if column.type == "integer" and column.distinct <= MAX_POINTS and not column.unique:
            return Reference(match.table, column)
    return None


def _points(
    reading: QuestionReading, match: PhraseMatch, reference: Reference
) -> tuple[int | float, int | float] | None:
    first, second = reading.text.item(match, "first"), reading.text.item(match, "second")
    low, high = reference.column.low, reference.column.high
    if first is None or second is None:
        if not (isinstance(low, int | float) and isinstance(high, int | float)):
            return None
        reading.note(f"The first `{reference.column.name}` is {low:g} and the last one {high:g}.")
        return int(low), int(high)
    numbers = (first.number, second.number)
    # A point that no row has is a slip, or another column's.
    if not all(number is not None and reference.column.spans(number) for number in numbers):
        return None
    return int(numbers[0] or 0), int(numbers[1] or 0)
