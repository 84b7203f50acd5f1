"""Lists: rows that meet conditions with what is asked of them, and the different values of a column."""

from collections.abc import Iterator

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.persons import person_column
from app.agents.questions.composition.plans.measure_figures import UNUSED_COST
from app.agents.questions.composition.plans.ordered_groups import is_descending
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.frames.rankings import shown_columns
from app.agents.questions.marking.row_nouns import may_be_rows
from app.agents.questions.question_reading import (
    Condition,
    QuestionReading,
    Value,
    is_measurable,
    make_value,
)
from app.agents.questions.rows_plan import Figure, start_plan
from app.agents.questions.tables.scope import Reference
from app.agents.questions.unexplained_words import is_filler
from app.plans import build
from app.plans.expressions import CompareExpression
from app.plans.plan import Plan

LIST_COST = 0.3
"""Cost of a list of rows against a figure: any words that name columns and values can be read as one."""
MIN_SHOWN_SCORE = 0.78
"""Score of a measure that a list shows because the question names it."""
BARE_LIST_COST = 0.25
"""The same of a list that no verb or interrogative asks for."""
BEGUN_LIST_COST = 0.1
"""The same of a list whose first noun is the things that are listed: `parcels not delivered yet`."""
_LISTING = frozenset({"which", "who", "where", "when", "what"})


def begins_with_rows(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if the first noun of a question names its rows, by their table or by what is unique in them."""
    nouns = [*sketch.rows, *sketch.heads, *sketch.displayed]
    names = [
        m for m in nouns if m.is_rows or (m.value and m.value.reference and m.value.reference.column.unique)
    ]
    if not names:
        return False
    first = min(mention.place for mention in names)
    before = reading.text.items[:first]
    conditions = {condition.place for condition in sketch.conditions}
    return all(
        is_filler(item.text)
        or item.kind in ("sign", "number")
        or bool(item.role)
        or place in conditions | {*sketch.used}
        for place, item in enumerate(before)
    )


def plan_distinct(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`which islands are there`, `list the classes`, `which machines are still down`."""
    is_listed = sketch.shows or _begins_with_name(sketch, reading)
    nouns = [*sketch.heads] or ([*sketch.displayed] if is_listed and len(sketch.displayed) == 1 else [])
    if len(nouns) != 1 or sketch.measures or sketch.counts or sketch.ranking or reading.keys:
        return
    value = nouns[0].value
    reference = value.reference if value else None
    if value is None or reference is None or reference.column.type == "datetime":
        return
    # Unique names are rows, whose list shows more than the name: `list the customers`.
    is_rows = reference.column.unique and bool(sketch.rows)
    if is_rows or len(sketch.rows) > 1 or (sketch.rows and sketch.rows[0].table != reference.table):
        return
    cost = UNUSED_COST * (len(sketch.displayed) if sketch.heads else 0) + LIST_COST / 2
    draft = start_plan(reading, [value])
    draft.group([value], [Figure("count", label="rows")])
    draft.steps.append(build.sort(("rows", True), (draft.name_of(value), False)))
    yield draft.plan(), cost


def _begins_with_name(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if a question begins with things that a column names and restricts them: `hives with an alarm`."""
    if not sketch.displayed or not reading.conditions or sketch.rows or sketch.interrogative:
        return False
    first = sketch.displayed[0]
    is_plural = first.item.word.endswith("s")
    # A condition before the noun belongs to something else, and a noun further on is rarely what is listed.
    return is_plural and all(c.place > first.place for c in sketch.conditions) and first.place in (0, 1)


def _person(sketch: Sketch, reading: QuestionReading) -> Mention | None:
    """The column of the persons that `who` asks for, if the question does not name it."""
    tables = [c.column.table for c in reading.conditions if c.column]
    return person_column(reading, tables[0]) if tables and not sketch.heads else None


def _may_be_persons(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if the rows or what is shown of them may be persons, or names of any kind."""
    if sketch.heads or sketch.displayed or sketch.rows:
        return True
    tables = {c.column.table for c in reading.conditions if c.column}
    return any(may_be_rows("persons", reading.scope.table(name)) for name in tables)


def _fixed_column(condition: Condition) -> Reference | None:
    """The column of which a condition leaves one value, which an answer need not repeat."""
    expression, reference = condition.expression, condition.column
    if reference is None or not isinstance(expression, CompareExpression) or expression.op != "=":
        return None
    return reference if expression.left == reference.expression else None


def _begins_with_value(reading: QuestionReading) -> bool:
    """Tell if a question begins with the plural of a value, which names rows: `crowns that are not ceramic`."""
    items = [item for item in reading.text.items if item.kind == "word" and item.text not in ("the", "all")]
    if len(items) < 2 or not items[0].values or items[1].text not in _RELATIVES:
        return False
    value = str(items[0].values[0].values[0]).casefold()
    # A value in the plural itself, such as `Sales`, says nothing of rows.
    return items[0].word.endswith("s") and not value.endswith("s")


def _begins_with_key(reading: QuestionReading) -> bool:
    """Tell if a question begins with the number or code of a row: `subject 335 on day 6`, `case C117`."""
    items = [item for item in reading.text.items if not is_filler(item.text)][:2]
    if len(items) < 2 or items[1].kind == "sign":
        return False
    keys = {match.key for match in items[0].columns if match.score >= MIN_KEY_SCORE}
    own = [c.column for c in reading.conditions if c.column and c.values and c.expression.kind == "compare"]
    # The value of a measure (`age 30`) is one of many rows, of which rather a figure is asked for.
    return any((own.table, own.column.name) in keys and not is_measurable(own.column) for own in own)


MIN_KEY_SCORE = 0.9
"""Score of the column whose name stands before the number or code of a row."""
_RELATIVES = word_set("that which who whose with without where above below over under")
"""Words behind a noun that restrict it."""


def plan_rows(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`flights to Denver`, `list start, machine and cause of stops above four hours`."""
    order = sketch.ordered_by.value if sketch.ordered_by else None
    is_restricted = bool(reading.conditions or reading.means or order)
    if reading.keys or sketch.counts or sketch.ranking or not is_restricted:
        return
    if (sketch.order and order is None) or (sketch.ordered_by and sketch.ordered_by.functions):
        return  # an order of nothing, or of a figure that single rows do not have
    if any(measure.functions for measure in sketch.measures) or sketch.pending.functions:
        return
    requested = sorted([*sketch.heads, *sketch.displayed, *sketch.measures], key=lambda mention: mention.place)
    is_asked = sketch.shows or sketch.interrogative in _LISTING
    names_row = _begins_with_key(reading)
    if not requested and not sketch.rows and not is_asked and not (names_row or _begins_with_value(reading)):
        return
    unnamed = [m for m in sketch.measures if m.item.columns and m.item.columns[0].score < MIN_SHOWN_SCORE]
    cost = (
        UNUSED_COST * max(len(sketch.rows) - 1, 0)
        + LIST_COST * len(unnamed)
        + (
            BEGUN_LIST_COST
            if begins_with_rows(sketch, reading) or names_row
            else LIST_COST + (0.0 if is_asked else BARE_LIST_COST)
        )
    )
    if sketch.interrogative == "who" and (person := _person(sketch, reading)):
        requested = [person, *requested]
    elif sketch.interrogative == "who" and not _may_be_persons(sketch, reading):
        return  # the tables do not say who
    values: list[Value] = [mention.value for mention in requested if mention.value]
    base = sketch.rows[0].table if sketch.rows else None
    draft = start_plan(reading, [*values, order] if order else values, base)
    names = [draft.name_of(value) for value in values]
    own = shown_columns(reading, draft.source.base, names)
    if order is not None:
        draft.steps.append(build.sort((draft.name_of(order), is_descending(sketch, reading))))
    if requested:
        # `what broke in Hall 3` need not be told the hall again with each row.
        fixed_columns = map(_fixed_column, reading.conditions if sketch.interrogative == "what" else ())
        fixed = [draft.name_of(make_value(column)) for column in fixed_columns if column]
        compared = [draft.name_of(make_value(c.column)) for c in reading.conditions if c.column and c.values]
        row_names = [name for name in own if name not in names][:1]
        compared += [draft.name_of(make_value(bound.reference)) for bound in reading.means]
        behind = [name for name in (*row_names, *compared, *draft.scores) if name not in fixed]
        own = list(dict.fromkeys([*names, *behind]))
    # Nothing particular is asked for: all columns of the table are shown, but not those of joined ones.
    elif not draft.source.joined:
        stored = (column.name for column in reading.scope.stored_columns(draft.source.base))
        own = list(dict.fromkeys([*own, *stored, *draft.scores]))
    draft.select(own)
    yield draft.plan(), cost
