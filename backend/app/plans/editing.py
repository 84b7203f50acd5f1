"""Changes of a plan that keep the rest of it: conditions, groups, figures, order, size and columns.

A plan is changed by a second one, the fragment, of which only the wanted part is taken over with the joins and
derived columns that the part needs. Both read the same source. Every change returns None where a later step
refers to what it would take away.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from app.plans import build
from app.plans.conditions import contradict, is_presence, list_columns
from app.plans.expressions import Expression
from app.plans.plan import (
    DeriveStep,
    FilterStep,
    GroupStep,
    JoinStep,
    LimitStep,
    Plan,
    SelectStep,
    SortKey,
    SortStep,
    Source,
    Step,
    TopKStep,
    WindowStep,
)

Preparation = JoinStep | DeriveStep | FilterStep
StepKind = TypeVar("StepKind", bound=Step)


@dataclass(frozen=True)
class PlanParts:
    """A plan in three parts: joins, derived columns and conditions; the step that groups; those after it."""

    source: Source
    preparation: tuple[Preparation, ...]
    group: GroupStep | None
    ending: tuple[Step, ...]

    def to_plan(self) -> Plan:
        grouping = (self.group,) if self.group else ()
        return Plan(source=self.source, steps=[*self.preparation, *grouping, *self.ending])

    @property
    def conditions(self) -> list[FilterStep]:
        """Conditions of the rows, but those that a column is given."""
        return [step for step in self.preparation if isinstance(step, FilterStep) and not is_presence(step)]

    @property
    def derivations(self) -> dict[str, Any]:
        return {
            column.name: column.expression
            for step in self.preparation
            if isinstance(step, DeriveStep)
            for column in step.columns
        }

    @property
    def measures(self) -> list[str]:
        return [aggregation.name for aggregation in self.group.aggregations] if self.group else []

    def find(self, kind: type[StepKind]) -> StepKind | None:
        """The last step of a kind after the groups."""
        return next((step for step in reversed(self.ending) if isinstance(step, kind)), None)


def split_plan(plan: Plan) -> PlanParts:
    steps = list(plan.steps)
    count = next((i for i, s in enumerate(steps) if not isinstance(s, Preparation)), len(steps))
    rest = steps[count:]
    group = rest[0] if rest and isinstance(rest[0], GroupStep) else None
    ending = rest[1:] if group else rest
    preparation = tuple(step for step in steps[:count] if isinstance(step, Preparation))
    return PlanParts(plan.source, preparation, group, tuple(ending))


def restrict(plan: Plan, fragment: Plan, replaces: bool = False) -> Plan | None:
    """Keep the rows that meet the conditions of a fragment, too.

    A condition on the same columns gives way if both cannot hold, or if `replaces`.
    """
    parts, added = split_plan(plan), split_plan(fragment)
    conditions = added.conditions
    # Conditions on another table would name columns that these rows do not have.
    if not conditions or added.source != parts.source:
        return None
    remaining = tuple(
        step
        for step in parts.preparation
        if not isinstance(step, FilterStep)
        or is_presence(step)
        or not any(_gives_way(step, parts, other, added, replaces) for other in conditions)
    )
    preparation = merge_preparations(remaining, added.preparation)
    return replace(parts, preparation=preparation).to_plan() if preparation else None


def exclude(plan: Plan, fragment: Plan) -> Plan | None:
    """Leave out the rows that meet the conditions of a fragment."""
    parts = split_plan(fragment)
    conditions = [step.condition for step in parts.conditions]
    if not conditions:
        return None
    others = tuple(step for step in parts.preparation if step not in parts.conditions)
    negated = build.keep(build.negate(build.every(conditions)))
    return restrict(plan, replace(parts, preparation=(*others, negated)).to_plan())


def readmit(plan: Plan, fragment: Plan) -> Plan | None:
    """Take back the condition that leaves out the rows of a fragment."""
    parts, added = split_plan(plan), split_plan(fragment)
    conditions = [step.condition for step in added.conditions]
    if not conditions or added.source != parts.source:
        return None
    negated = build.keep(build.negate(build.every(conditions)))
    remaining = tuple(step for step in parts.preparation if step != negated)
    return replace(parts, preparation=remaining).to_plan() if negated in parts.preparation else None


def count_listed(plan: Plan) -> Plan | None:
    """Count the rows that a plan without groups lists; an order says nothing of their number."""
    if split_plan(plan).group is not None:
        return None
    steps = [step for step in plan.steps if not isinstance(step, (SortStep, SelectStep))]
    is_limited = any(isinstance(step, (LimitStep, TopKStep)) for step in steps)
    counting = [*(plan.steps if is_limited else steps), build.group([], [build.aggregation("rows", "count")])]
    return plan.model_copy(update={"steps": counting})


def list_row_figures(plan: Plan) -> list[str]:
    """List the figures that a plan without groups computes for its rows, such as a change, and shows."""
    parts = split_plan(plan)
    selected = parts.find(SelectStep)
    names = {column.rename or column.name for column in selected.columns} if selected else set[str]()
    derived = [column.name for step in parts.ending if isinstance(step, DeriveStep) for column in step.columns]
    return [name for name in derived if name in names] if parts.group is None else []


def unrestrict(plan: Plan) -> Plan | None:
    """Drop all conditions of the rows."""
    parts = split_plan(plan)
    if not parts.conditions:
        return None
    remaining = tuple(step for step in parts.preparation if step not in parts.conditions)
    return replace(parts, preparation=remaining).to_plan()


def keep_groups(plan: Plan, condition: Expression) -> Plan | None:
    """Keep the groups whose figures meet a condition, before the first ones are kept."""
    parts = split_plan(plan)
    if parts.group is None or not parts.group.keys:
        return None
    return replace(parts, ending=(build.keep(condition), *parts.ending)).to_plan()


def hide_column(plan: Plan, name: str, columns: Sequence[str]) -> Plan | None:
    """Leave out a column of the answer. `columns`: all of them."""
    remaining = [column for column in columns if column != name]
    if not remaining or len(remaining) == len(columns):
        return None
    return plan.model_copy(update={"steps": [*plan.steps, build.select(remaining)]})


def sort_by(plan: Plan, name: str, descending: bool) -> Plan:
    """Order an answer by one of its columns; a plan that keeps the first rows keeps the same ones."""
    parts = split_plan(plan)
    ties = [key for key in (parts.group.keys if parts.group else ()) if key != name]
    order = build.sort((name, descending), *((key, False) for key in ties))
    steps = (
        [*plan.steps[:-1]] if isinstance(plan.steps[-1] if plan.steps else None, SortStep) else [*plan.steps]
    )
    # An order before the limit would keep other rows, so this one goes last.
    if any(isinstance(step, (LimitStep, TopKStep)) for step in steps):
        return plan.model_copy(update={"steps": [*steps, order]})
    return rank_by(plan, name, descending)


def rank_by(plan: Plan, name: str, descending: bool) -> Plan:
    """Order rows by a column of the answer before the first ones are kept."""
    parts = split_plan(plan)
    # The keys of the groups break ties, so that equal figures always come in the same order.
    ties = [key for key in (parts.group.keys if parts.group else ()) if key != name]
    order = build.sort((name, descending), *((key, False) for key in ties))
    top = parts.find(TopKStep)
    if top is not None:
        changed = top.model_copy(update={"by": name, "descending": descending})
        return replace(parts, ending=tuple(changed if s is top else s for s in parts.ending)).to_plan()
    remaining = [step for step in parts.ending if not isinstance(step, SortStep)]
    place = next((i for i, s in enumerate(remaining) if isinstance(s, (LimitStep, SelectStep))), len(remaining))
    return replace(parts, ending=(*remaining[:place], order, *remaining[place:])).to_plan()


def reverse(plan: Plan) -> Plan | None:
    """Turn the order round: the last rows come first, and of a ranking the lowest are kept."""
    parts = split_plan(plan)
    is_ranked, ending = False, list[Step]()
    for step in parts.ending:
        if isinstance(step, TopKStep):
            ending.append(step.model_copy(update={"descending": not step.descending}))
        elif isinstance(step, WindowStep) and _is_ranking(step):
            figures = [figure.model_copy(update={"order": _flip(figure.order)}) for figure in step.columns]
            ending.append(step.model_copy(update={"columns": figures}))
        elif isinstance(step, SortStep):
            ending.append(step.model_copy(update={"keys": _flip(step.keys)}))
        else:
            ending.append(step)
            continue
        is_ranked = True
    return replace(parts, ending=tuple(ending)).to_plan() if is_ranked else None


def keep_first(plan: Plan, count: int | None) -> Plan | None:
    """Keep this many rows of the order; None keeps all."""
    parts = split_plan(plan)
    ending = list[Step]()
    is_limited = False
    for place, step in enumerate(parts.ending):
        if isinstance(step, LimitStep):
            ending += [step.model_copy(update={"rows": count})] if count else []
        elif isinstance(step, TopKStep):
            # Without a number the step would have to go, and with it the order that it makes.
            if count is None:
                return None
            ending.append(step.model_copy(update={"k": count}))
        elif isinstance(step, FilterStep) and place and _is_first_rank(step, parts.ending[place - 1]):
            ending += (
                [build.keep(build.compare("<=", build.column("rank"), build.literal(count)))] if count else []
            )
        else:
            ending.append(step)
            continue
        is_limited = True
    if not is_limited and count is None:
        return None
    if not is_limited and count is not None:
        selected = parts.find(SelectStep)
        # Before columns are selected: the order may be by one that is not shown.
        place = ending.index(selected) if selected else len(ending)
        ending.insert(place, build.limit(count))
    return replace(parts, ending=tuple(ending)).to_plan()


def merge_preparations(first: Sequence[Step], second: Sequence[Step]) -> tuple[Preparation, ...] | None:
    """Put the steps of a second preparation behind those of the first; None if a name has two meanings."""
    steps = [step for step in first if isinstance(step, Preparation)]
    derived = {c.name: c.expression for s in steps if isinstance(s, DeriveStep) for c in s.columns}
    joins = [step for step in steps if isinstance(step, JoinStep)]
    rest: list[Preparation] = [step for step in steps if not isinstance(step, JoinStep)]
    for step in second:
        if isinstance(step, JoinStep) and step not in joins:
            joins.append(step)
        elif isinstance(step, FilterStep) and step not in rest:
            rest.append(step)
        elif isinstance(step, DeriveStep):
            if any(derived.get(c.name, c.expression) != c.expression for c in step.columns):
                return None
            new = [column for column in step.columns if column.name not in derived]
            rest += [step.model_copy(update={"columns": new})] if new else []
    # Joins come first: conditions and derived columns may read the columns that they add.
    return (*joins, *rest)


def _gives_way(former: FilterStep, parts: PlanParts, new: FilterStep, added: PlanParts, replaces: bool) -> bool:
    same = list_columns(former.condition, parts.derivations) == list_columns(new.condition, added.derivations)
    return same and (replaces or contradict(former.condition, new.condition))


def _flip(keys: Sequence[SortKey]) -> list[SortKey]:
    """Turn the first key round: the others only order rows that are equal in it."""
    return [
        key.model_copy(update={"descending": not key.descending}) if not n else key
        for n, key in enumerate(keys)
    ]


def _is_ranking(step: WindowStep) -> bool:
    return all(figure.function in ("rank", "row_number", "dense_rank") for figure in step.columns)


def _is_first_rank(step: FilterStep, before: Step) -> bool:
    return (
        isinstance(before, WindowStep) and _is_ranking(before) and list_columns(step.condition, {}) == {"rank"}
    )
