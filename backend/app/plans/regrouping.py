"""Changes of the groups, figures and columns of a plan (`editing` has those of its rows and order)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from app.plans import build
from app.plans.conditions import is_presence, list_columns
from app.plans.editing import PlanParts, keep_groups, merge_preparations, split_plan
from app.plans.expressions import CompareExpression, Expression
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


_MEETS = "meets the conditions"
"""Name of the derived column that tells the rows which the conditions of a plan keep."""


def show_shares_within(plan: Plan) -> Plan | None:
    """Show of each group, or of all rows, which share meets the conditions. Only counted rows have one."""
    parts = split_plan(plan)
    group = parts.group
    if group is None or not parts.conditions or [f.function for f in group.aggregations] != ["count"]:
        return None
    if parts.ending and not all(isinstance(step, (SortStep, SelectStep)) for step in parts.ending):
        return None
    condition = build.every([step.condition for step in parts.conditions])
    others = [step for step in parts.preparation if step not in parts.conditions]
    number = group.aggregations[0].model_copy(update={"where": condition})
    figures = [number, build.aggregation(SHARE, "share_true", _MEETS)]
    ending = _rename_figures(parts.ending, {}, [SHARE])
    if ending is None:
        return None
    return replace(
        parts,
        preparation=(*others, build.derive(_MEETS, condition)),
        group=group.model_copy(update={"aggregations": figures}),
        ending=ending,
    ).to_plan()


class BoundedGroups(NamedTuple):
    """A plan that keeps some of its groups, and the condition of those."""

    plan: Plan
    condition: Expression


def keep_bounded_groups(plan: Plan, fragment: Plan) -> BoundedGroups | None:
    """Keep the groups that the only bound of a fragment with the same groups keeps, by the same figure."""
    parts, added = split_plan(plan), split_plan(fragment)
    if parts.group is None or added.group is None or added.source != parts.source or added.conditions:
        return None
    bounds = [step.condition for step in added.ending if isinstance(step, FilterStep)]
    bound = bounds[0] if len(bounds) == 1 else None
    if added.group.keys != parts.group.keys or not isinstance(bound, CompareExpression):
        return None
    own = _find_same_figure(parts, added, bound.left)
    if own is None or list_columns(bound.right, {}):
        return None
    condition = bound.model_copy(update={"left": build.column(own.name)})
    bounded_plan = keep_groups(plan, condition)
    return BoundedGroups(bounded_plan, condition) if bounded_plan else None


def _find_same_figure(parts: PlanParts, added: PlanParts, operand: Expression) -> Aggregation | None:
    """The figure of a plan that computes what a column of another one does."""
    names = list_columns(operand, {})
    candidates = [
        figure for figure in (added.group.aggregations if added.group else ()) if {figure.name} == names
    ]
    own = parts.group.aggregations if parts.group else ()
    return next(
        (f for f in own for other in candidates if f.model_copy(update={"name": other.name}) == other), None
    )


def rename_column(plan: Plan, name: str, new: str, columns: Sequence[str]) -> Plan | None:
    """Give a column of the answer another name. `columns`: those of the answer."""
    if name not in columns or new in columns:
        return None
    parts = split_plan(plan)
    figures = list(parts.group.aggregations) if parts.group else []
    ending = _rename_figures(parts.ending, {name: new}, []) if name in parts.measures else None
    if parts.group is None or ending is None:
        renamed = [SelectedColumn(name=c, rename=new if c == name else None) for c in columns]
        return plan.model_copy(update={"steps": [*plan.steps, SelectStep(kind="select", columns=renamed)]})
    figures = [f.model_copy(update={"name": new}) if f.name == name else f for f in figures]
    group = parts.group.model_copy(update={"aggregations": figures})
    return replace(parts, group=group, ending=ending).to_plan()


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
