"""Changes of the groups, figures and columns of a plan (`editing` has those of its rows and order)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from app.plans import build
from app.plans.conditions import is_presence, list_columns
from app.plans.editing import PlanParts, merge_preparations, split_plan
from app.plans.plan import (
    Aggregation,
    DeriveStep,
    FilterStep,
    JoinStep,
    Plan,
    SelectedColumn,
    SelectStep,
    SortKey,
    SortStep,
    Step,
    TopKStep,
    WindowStep,
)


def regroup(plan: Plan, fragment: Plan, adds: bool = False) -> Plan | None:
    """Group by the keys of a fragment, instead of the former ones or within them."""
    parts, added = split_plan(plan), split_plan(fragment)
    if parts.group is None or added.group is None or added.source != parts.source or added.conditions:
        return None
    new = [key for key in added.group.keys if key not in parts.group.keys]
    removed = [] if adds else [key for key in parts.group.keys if key not in added.group.keys]
    if not new and not removed:
        return None
    keys = [*(key for key in parts.group.keys if key not in removed), *new]
    # Rows without a value of a former key were left out for that key alone, and count again.
    remaining = tuple(step for step in parts.preparation if not _is_presence_of(step, removed))
    preparation = merge_preparations(remaining, added.preparation)
    visible = _shown_keys(added)
    ending = _replace_keys(parts, removed, [key for key in new if key in visible], added)
    if preparation is None or ending is None:
        return None
    hidden = [key for key in new if key not in visible]
    if hidden and not any(isinstance(step, SelectStep) for step in ending):
        shown_columns = [*(key for key in keys if key not in hidden), *parts.measures]
        ending = (*ending, build.select(shown_columns))
    group = parts.group.model_copy(update={"keys": keys})
    return replace(parts, preparation=preparation, group=group, ending=ending).to_plan()


SHARE = "share"
"""Name of the column of shares."""


def show_shares(plan: Plan, columns: Sequence[str]) -> Plan | None:
    """Show for each group the share of its first figure in the sum. `columns`: those of the answer.

    Only numbers and totals have a sum that says something.
    """
    parts = split_plan(plan)
    figure = parts.group.aggregations[0] if parts.group and parts.group.aggregations else None
    if figure is None or parts.group is None or not parts.group.keys or figure.function not in ("count", "sum"):
        return None
    if SHARE in columns or figure.name not in columns:
        return None
    share = build.window(SHARE, "share", figure.name)
    return plan.model_copy(update={"steps": [*plan.steps, share]})


def change_figures(plan: Plan, fragment: Plan, adds: bool = False) -> Plan | None:
    """Compute the figures of a fragment, instead of the former ones or beside them."""
    parts, added = split_plan(plan), split_plan(fragment)
    if parts.group is None or added.group is None or added.source != parts.source:
        return None
    # A fragment with more than figures is a question of its own.
    if added.group.keys or added.ending or added.conditions:
        return None
    former, new = list(parts.group.aggregations), list(added.group.aggregations)
    if adds:
        new = [figure for figure in new if figure.name not in parts.measures]
    if not new or (not adds and new == former):
        return None
    # What ordered or ranked by a former figure does so by the first new one.
    names = {} if adds else dict.fromkeys(parts.measures, new[0].name)
    ending = _rename_figures(parts.ending, names, [] if not adds else [f.name for f in new])
    preparation = merge_preparations(parts.preparation, added.preparation)
    if preparation is None or ending is None:
        return None
    figures: list[Aggregation] = [*former, *new] if adds else new
    group = parts.group.model_copy(update={"aggregations": figures})
    return replace(parts, preparation=preparation, group=group, ending=ending).to_plan()


def show_column(plan: Plan, name: str, fragment: Plan | None) -> Plan | None:
    """Show one more column: of groups it becomes a key, of single rows it joins those that are shown."""
    parts = split_plan(plan)
    if parts.group is not None:
        return regroup(plan, fragment, adds=True) if fragment else None
    selected = parts.find(SelectStep)
    names = [column.rename or column.name for column in selected.columns] if selected else []
    if selected is not None and name in names:
        return None
    preparation = parts.preparation
    if fragment is not None:
        joins = tuple(step for step in split_plan(fragment).preparation if isinstance(step, JoinStep))
        merged = merge_preparations(preparation, joins)
        if merged is None or fragment.source != plan.source:
            return None
        preparation = merged
    if selected is None:
        # Without a selection all columns are shown, so only a join adds one.
        return replace(parts, preparation=preparation).to_plan() if preparation != parts.preparation else None
    wider = selected.model_copy(update={"columns": [*selected.columns, SelectedColumn(name=name)]})
    ending = tuple(wider if step is selected else step for step in parts.ending)
    return replace(parts, preparation=preparation, ending=ending).to_plan()


def _is_presence_of(step: Step, names: Sequence[str]) -> bool:
    return (
        isinstance(step, FilterStep)
        and is_presence(step)
        and list_columns(step.condition, {}) <= frozenset(names)
    )


def _shown_keys(parts: PlanParts) -> list[str]:
    """The keys of a plan that its answer shows: others only order the groups."""
    keys = list(parts.group.keys) if parts.group else []
    selected = parts.find(SelectStep)
    return [key for key in keys if key in {c.name for c in selected.columns}] if selected else keys


def _replace_keys(
    parts: PlanParts, removed: Sequence[str], new: Sequence[str], added: PlanParts
) -> tuple[Step, ...] | None:
    """Put new keys where the ending of a plan names removed ones; None where a figure depends on one."""
    ending = list[Step]()
    for step in parts.ending:
        match step:
            case SortStep():
                ending.append(_sort_groups(parts, step, removed, new, added))
            case SelectStep():
                remaining = [column for column in step.columns if column.name not in removed]
                columns = [*(SelectedColumn(name=name) for name in new), *remaining]
                ending.append(step.model_copy(update={"columns": columns}))
            case WindowStep():
                # A running figure over months has no order without them.
                if any(key.column in removed for figure in step.columns for key in figure.order):
                    return None
                ending.append(step)
            case _:
                ending.append(step)
    return tuple(ending)


def _sort_groups(
    parts: PlanParts, step: SortStep, removed: Sequence[str], new: Sequence[str], added: PlanParts
) -> SortStep:
    remaining = [key for key in step.keys if key.column not in removed]
    is_ranking = bool(remaining) and remaining[0].column in parts.measures
    order = added.find(SortStep)
    own = (
        [key for key in order.keys if key.column in (added.group.keys if added.group else ())] if order else []
    )
    own = own or [SortKey(column=name) for name in new]
    own = [key for key in own if key.column not in {other.column for other in remaining}]
    return step.model_copy(update={"keys": [*remaining, *own] if is_ranking or remaining else own})


def _rename_figures(
    steps: Sequence[Step], names: Mapping[str, str], added: Sequence[str]
) -> tuple[Step, ...] | None:
    ending = list[Step]()
    for step in steps:
        match step:
            case SortStep():
                keys = _unique_keys(
                    key.model_copy(update={"column": names.get(key.column, key.column)}) for key in step.keys
                )
                ending.append(step.model_copy(update={"keys": keys}))
            case SelectStep():
                visible = dict.fromkeys([*(names.get(c.name, c.name) for c in step.columns), *added])
                ending.append(build.select([*visible]))
            case TopKStep():
                ending.append(step.model_copy(update={"by": names.get(step.by, step.by)}))
            case WindowStep():
                ending.append(_rename_window(step, names))
            # A condition on a former figure, as `over 100`, means nothing for another.
            case FilterStep() | DeriveStep() if _mentions(step, names):
                return None
            case _:
                ending.append(step)
    return tuple(ending)


def _rename_window(step: WindowStep, names: Mapping[str, str]) -> WindowStep:
    figures = [
        figure.model_copy(
            update={
                "column": names.get(figure.column or "", figure.column),
                "order": [k.model_copy(update={"column": names.get(k.column, k.column)}) for k in figure.order],
            }
        )
        for figure in step.columns
    ]
    return step.model_copy(update={"columns": figures})


def _mentions(step: FilterStep | DeriveStep, names: Mapping[str, str]) -> bool:
    expressions = [step.condition] if isinstance(step, FilterStep) else [c.expression for c in step.columns]
    return any(list_columns(expression, {}) & names.keys() for expression in expressions)


def _unique_keys(keys: Iterator[SortKey]) -> list[SortKey]:
    # Renamed keys may meet; the first occurrence decides the order, so later ones are dropped.
    return list({key.column: key for key in reversed(list(keys))}.values())[::-1]
