"""Differences and ratios: of two compared groups, and of two measures."""

from calendar import month_name
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from app.agents.questions.composition.plans.measure_figures import (
    IMPLIED_COST,
    UNUSED_COST,
    counted_figure,
    figures_of,
    fits_types,
    names_function,
    names_rows_only,
    take_order,
)
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.conditions.number_conditions import find_measure
from app.agents.questions.conditions.value_conditions import flag_condition
from app.agents.questions.frames.group_figures import plan_figures
from app.agents.questions.grammar_words import ADJECTIVES
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import Condition, QuestionReading, make_value
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.expressions import CompareExpression
from app.plans.plan import Plan


def plan_difference(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`how many more men than women`, `difference in mean age between first and second class`."""
    if not sketch.flags & {"difference", "excess", "change"}:
        return
    pair = compared_pair(reading) or _pair_with_rest(sketch, reading)
    if pair is None or sketch.ranking or reading.keys or sketch.displayed:
        return
    figure, base, cost = measured_figure(sketch, reading)
    if figure is None:
        return
    is_change = "change" in sketch.flags
    # Only from one time to another something changes: between men and women it differs.
    if (is_change and not pair[0].is_date) or ("share" in sketch.flags and not is_change):
        return
    if is_change:
        pair = later_first(pair, reading)
    yield _plan_pair(reading, pair, figure, base, "-", is_change), cost


def later_first(pair: tuple[Condition, Condition], reading: QuestionReading) -> tuple[Condition, Condition]:
    """Order two periods so that the later one is compared with the earlier one: November with September."""
    first, second = pair[0].values[0], pair[1].values[0]
    if isinstance(first, int | float) and isinstance(second, int | float):
        is_in_order = first < second
    else:
        is_in_order = str(first) < str(second)
    # From November to March a winter passes.
    is_directed = {"from", "to"} <= {item.text for item in reading.text.items}
    return (pair[1], pair[0]) if is_in_order or is_directed else pair


def plan_ratios(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`ratio of men to women`, `revenue per seat`, `protein per 100 calories`."""
    if "ratio" not in sketch.flags or sketch.ranking or sketch.counts:
        return
    values = [measure.value for measure in sketch.measures if measure.value]
    cost = UNUSED_COST * (len(sketch.displayed) + len(sketch.heads))
    if len(values) == 2:
        divided = replace(sketch.measures[0], divisor=sketch.measures[1])
        yield plan_figures(reading, figures_of(sketch, divided), take_order(sketch)), cost
        return
    pair = compared_pair(reading)
    if "ratio" not in sketch.flags or pair is None or reading.keys or len(values) > 1:
        return
    if not values:
        yield _plan_pair(reading, pair, Figure("count", label="rows"), None, "/"), cost
        return
    figure, base, measure_cost = measured_figure(sketch, reading)
    if figure is not None:
        yield _plan_pair(reading, pair, figure, base, "/"), cost + measure_cost


def _pair_with_rest(sketch: Sketch, reading: QuestionReading) -> tuple[Condition, Condition] | None:
    """The rows of the only group that is named, and the others: `how much more do express tickets cost`."""
    conditions = [c for c in reading.conditions if not c.is_date]
    if "others" in sketch.flags and not conditions and len(reading.keys) == 1:
        # The question's only condition was made a group.
        return _sides_of_key(sketch, reading)
    return _sides_of_flag(reading)


def _sides_of_flag(reading: QuestionReading) -> tuple[Condition, Condition] | None:
    """Rows with and without what a yes/no column says, which are the only groups."""
    reference = reading.keys[0].reference if len(reading.keys) == 1 else None
    flags = flag_values(reference.column) if reference else None
    if reference is None or flags is None:
        return None
    # The two sides are figures of one row, and no longer groups.
    reading.keys.clear()
    no, yes = (
        Condition(
            flag_condition(reference, value),
            reference,
            (f"{reference.column.name} {value}",),
        )
        for value in flags
    )
    return yes, no


def _sides_of_key(sketch: Sketch, reading: QuestionReading) -> tuple[Condition, Condition] | None:
    own = [c for c in sketch.conditions if not c.is_date]
    if len(own) != 1 or own[0].column is None:
        return None
    reading.keys.clear()
    first = replace(own[0], values=(describe_condition(own[0]),))
    rest = replace(own[0], expression=build.negate(own[0].expression), values=("the others",))
    return first, rest


_SIGN_WORDS = {"<": "below", "<=": "up to", ">": "above", ">=": "from"}


def describe_condition(condition: Condition) -> str:
    """The values of a condition, or its column."""
    column = condition.column.column.name if condition.column else ""
    operator = condition.expression
    if isinstance(operator, CompareExpression) and operator.op in _SIGN_WORDS:
        column = f"{column} {_SIGN_WORDS[operator.op]}"
    return f"{column} {', '.join(map(str, condition.values))}".strip()


def compared_pair(reading: QuestionReading) -> tuple[Condition, Condition] | None:
    """Conditions on two values of one column, in the order of the question."""
    for condition in reading.conditions:
        if (
            condition.column is None
            or len(condition.values) != 2
            or (condition.is_date and condition.group is None)
            or condition.expression.kind == "not"
        ):
            continue
        operand = condition.group.expression if condition.group else condition.column.expression
        first, second = (
            replace(
                condition,
                expression=build.compare("=", operand, build.literal(value)),
                values=(value,),
            )
            for value in condition.values
        )
        return first, second
    return None


def measured_figure(sketch: Sketch, reading: QuestionReading) -> tuple[Figure | None, str | None, float]:
    """The figure that groups are compared by, the table of its rows, and the cost of what it assumes."""
    if len(sketch.measures) == 1:
        measure = sketch.measures[0]
        figures = figures_of(sketch, measure, is_compared="change" not in sketch.flags)
        cost = 0.0 if names_function(sketch, measure) else IMPLIED_COST
        return (figures[0] if fits_types(figures) and len(figures) == 1 else None), None, cost
    if sketch.measures:
        return None, None, 0.0
    names = ADJECTIVES.get(sketch.pending.adjective, "").split()
    if names:
        reference = find_measure(reading, names, sketch.pending.adjective)
        return (Figure("mean", make_value(reference)) if reference else None), None, IMPLIED_COST
    if sketch.rows and names_rows_only(sketch, reading):
        figure, base = counted_figure(reading, sketch.rows[0])
        return figure, base, 0.0
    # `how many more` counts rows by itself; a bare `difference` does not say of what.
    return (Figure("count", label="rows"), None, 0.1) if "excess" in sketch.flags else (None, None, 0.0)


def name_point(condition: Condition) -> str:
    """The name of one of two compared groups: `male`, `May`, `week 8`."""
    value, unit = condition.values[0], condition.group.label if condition.group else ""
    if unit == "month" and isinstance(value, int) and 1 <= value <= 12:
        return month_name[value]
    return f"{unit} {value}" if unit and unit != "year" else str(value)


def _plan_pair(
    reading: QuestionReading,
    pair: tuple[Condition, Condition],
    figure: Figure,
    base: str | None,
    sign: Literal["-", "/"],
    is_change: bool = False,
) -> Plan:
    """The figure of two groups of rows, and their difference or ratio."""
    labels = [name_point(condition) for condition in pair]
    figures = [
        replace(figure, where=condition.expression, label=f"{figure.name} of {label}")
        for condition, label in zip(pair, labels, strict=True)
    ]
    values = [figure.value] if figure.value else []
    draft = start_plan(reading, [*values], base)
    draft.group([], figures)
    first, second = (build.column(f.name) for f in figures)
    name = "difference" if sign == "-" else "ratio"
    draft.steps.append(build.derive(name, build.arithmetic(sign, first, second)))
    names = [name]
    if is_change:
        # The second figure is the earlier one, from which the change starts.
        draft.steps.append(build.derive("relative change", build.arithmetic("/", build.column(name), second)))
        names.append("relative change")
    draft.select([*names, *(f.name for f in figures)])
    return draft.plan()
