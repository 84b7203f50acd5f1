"""Two numbers of rows in one question: `how many patients stayed over a week, and how many died`."""

from collections.abc import Iterator, Sequence

from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.question_reading import Condition, QuestionReading, Value
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.describe import describe_expression
from app.plans.plan import Plan


def plan_two_counts(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """Two counts of the same rows, each by the conditions behind its own `how many`."""
    second = sketch.second_count_place
    undated = [condition for condition in reading.conditions if not condition.is_date]
    first, later = (
        [c for c in undated if c.place < second],
        [c for c in reading.conditions if c.place > second],
    )
    nouns = {mention.item.word for mention in (*sketch.rows, *sketch.heads)}
    if second < 0 or not first or not later or len(nouns) > 1 or reading.keys:
        return
    dates = [condition for condition in reading.conditions if condition not in (*undated, *later)]
    # What the second count does not say again is that of both: its time, or what was counted at another time.
    if all(condition.is_date for condition in later):
        first, dates = dates, first
    elif any(condition.is_date for condition in later):
        first, dates = [*dates, *first], []
    if not first:
        return
    reading.conditions = dates
    figures = [_count_of(conditions, reading) for conditions in (first, later)]
    tested = [Value(c.expression, "condition met", "boolean") for c in (*first, *later)]
    draft = start_plan(reading, tested, sketch.rows[0].table if sketch.rows else None)
    draft.group([], figures)
    yield draft.plan(), 0.0


def _count_of(conditions: Sequence[Condition], reading: QuestionReading) -> Figure:
    expression = build.every([condition.expression for condition in conditions])
    label = describe_expression(expression).replace("`", "")
    for table in reading.scope.tables:
        label = label.replace(f"{table.name}\x1f", "")
    return Figure("count", where=expression, label=f"rows where {label}")
