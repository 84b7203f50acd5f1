"""Classes of a number whose width a question leaves open: `by age group`, `per price band`."""

from math import log10

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.questions.items import QuestionItem
from app.agents.questions.question_reading import QuestionReading, Value, is_measurable
from app.agents.questions.tables.scope import Reference
from app.plans import build

_CLASS = "range|ranges|group|groups|band|bands|bracket|brackets|class|classes|bin|bins|bucket|buckets"
_OPEN_CLASSES = (f"by|per|each|every|across C=column {_CLASS}", f"for|in|of each|every C=column {_CLASS}")
AGE_WIDTH = 10
"""Years of the usual groups of ages: those of official statistics are 5 or 10 years wide."""
MIN_VALUES = 13
"""Different values of a number from which classes are wanted: fewer are groups themselves."""
TARGET_CLASSES = 8
"""Classes between the lowest and the highest value, as many as a reader takes in at a glance."""
_ROUND = (1, 2, 5, 10)
"""Digits of widths at whose multiples classes begin with round numbers."""


def parse_open_classes(reading: QuestionReading) -> None:
    """Parse a number with a word for its classes and no width as groups of a round width, which is noted."""
    for phrase in _OPEN_CLASSES:
        match = reading.text.find(phrase)
        item = reading.text.item(match, "column") if match else None
        if match is None or item is None or (column := _meant_number(item)) is None:
            continue
        reference = Reference(item.columns[0].table, column)
        width = width_of(column)
        if width is None:
            continue
        reading.text.use(match.places, "group")
        number = build.literal(width)
        lower = build.arithmetic(
            "*", build.call("floor", build.arithmetic("/", reference.expression, number)), number
        )
        reading.note(f"The groups of `{column.name}` are {width:g} wide: the question names no width.")
        reading.keys.append(Value(lower, f"{column.name} from", "number", reference))


def _meant_number(item: QuestionItem) -> Column | None:
    """The number that a word means by its whole name; a stored value or a text makes no classes."""
    best = item.columns[0] if item.columns and not item.values else None
    if best is None or best.score < MIN_NAMED_SCORE or not is_measurable(best.column):
        return None
    return best.column if best.column.distinct >= MIN_VALUES else None


MIN_NAMED_SCORE = 0.7
"""Score of a number that the word before `group` means."""


def width_of(column: Column) -> int | float | None:
    """The width of classes: ten years of an age, else a round number that makes about `TARGET_CLASSES`."""
    if {"age", "ages"} & {*words(column.name)}:
        return AGE_WIDTH
    low, high = column.low, column.high
    if not isinstance(low, int | float) or not isinstance(high, int | float) or high <= low:
        return None
    raw = (high - low) / TARGET_CLASSES
    power = 10.0 ** int(log10(raw) // 1)
    width = next(digit * power for digit in _ROUND if digit * power >= raw)
    return int(width) if width == int(width) else width
