"""Completion of sketches: the query plans that the parts of a sketch can mean together."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from app.agents.questions.composition.plans.bounded_groups import plan_bounded_groups
from app.agents.questions.composition.plans.changes import plan_changes
from app.agents.questions.composition.plans.comparisons import plan_difference, plan_ratios
from app.agents.questions.composition.plans.counting import (
    plan_any,
    plan_bounds,
    plan_counts,
    plan_means_of_totals,
    plan_period_totals,
)
from app.agents.questions.composition.plans.lists import plan_distinct, plan_rows
from app.agents.questions.composition.plans.measure_figures import plan_aggregates, plan_comparison
from app.agents.questions.composition.plans.ordered_groups import plan_ordered_groups
from app.agents.questions.composition.plans.quantifiers import (
    denied_of_things,
    plan_absent,
    plan_all,
    plan_both,
    plan_never,
)
from app.agents.questions.composition.plans.rankings import plan_ranking
from app.agents.questions.composition.plans.series import (
    plan_first_or_last_time,
    plan_largest_change,
    plan_series,
)
from app.agents.questions.composition.plans.shares import plan_shares
from app.agents.questions.composition.plans.two_counts import plan_two_counts
from app.agents.questions.composition.plans.verdicts import add_verdict
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import (
    NotUnderstood,
    QuestionReading,
    Value,
    contradicts_itself,
    make_value,
)
from app.errors import LabError
from app.plans.compiler import compile_plan
from app.plans.describe import describe_expression
from app.plans.plan import Plan

Completion = Callable[[Sketch, QuestionReading], Iterator[tuple[Plan, float]]]


class PlanKind(NamedTuple):
    """A kind of plans. `parts`, `flags`: what it can use of a sketch; it takes none that has more."""

    completion: Completion
    parts: frozenset[str]
    flags: frozenset[str] = frozenset()


def _kind(completion: Completion, parts: str, flags: str = "") -> PlanKind:
    return PlanKind(completion, frozenset(parts.split()), frozenset(flags.split()))


KINDS: tuple[PlanKind, ...] = (
    _kind(
        plan_shares,
        "measures functions keys heads rows order counts",
        "share rate versus frequency distinct compared others margin",
    ),
    _kind(
        plan_series,
        "measures functions keys rows default counts",
        "cumulative change share amount whole_series",
    ),
    _kind(
        plan_largest_change,
        "measures functions keys heads rows default counts ranking",
        "change share amount compared",
    ),
    _kind(
        plan_changes,
        "measures functions keys heads rows shown default counts ranking",
        "difference excess change compared amount share never",
    ),
    _kind(plan_bounds, "bounds heads rows shown counts keys default", "compared share"),
    _kind(plan_bounded_groups, "bounds measures functions keys heads rows shown order limit default"),
    _kind(plan_absent, "absent rows counts heads", "any"),
    _kind(
        plan_ranking,
        "ranking ordinal measures functions keys heads rows shown default order counts limit",
        "frequency distinct share rate",
    ),
    _kind(plan_any, "rows heads", "any"),
    _kind(plan_all, "rows heads shown", "all"),
    _kind(plan_both, "rows heads shown counts", "versus compared"),
    _kind(plan_never, "rows heads shown counts", "any"),
    PlanKind(
        plan_first_or_last_time,
        frozenset({"rows", "heads", "shown"}),
        frozenset({"first moment", "last moment"}),
    ),
    _kind(
        plan_difference,
        "measures functions keys rows default adjective counts",
        "difference excess change versus compared others amount share",
    ),
    _kind(plan_ratios, "measures functions keys rows default counts", "ratio share rate versus"),
    _kind(
        plan_counts,
        "counts measures functions keys heads rows outer order limit default second",
        "versus distinct compared others margin each nested",
    ),
    _kind(plan_two_counts, "counts heads rows second"),
    _kind(plan_means_of_totals, "measures functions keys rows default", "amount each"),
    _kind(plan_period_totals, "measures functions keys rows order", "nested"),
    _kind(
        plan_aggregates,
        "measures functions keys rows default order limit adjective",
        "versus compared amount others margin nested",
    ),
    _kind(plan_comparison, "keys rows default adjective functions", "versus compared others margin"),
    _kind(plan_ordered_groups, "heads shown rows order limit functions default"),
    _kind(plan_distinct, "heads shown rows", "distinct any"),
    _kind(plan_rows, "heads shown rows measures order", "any versus"),
)


_FIGURES: tuple[Completion, ...] = (plan_aggregates, plan_counts, plan_shares)
"""Kinds of plans that give one figure of all rows, or one of each group."""


def parts_of(sketch: Sketch) -> frozenset[str]:
    """Names of the parts that a sketch has."""
    pending = sketch.pending
    present = {
        "measures": sketch.measures,
        "functions": pending.functions,
        "keys": sketch.keys,
        "heads": sketch.heads,
        "rows": sketch.rows,
        "shown": sketch.displayed,
        "bounds": sketch.bounds,
        "absent": sketch.absent,
        "ranking": sketch.ranking or pending.superlative,
        "ordinal": pending.ordinal > 1,
        "counts": sketch.counts,
        "order": sketch.order or sketch.ordered_by,
        "limit": sketch.limit,
        "outer": sketch.outer_function,
        "second": sketch.second_count_place >= 0,
        "default": sketch.default_function,
        "distinct": pending.is_distinct,
        "adjective": pending.adjective,
    }
    return frozenset(name for name, part in present.items() if part)


class Composed(NamedTuple):
    """A plan of a sketch. `cost`: that of its words and of what it assumes."""

    plan: Plan
    cost: float
    reading: QuestionReading
    sketch: Sketch


def complete(sketch: Sketch, base: QuestionReading) -> Iterator[Composed]:
    """Yield the plans of the kinds that can use every part of a sketch."""
    sketch = _add_functions(_limit(sketch))
    pending = sketch.pending
    # A word that still waits for its noun would be dropped: `not` without what it denies turns the answer
    # round.
    if pending.is_negated or pending.is_missing or pending.sign or pending.bound or pending.number is not None:
        return
    if pending.key_word:
        return  # `by` without a group: what it means is not understood
    if _drops_number(sketch, base):
        return
    parts = parts_of(sketch)
    for kind in KINDS:
        if not parts <= kind.parts or not sketch.flags - {"never", "denied rows"} <= kind.flags:
            continue
        if kind.completion in _FIGURES and sketch.ordered_by and not (sketch.keys or base.keys):
            continue  # one figure has no order
        # Only `plan_never` reads `never` as things without any such row; the others would count rows that are
        # denied.
        if denied_of_things(sketch) and kind.completion is not plan_never:
            continue
        yield from _complete_as(kind, sketch, base)


def _drops_number(sketch: Sketch, base: QuestionReading) -> bool:
    """Tell if a number of the question has no part in a sketch: it would restrict the rows."""
    return any(
        item.kind == "number" and not item.role and place not in sketch.used
        for place, item in enumerate(base.text.items)
    )


def _add_functions(sketch: Sketch) -> Sketch:
    """Take aggregates behind the measures for theirs: `reaction by day: mean and SD`."""
    functions = sketch.pending.functions
    if not functions or not sketch.measures or sketch.counts:
        return sketch
    # Where one of several measures has its own aggregate, a further one may be of any of them.
    if len(sketch.measures) > 1 and any(measure.functions for measure in sketch.measures):
        return sketch
    measures = tuple(
        replace(measure, functions=(*dict.fromkeys((*measure.functions, *functions)),))
        for measure in sketch.measures
    )
    return replace(sketch, measures=measures, pending=replace(sketch.pending, functions=()))


def _limit(sketch: Sketch) -> Sketch:
    """Take `top 5` behind what it limits: a ranking, or groups of which a figure is asked for."""
    pending = sketch.pending
    count = pending.superlative_count
    if count is None or pending.superlative not in ("top", "bottom"):
        return sketch
    cleared = replace(pending, superlative="", superlative_count=None)
    if sketch.ranking is not None:
        return replace(sketch, ranking=replace(sketch.ranking, count=count), pending=cleared)
    is_grouped = sketch.keys and (sketch.measures or sketch.rows) and not sketch.heads
    if is_grouped and sketch.place == max(sketch.used, default=0) + 1:
        order = "down" if pending.superlative == "top" else "up"
        return replace(sketch, limit=count, order=sketch.order or order, pending=cleared)
    return sketch


def _complete_as(kind: PlanKind, sketch: Sketch, base: QuestionReading) -> Iterator[Composed]:
    reading = prepare(sketch, base)
    # Of two counts the conditions of one may exclude those of the other.
    is_empty = kind.completion is not plan_two_counts and contradicts_itself(reading)
    if is_empty or _lacks_others(sketch, reading):
        return
    try:
        for own_plan, cost in kind.completion(sketch, reading):
            plan = add_verdict(own_plan, reading, "margin" in sketch.flags)
            if "margin" in sketch.flags and plan is own_plan:
                return  # between which figures the difference is asked for is not told
            compile_plan(plan, reading.scope.schemas)
            yield Composed(plan, sketch.cost + cost, reading, sketch)
            reading = prepare(sketch, base)
    except (NotUnderstood, LabError, ValueError):
        return  # The parts do not fit together: this is no reading.


def _lacks_others(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if rows are set against the others, and nothing tells which rows these are."""
    is_compared = any(condition.is_compared for condition in reading.conditions)
    return "others" in sketch.flags and not reading.keys and not is_compared


def _set_against_rest(sketch: Sketch, reading: QuestionReading) -> None:
    """Make the only condition a group where the question sets its rows against the others."""
    undated = [c for c in reading.conditions if not c.is_date]
    # Of a period and another condition the period is that of both sides; alone it is what is compared.
    conditions = undated or ([*reading.conditions] if "others" in sketch.flags else [])
    is_needed = "others" in sketch.flags or (sketch.pending.adjective and not reading.keys)
    if len(conditions) != 1 or conditions[0].is_compared or not is_needed:
        return
    condition = conditions[0]
    reading.conditions.remove(condition)
    column = condition.column
    if column is not None and condition.values and flag_values(column.column) is not None:
        reading.keys.append(make_value(column))
        return
    # Without backticks and tables: the name of a column of the answer.
    label = describe_expression(condition.expression).replace("`", "")
    for table in reading.scope.tables:
        label = label.replace(f"{table.name}\x1f", "")
    reading.keys.append(Value(condition.expression, label, "boolean", column))


def prepare(sketch: Sketch, base: QuestionReading) -> QuestionReading:
    """A reading with the conditions, groups and notes of a sketch; its items are used."""
    reading = base.copy()
    reading.conditions += sketch.conditions
    reading.keys += [key.value for key in sketch.keys if key.value]
    for note in sketch.notes:
        reading.note(note)
    for assumption in sketch.assumptions:
        reading.assume(assumption)
    conditions = {condition.place for condition in sketch.conditions}
    for place in sketch.used:
        reading.text.use([place], "condition" if place in conditions else "figure")
    if sketch.flags & {"others", "compared"}:
        _set_against_rest(sketch, reading)
    for quality in sketch.qualities:
        reading.quality *= min(1.0, quality + 0.05) ** 0.5
    return replace(reading)
