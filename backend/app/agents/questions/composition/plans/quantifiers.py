"""Plans of `all` and `never`: rows that all meet a condition, and things of which no row does."""

from collections.abc import Iterator

from app.agents.questions.composition.persons import person_column
from app.agents.questions.composition.plans.measure_figures import UNUSED_COST
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.question_reading import QuestionReading, Value
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.plan import Plan


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
    denied = [c for c in reading.conditions if c.place > sketch.never_place >= 0]
    if "never" not in sketch.flags or len(nouns) != 1 or len(denied) != 1 or not nouns[0].comes_back:
        return
    key, condition = nouns[0].value, denied[0]
    if key is None or sketch.measures or reading.keys or key.reference == condition.column:
        return
    reading.conditions.remove(condition)
    # The negation is part of a condition that was read behind it; a date is read before.
    expression = condition.expression if condition.is_date else build.negate(condition.expression)
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
