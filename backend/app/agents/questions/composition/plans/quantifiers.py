"""Plans of `all` and `never`: rows that all meet a condition, and things that have no row which does."""

from collections.abc import Iterator
from dataclasses import replace

from app.agents.questions.composition.persons import person_column
from app.agents.questions.composition.plans.counting import group_of
from app.agents.questions.composition.plans.measure_figures import UNUSED_COST
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.conditions.date_columns import is_named_date
from app.agents.questions.grouping import name_column
from app.agents.questions.question_reading import Condition, QuestionReading, Value, make_value
from app.agents.questions.rows_plan import Figure, PlanDraft, start_plan
from app.agents.questions.tables.scope import Reference, RowSource, tables_of
from app.plans import build
from app.plans.plan import JoinKey, JoinStep, Plan, PlanSource


def plan_all(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`are all urgent jobs finished`: yes or no by the last condition, with the numbers of rows."""
    if "all" not in sketch.flags or not reading.conditions or sketch.measures or not sketch.rows:
        return
    # What is claimed stands last: of `are all urgent jobs finished` that is `finished`.
    claimed = max(reading.conditions, key=lambda condition: condition.place)
    if claimed.is_date or claimed.place < sketch.rows[0].place:
        return  # `are all urgent jobs ...`: nothing is said of them
    reading.conditions.remove(claimed)
    tested = Value(claimed.expression, "condition met", "boolean")
    draft = start_plan(reading, [tested], sketch.rows[0].table)
    fulfilled = Figure("count", where=claimed.expression, label="rows that meet it")
    draft.group([], [Figure("count", label="rows"), fulfilled])
    same = build.compare("=", build.column("rows that meet it"), build.column("rows"))
    draft.steps.append(build.derive("all", same))
    draft.select(["all", "rows that meet it", "rows"])
    yield draft.plan(), UNUSED_COST * (len(sketch.heads) + len(sketch.displayed))


def denied_of_things(sketch: Sketch) -> bool:
    """Tell if a verb that is denied belongs to things of several rows, none of which may meet the condition."""
    return "never" in sketch.flags and any(subject.comes_back for subject in _subjects(sketch))


def _subjects(sketch: Sketch) -> list[Mention]:
    """Nouns before that of the rows, of which a denied verb may be said."""
    first = min((mention.place for mention in sketch.rows), default=None)
    nouns = [m for m in (*sketch.heads, *sketch.displayed) if m.value]
    return [m for m in nouns if first is None or m.place < first]


def plan_never(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`which customers never returned anything`: the things of which no row meets a condition."""
    nouns = _subjects(sketch)
    if not nouns and sketch.interrogative == "who" and reading.conditions:
        column = reading.conditions[0].column
        person = person_column(reading, column.table) if column else None
        nouns = [person] if person else []
    # Conditions before the verb restrict the rows and are not denied: `customers from Oslo who never paid
    # late`.
    denied = [c for c in reading.conditions if c.place > sketch.never_place]
    if "never" not in sketch.flags or len(nouns) != 1 or not denied or not nouns[0].comes_back:
        return
    key = nouns[0].value
    undated = [condition for condition in denied if not condition.is_date]
    if key is None or sketch.measures or reading.keys or key.reference in [c.column for c in undated]:
        return
    if _has_own_table(key, reading):
        return  # some may have no row at all
    if len(undated) > 1 and "denied rows" not in sketch.flags:
        return  # which of the conditions the verb denies is not told
    reading.conditions = [condition for condition in reading.conditions if condition not in denied]
    # The negation is part of a condition that was read behind a verb; a date is read before.
    is_negated = "denied rows" not in sketch.flags
    expression = build.every(
        [build.negate(c.expression) if is_negated and c in undated else c.expression for c in denied]
    )
    positive = Value(expression, "condition met", "boolean")
    draft = start_plan(reading, [key, positive])
    figure = Figure("count", where=positive.expression, label="rows that meet it")
    # A filter of the rows would keep every thing that has some other row: rows are counted instead.
    draft.group([key], [figure])
    draft.keep(build.compare("=", build.column(figure.name), build.literal(0)))
    name = draft.name_of(key)
    if sketch.counts:
        label = f"number of {nouns[0].item.word}"
        draft.steps.append(build.group([], [build.aggregation(label, "count")]))
    else:
        draft.steps.append(build.sort((name, False)))
        draft.select([name])
    reading.note(f"Each `{key.label}` without any such row is meant.")
    yield draft.plan(), UNUSED_COST * len([m for m in sketch.rows if m.place < nouns[0].place])


def _has_own_table(key: Value, reading: QuestionReading) -> bool:
    """Tell if a value is the key of the rows of another table: `member_id` of visits."""
    own = key.reference
    return own is not None and any(
        link.many == own.table and link.foreign_key == own.column.name for link in reading.scope.links
    )


MAX_BOTH_DISTANCE = 4
"""Words from `both` to the first of its values: `bought both a large rake and ...`."""


def plan_both(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`customers who bought both a rake and a mower`: the things of which each of several values has a row."""
    condition = _joined_by_both(reading)
    subjects = [m for m in (*sketch.heads, *sketch.displayed, *sketch.rows) if m.is_rows or m.comes_back]
    if condition is None or condition.column is None or sketch.measures or sketch.keys or len(subjects) > 1:
        return
    table = condition.column.table
    subject = subjects[0] if subjects else None
    if subject is None and sketch.interrogative == "who":
        subject = person_column(reading, table)
    key = group_of(reading, subject, table) if subject else None
    if subject is None or key is None or key.reference == condition.column:
        return
    # Of rows of the table itself no one has two values of a column.
    if subject.is_rows and subject.table == table:
        return
    value = make_value(condition.column)
    reading.keys = []
    draft = start_plan(reading, [key, value], table)
    figure = Figure("count_distinct", value)
    draft.group([key], [figure])
    draft.keep(build.compare("=", build.column(figure.name), build.literal(len(condition.values))))
    if sketch.counts:
        draft.steps.append(build.group([], [build.aggregation(f"number of {subject.item.word}", "count")]))
    else:
        name = draft.name_of(key)
        draft.steps.append(build.sort((name, False)))
        draft.select([name])
    reading.note(f"Each `{key.label}` with rows of all of these is meant.")
    yield draft.plan(), 0.0


def _joined_by_both(reading: QuestionReading) -> Condition | None:
    """The condition whose several values stand behind `both`."""
    items = reading.text.items
    for condition in reading.conditions:
        before = [item.text for item in items[max(condition.place - MAX_BOTH_DISTANCE, 0) : condition.place]]
        if "both" in before and len(condition.values) > 1 and condition.expression.kind != "not":
            return condition
    return None


OWN_DENIED_COST = 0.25
"""Cost of a condition behind a denial that is said of the things and not of the rows that they lack."""


def plan_absent(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`customers without orders in May`: rows of a table to which no such row of another one belongs."""
    if not sketch.absent or not sketch.rows:
        return
    owner = sketch.rows[0]
    link = reading.scope.link(sketch.absent[0], owner.table)
    if link is None:
        return
    conditions = [_of_absent_rows(condition, sketch, reading, link.many) for condition in reading.conditions]
    absent = [c for c in conditions if tables_of([c.expression]) == [link.many]]
    # What the rows that are lacking have to be restricts nothing else.
    reading.conditions = [condition for condition in conditions if condition not in absent]
    behind = [c for c in reading.conditions if c.place > sketch.never_place >= 0]
    cost = UNUSED_COST * (len(sketch.measures) + len(sketch.rows) - 1) + OWN_DENIED_COST * len(behind)
    draft = start_plan(reading, [], owner.table)
    inner = PlanDraft(RowSource(reading.scope, link.many))
    for condition in absent:
        inner.keep(condition.expression)
    rows = PlanSource(kind="plan", plan=inner.plan()) if absent else inner.plan().source
    keys = [JoinKey(left=link.key, right=link.foreign_key)]
    draft.steps.append(JoinStep(kind="join", source=rows, on=keys, how="anti"))
    if sketch.counts:
        draft.group([], [Figure("count", label=f"number of {owner.item.word}")])
    else:
        name = name_column(reading.scope.table(owner.table).columns, link.key)
        names = [*([name.name] if name else []), link.key]
        draft.select(names)
        draft.steps.append(build.sort((names[0], False)))
    such = " such" if absent else ""
    reading.note(f"Rows of `{owner.table}` that no{such} row of `{link.many}` belongs to are meant.")
    yield draft.plan(), cost


def _of_absent_rows(condition: Condition, sketch: Sketch, reading: QuestionReading, table: str) -> Condition:
    """A time behind a denial as that of the rows that are lacking: `members who did not come in March`."""
    column = condition.column
    is_behind = condition.is_date and condition.place > sketch.never_place >= 0
    if not is_behind or column is None or column.table == table:
        return condition
    times = [c for c in reading.scope.table(table).dates if not c.is_stored_as_text]
    if len(times) != 1 or is_named_date(reading, column):
        return condition
    own = Reference(table, times[0])
    reading.note(f"Times are those of `{own.column.name}`.")
    text = condition.expression.model_dump_json()
    moved = text.replace(column.expression.model_dump_json(), own.expression.model_dump_json())
    return replace(condition, expression=type(condition.expression).model_validate_json(moved), column=own)
