"""The things of a ranking: single rows, or groups of rows by a noun."""

from app.agents.questions.composition.sketch import Mention
from app.agents.questions.marking.row_nouns import DAYS, is_daily
from app.agents.questions.matching.column_matching import STEM, name_parts, word_strength
from app.agents.questions.question_reading import QuestionReading, Value
from app.agents.questions.tables.scope import Reference
from app.plans import build

MIN_NAMING_SHARE = 0.6
"""Different values by rows from which a text names the rows, a few of which share a name."""


VAGUE_GROUP_COST, MIN_GROUP_SCORE = 0.3, 0.9
"""Cost of groups by a column that a noun only resembles, which means rows (`slowest swims` of a `swimmer`),
and the score from which it names groups."""


def is_vague(owner: Mention) -> bool:
    column = owner.value.reference.column if owner.value and owner.value.reference else None
    matches = [match for match in owner.item.columns if column is not None and match.column == column]
    return bool(matches) and (matches[0].score < MIN_GROUP_SCORE or matches[0].coverage < 1)


ASKED_GROUP_COST = 0.3
"""Cost of a single row where things of several rows are asked for: `which clerk keeps us`."""


def is_asked_group(mention: Mention, reading: QuestionReading) -> bool:
    """Tell if a noun stands behind `which` and names things of several rows."""
    reference, place = mention.value.reference if mention.value else None, mention.place
    is_asked = place > 0 and reading.text.items[place - 1].text == "which"
    return is_asked and reference is not None and not reference.column.unique


def ranks_rows(reading: QuestionReading, owner: Mention, measure: Mention) -> bool:
    """Tell if the owner's things are rows of the measure's table: by their table, name, or day."""
    if owner.item.word in DAYS and is_daily(reading.scope.table(measure.table)):
        return True
    if owner.is_rows:
        return owner.table == measure.table
    reference = owner.value.reference if owner.value else None
    if reference is None or reference.table != measure.table:
        return False
    rows = reading.scope.table(reference.table).rows
    is_name = reference.column.type == "text" and reference.column.distinct >= MIN_NAMING_SHARE * rows
    return reference.column.unique or is_name


def repeated_name(reading: QuestionReading, owner: Mention, table: str) -> Reference | None:
    """The column of names that repeat: `pizza_name` for the pizzas of a table of sales."""
    for column in reading.scope.stored_columns(table):
        parts = name_parts(column.name)
        is_name = len(parts) == 2 and parts[1] == "name" and column.type == "text" and not column.unique
        if is_name and word_strength(owner.item.word, parts[0]) >= STEM:
            return Reference(table, column)
    return None


def divide(value: Value, divisor: Value) -> Value:
    """The ratio of two values of each row."""
    ratio = build.arithmetic("/", value.expression, divisor.expression)
    return Value(ratio, f"{value.label} per {divisor.label}", "number")
