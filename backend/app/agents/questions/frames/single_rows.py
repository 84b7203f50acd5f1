"""Frames of single rows: the place of one among all, two set side by side, rows that occur again."""

from collections.abc import Sequence

from app.agents.questions.figures import default_function
from app.agents.questions.frames.group_figures import values_of
from app.agents.questions.items import QuestionItem
from app.agents.questions.question_reading import (
    Condition,
    NotUnderstood,
    QuestionReading,
    is_measurable,
    make_value,
)
from app.agents.questions.rows_plan import Figure, start_plan
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.plan import Plan

_PLACE = "rank|place|position|ranking"
_RANK_PHRASES = (
    "where|how does|do|did|is|was V=row_item rank|ranked|stand|place? in|by|for|on|at|among? C=measure",
    f"{_PLACE} of V=row_item in|by|for|on|among C=measure",
    f"what|which {_PLACE} does|is|was|has|did V=row_item have|has|take|hold|get|in? in|by|for|on C=measure",
    f"what|which is|was E? V=row_item {_PLACE} in|by|for|on C=measure",
)
"""Phrases that ask for the place of one row in the order of a number."""
_LOW_FIRST, _HIGH_FIRST = "lowest|smallest|least|fewest", "highest|largest|biggest|most|greatest"
MIN_SPELLED_SCORE = 0.9
"""Score of a stored value that the words of a question spell out."""
_WORDS = {"sum": "total"}
MAX_REPEATED_COLUMNS = 20
"""Columns by which rows are compared with each other, so that the answer's sentence stays readable."""


def rank_of_row(reading: QuestionReading) -> Plan | None:
    """`where does Nevada rank in murder`: its place among all rows, of which the first has the most."""
    text = reading.text
    match = text.take_any(_RANK_PHRASES, "figure")
    if match is None:
        return None
    row_item, measure_item = text.required(match, "row_item"), text.required(match, "measure")
    if not any(is_measurable(candidate.column) for candidate in measure_item.columns):
        raise NotUnderstood(f"{measure_item.text!r} is no number by which rows are ranked.")
    measure = reading.value(measure_item, True)
    condition = _named_rows([row_item])
    is_low = text.has(_LOW_FIRST)
    text.take_any((f"N =|is|first? {_LOW_FIRST}|{_HIGH_FIRST}", f"{_LOW_FIRST}|{_HIGH_FIRST} first?"), "figure")
    text.take("rate|rates", "figure")
    if condition is None or condition.column is None or reading.keys:
        return None
    name, column = make_value(condition.column), condition.column.column
    reading.note(f"Rank 1 has the {'lowest' if is_low else 'highest'} `{measure.label}`.")
    if column.unique:
        draft = start_plan(reading, [name, measure])
        label = draft.name_of(measure)
        draft.keep(build.is_present(build.column(label)))
    else:
        function = default_function(reading.column(measure_item, True).column, measure_item.word)
        figure = Figure(function, measure)
        reading.assume(
            f"The {_WORDS.get(function, function)} of `{measure.label}` is taken for each `{name.label}`."
        )
        draft = start_plan(reading, [name, *values_of([figure])])
        draft.present([figure])
        draft.group([name], [figure])
        label = figure.name
    draft.steps.append(build.window("rank", "rank", order=[(label, not is_low)]))
    name_column = draft.name_of(name)
    # The row is picked behind the window: its rank is among all rows.
    draft.keep(build.is_one_of(build.column(name_column), [*condition.values]))
    draft.select([name_column, "rank", label])
    return draft.plan()


def rows_side_by_side(reading: QuestionReading) -> Plan | None:
    """`Texas vs California: compare all figures`: the named rows, with all of their columns."""
    text = reading.text
    match = text.take_any(("compare? V+=row_items", "compare V+=row_items"), "figure")
    row_items = text.list_items(match, "row_items") if match else []
    if len(row_items) < 2 or reading.keys:
        return None
    text.take_any(
        ("compare|show|in all|every? figures|numbers|columns|values|everything|respects", "compare"), "figure"
    )
    condition = _named_rows(row_items)
    is_single = condition is not None and condition.column is not None and condition.column.column.unique
    if condition is None or not is_single or text.has("C"):
        return None
    draft = start_plan(reading)
    draft.keep(condition.expression)
    return draft.plan()


def _named_rows(row_items: Sequence[QuestionItem]) -> Condition | None:
    """The rows with some values of one column, each spelled in one way; None for others."""
    matches = [row_item.values[0] for row_item in row_items]
    first = matches[0]
    if any((m.table, m.column.name) != (first.table, first.column.name) for m in matches):
        return None
    values = tuple(value for match in matches for value in match.values)
    if len(values) != len(row_items) or any(match.score < MIN_SPELLED_SCORE for match in matches):
        return None
    reference = Reference(first.table, first.column)
    return Condition(build.is_one_of(reference.expression, values), reference, values)


def repeated_rows(reading: QuestionReading) -> Plan | None:
    """`are there duplicate rows`: the number of rows that repeat an earlier one in all columns."""
    text = reading.text
    match = text.take_any(
        (
            "duplicate|duplicated|identical rows|row|records|record|entries|lines",
            "duplicates|duplications",
        ),
        "figure",
    )
    names_column = any(item.columns and not item.row_tables for item in text.unused)
    # `duplicate names` or `duplicates per city` asks for repeats of some columns and not of whole rows.
    if match is None or reading.keys or names_column or text.has("V|by|per|each"):
        return None
    is_listed = text.take_any(("which|show|list|find",), "figure") is not None
    draft = start_plan(reading)
    while text.take("E", "figure"):
        pass
    names = [column.name for column in reading.scope.stored_columns(draft.source.base)]
    if len(names) > MAX_REPEATED_COLUMNS:
        return None
    draft.steps.append(build.group(names, [build.aggregation("times", "count")]))
    draft.keep(build.compare(">", build.column("times"), build.literal(1)))
    if is_listed:
        return draft.plan()
    extra = build.arithmetic("-", build.column("times"), build.literal(1))
    totals = [build.aggregation("total", "sum", "repeats"), build.aggregation("rows that occur again", "count")]
    draft.steps += [build.derive("repeats", extra), build.group([], totals)]
    # The sum of no rows is null, where the answer is 0.
    none = build.call("coalesce", build.column("total"), build.literal(0))
    draft.steps += [build.derive("repeated rows", none), build.select(["repeated rows", totals[1].name])]
    reading.note("A row repeats another where all of its columns are equal.")
    return draft.plan()
