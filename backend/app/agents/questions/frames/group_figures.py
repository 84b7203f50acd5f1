"""The common end of plans: figures of all rows or of each group, in order."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.questions.grouping import group_compared
from app.agents.questions.ordering import Order
from app.agents.questions.question_reading import QuestionReading, Value
from app.agents.questions.rows_plan import Figure, PlanDraft, flatten, start_plan
from app.plans import build
from app.plans.plan import AggregateFunction, Plan


def plan_figures(
    reading: QuestionReading, figures: Sequence[Figure], order: Order, base: str | None = None
) -> Plan:
    """Plan the figures of all rows, or of each group if the question names groups."""
    group_compared(reading)
    draft = start_plan(reading, values_of(figures), base)
    draft.present(figures)
    if not reading.keys:
        draft.group([], figures)
        if any(figure.parts for figure in figures):
            draft.select([figure.name for figure in with_parts(figures)])
        return draft.plan()
    finish_groups(draft, reading.keys, figures, order)
    return draft.plan()


def finish_groups(draft: PlanDraft, keys: Sequence[Value], figures: Sequence[Figure], order: Order) -> None:
    """Group, sort by the first figure if an order is asked for, else by the keys, and select what is shown."""
    figures = [*figures, *_bounds_of_classes(keys)]
    orders = draft.group(keys, figures)
    sort_keys = [(name, False) for name in orders]
    # The keys stay behind the figure in the order, so that equal figures have the same order each time.
    if order.descending is not None:
        sort_keys.insert(0, (figures[0].name, order.descending))
    draft.steps.append(build.sort(*dict.fromkeys(sort_keys)))
    names = [draft.name_of(key) for key in keys]
    if orders != names or any(figure.parts for figure in figures):
        draft.select([*names, *(figure.name for figure in with_parts(figures))])
    if order.limit:
        draft.steps.append(build.limit(order.limit))


_BOUNDS: tuple[tuple[AggregateFunction, str], ...] = (("min", "lowest"), ("max", "highest"))


def _bounds_of_classes(keys: Sequence[Value]) -> list[Figure]:
    """The lowest and highest value of each group of equally many rows, by which readers know the groups."""
    values = [
        replace(key, classes=0, label=key.reference.column.name)
        for key in keys
        if key.classes and key.reference
    ]
    return [
        Figure(function, value, label=f"{word} {value.label}") for value in values for function, word in _BOUNDS
    ]


def with_parts(figures: Sequence[Figure]) -> list[Figure]:
    """The figures, and behind them what they are made of."""
    by_name = {figure.name: figure for figure in (*figures, *flatten(figures))}
    return list(by_name.values())


def values_of(figures: Sequence[Figure]) -> list[Value]:
    plain = flatten(figures)
    values = [figure.value for figure in plain if figure.value]
    values += [figure.other for figure in plain if figure.other]
    return values + [Value(figure.where, "", "boolean") for figure in plain if figure.where]
