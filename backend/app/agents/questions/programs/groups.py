"""Plans of programs that show figures, of all rows or of groups, and groups by their figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.agents.questions.frames.group_figures import values_of, with_parts
from app.agents.questions.programs.conditions import plan_sign
from app.agents.questions.programs.figures import GroupFigure, add_window
from app.agents.questions.programs.periods import has_leading_years
from app.agents.questions.programs.program import GroupBound, ProgramFigure, ProgramOrder, Term, Test
from app.agents.questions.programs.program_reading import ProgramReading, base_of_counts, check_repetition
from app.agents.questions.question_reading import NotUnderstood, Value
from app.agents.questions.rows_plan import Figure as PlanFigure
from app.agents.questions.rows_plan import PlanDraft
from app.plans import build
from app.plans.plan import AggregateFunction, Plan

_OVER: dict[str, AggregateFunction] = {"std": "stddev"}
_OVER_WORDS = {"std": "standard deviation of", "sum": "total"}
_COUNTS = frozenset({"count", "count_distinct"})


@dataclass
class GroupTable:
    """Groups under construction. `orders`: the columns by which their keys sort."""

    draft: PlanDraft
    names: list[str]
    orders: list[str]
    figures: list[GroupFigure]
    has_hidden: bool = False
    """Columns were added to the groups that are not shown."""

    def sort(self, *columns: tuple[str, bool]) -> None:
        """Sort by some columns. The keys stay behind, so that equal figures have the same order each time."""
        first = {name for name, _ in columns}
        keys = [(name, False) for name in self.orders if name not in first]
        self.draft.steps.append(build.sort(*columns, *keys))

    def select(self) -> None:
        """Select what is shown, where the groups have other columns too."""
        columns = [column for entry in self.figures for column in entry.columns]
        parts = [figure.name for figure in with_parts([entry.figure for entry in self.figures])]
        has_parts = any(entry.figure.parts or entry.window for entry in self.figures)
        if self.has_hidden or has_parts or self.orders != self.names:
            self.draft.select(list(dict.fromkeys([*self.names, *columns, *parts])))


def plan_figures(program: ProgramReading) -> Plan:
    """Plan figures of all rows, or of each group."""
    entries = [program.figures.group_figure(figure) for figure in program.program.figures]
    if not program.keys:
        return _plan_of_all_rows(program, entries)
    order = program.program.order
    if _is_share(entries) and (order is None or order.count is None):
        count = program.figures.figure(ProgramFigure("count"))
        entries.append(GroupFigure(count, count.name, columns=(count.name,)))
    table = _make_groups(program, entries)
    is_change = [entry.window for entry in table.figures] == ["change"]
    if is_change:
        # The first group has none before.
        table.draft.keep(build.is_present(build.column(entries[0].before)))
    by_part = [(entry.figure.name, True) for entry in entries[:1] if entry.window == "part"]
    _order_groups(program, table, by_part)
    return table.draft.plan()


def _plan_of_all_rows(program: ProgramReading, entries: Sequence[GroupFigure]) -> Plan:
    if any(entry.window for entry in entries):
        raise NotUnderstood("It is not told of which groups the figures are compared.")
    figures = [entry.figure for entry in entries]
    draft = _start(program, figures)
    if _is_share(entries):
        tested = entries[0].figure.value
        where = tested.expression if tested else None
        figures.append(PlanFigure("count", where=where, label="rows that meet it"))
    draft.group([], figures)
    if any(figure.parts for figure in figures):
        draft.select([figure.name for figure in with_parts(figures)])
    return draft.plan()


def plan_groups(program: ProgramReading) -> Plan:
    """Plan the groups that are left, with the figures that decide on them."""
    is_bounded = bool(program.program.having or program.program.order)
    count = [] if is_bounded else [program.figures.group_figure(ProgramFigure("count"))]
    table = _make_groups(program, count)
    _order_groups(program, table, [(entry.column, True) for entry in table.figures[:1]])
    return table.draft.plan()


def plan_number_of_groups(program: ProgramReading) -> Plan:
    """Plan the number of the groups that are left."""
    table = _make_groups(program, [])
    number = build.aggregation(f"number of {_key_words(program.keys)}", "count")
    table.draft.steps.append(build.group([], [number]))
    return table.draft.plan()


def plan_figure_over_groups(program: ProgramReading) -> Plan:
    """Plan a figure of the figures of groups: the mean number of orders per customer."""
    function, entry = program.program.over, program.figures.group_figure(program.program.figures[0])
    if function is None:
        raise NotUnderstood("It is not told which figure of the groups is asked for.")
    table = _make_groups(program, [entry])
    word = _OVER_WORDS.get(function, function)
    label = f"{word} {entry.column} per {_key_words(program.keys)}"
    over = build.aggregation(label, _OVER.get(function, function), entry.column)  # type: ignore[arg-type]
    table.draft.steps.append(build.group([], [over]))
    return table.draft.plan()


def _key_words(keys: Sequence[Value]) -> str:
    return " and ".join(key.label for key in keys)


def _is_share(entries: Sequence[GroupFigure]) -> bool:
    """Tell if the share of the rows that meet a condition is all that is asked for."""
    return len(entries) == 1 and entries[0].figure.function == "share_true" and entries[0].window is None


def _start(program: ProgramReading, figures: Sequence[PlanFigure], keys: Sequence[Value] = ()) -> PlanDraft:
    """Begin the plan of some figures, of the rows that have the values which they are of."""
    draft = program.start([*keys, *values_of(figures)], base_of_counts(program, figures))
    check_repetition(draft, figures)
    if any(figure.function == "share_true" for figure in figures):
        _leave_out_unknown(program, draft, figures)
    elif program.program.shows != "over":
        draft.present(figures)
    return draft


def _leave_out_unknown(program: ProgramReading, draft: PlanDraft, figures: Sequence[PlanFigure]) -> None:
    """Leave out rows of which it is not known if they meet the condition of the only share."""
    conditions = [figure.where for figure in program.program.figures if figure.name == "share"]
    tests = [condition for condition in conditions if isinstance(condition, Test)]
    # Of two conditions one may decide where the other is not known.
    if len(figures) > 1 or len(tests) != 1 or tests[0].kind in ("missing", "present"):
        return
    [test] = tests
    others = [test.other] if isinstance(test.other, Term) else []
    for term in (test.term, *others):
        reference = program.terms.reference(term)
        if reference.column.missing > 0:
            draft.keep(build.is_present(reference.expression))


def _make_groups(program: ProgramReading, first: Sequence[GroupFigure]) -> GroupTable:
    """Make the groups that meet the bounds, with their first figures, then those that bound and order them."""
    figures, order, having = program.figures, program.program.order, program.program.having
    entries = [*first, *(figures.group_figure(bound.figure) for bound in having)]
    if order is not None and isinstance(order.by, ProgramFigure):
        entries.append(figures.group_figure(order.by))
    entries = list({entry.column: entry for entry in entries}.values())
    keys, plain = [*program.keys], {entry.figure.name: entry.figure for entry in entries}
    draft = _start(program, list(plain.values()), keys)
    orders = draft.group(keys, list(plain.values()))
    table = GroupTable(draft, [draft.name_of(key) for key in keys], orders, entries)
    for entry in entries:
        if entry.window is not None:
            _add_window(table, keys, entry)
    _bound_groups(program, table, having)
    return table


def _add_window(table: GroupTable, keys: Sequence[Value], entry: GroupFigure) -> None:
    places = [place for place, key in enumerate(keys) if _has_order(key)]
    if entry.window != "part" and not places:
        raise NotUnderstood(f"`{_key_words(keys)}` has no order, along which something changes or adds up.")
    place = places[-1] if places else 0
    within = [name for n, name in enumerate(table.names) if n != place]
    add_window(table.draft, entry, table.orders[place], within)


def _has_order(key: Value) -> bool:
    """Tell if groups follow each other: periods, numbers, and steps of a scale."""
    is_period = has_leading_years(key.reference.column) if key.reference else key.label == "quarter"
    return key.order is not None or key.type in ("integer", "number", "datetime") or is_period


def _bound_groups(program: ProgramReading, table: GroupTable, having: Sequence[GroupBound]) -> None:
    """Keep the groups whose figures meet all bounds. The mean of a figure is that of all groups."""
    conditions = []
    for bound in having:
        column = program.figures.group_figure(bound.figure).column
        limit = build.literal(bound.value) if not isinstance(bound.value, str) else None
        if limit is None:
            mean = program.figures.take_name(f"mean of all {column}")
            table.draft.steps.append(build.window(mean, "mean", column))
            table.has_hidden, limit = True, build.column(mean)
        conditions.append(build.compare(plan_sign(bound.sign), build.column(column), limit))
    for condition in conditions:
        table.draft.keep(condition)


def _order_groups(program: ProgramReading, table: GroupTable, usual: Sequence[tuple[str, bool]]) -> None:
    """Order the groups and keep the first ones; of one that is asked for, all with the same figure."""
    order = program.program.order
    if order is None:
        table.sort(*usual)
        table.select()
        return
    column = _order_column(program, table, order)
    if order.count == 1:
        rank = program.figures.take_name("rank")
        table.draft.steps.append(build.window(rank, "rank", order=[(column, order.descending)]))
        table.draft.keep(build.compare("=", build.column(rank), build.literal(1)))
        table.has_hidden = True
        table.sort()
    else:
        table.sort((column, order.descending))
    table.select()
    if order.count is not None and order.count > 1:
        table.draft.steps.append(build.limit(order.count))


def _order_column(program: ProgramReading, table: GroupTable, order: ProgramOrder) -> str:
    """The column by which groups are ordered: a figure, or a key. Groups without the figure have no place."""
    if isinstance(order.by, ProgramFigure):
        entry = program.figures.group_figure(order.by)
        is_partial = entry.figure.where is not None or bool(entry.figure.parts) or len(table.figures) > 1
        if order.count is not None and entry.figure.function not in _COUNTS and (is_partial or entry.window):
            table.draft.keep(build.is_present(build.column(entry.column)))
        return entry.column
    for key, name in zip(program.program.keys, table.orders, strict=True):
        if isinstance(key, Term) and key.column == order.by.column:
            return name
    raise NotUnderstood(f"`{order.by.column}` has no single value in each group.")
