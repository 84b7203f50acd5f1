"""Choice among composed readings of a question: the cheapest that explains every word and leads the next."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.questions.answered_words import unaccounted_words
from app.agents.questions.composition.completion import Composed, complete
from app.agents.questions.composition.search import find_sketches
from app.agents.questions.conditions.compared_points import parse_compared_points
from app.agents.questions.conditions.date_conditions import parse_date_conditions
from app.agents.questions.conditions.row_comparisons import parse_row_comparisons
from app.agents.questions.conditions.rule_order import parse_bounds, parse_conditions
from app.agents.questions.grouping import parse_alternatives, parse_bins, parse_weekends
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.plan_meaning import PlanMeaning, meaning_of
from app.agents.questions.quantile_groups import parse_quantile_groups
from app.agents.questions.question_reading import NotUnderstood, QuestionReading
from app.agents.questions.range_groups import parse_range_groups, parse_turning_points
from app.agents.questions.tables.scope import QuestionScope
from app.agents.questions.unexplained_words import is_explained
from app.agents.questions.width_groups import parse_open_classes
from app.plans import build
from app.plans.describe import describe_plan
from app.plans.expressions import ColumnExpression, CompareExpression, IsNullExpression, NotExpression
from app.plans.plan import DeriveStep, FilterStep, GroupStep, JoinStep, Plan, SelectStep, Step, WindowStep

MAX_COMPLETED = 24
"""Sketches of one base that are completed: the cheapest ones."""
FIXED_BOUND_COST, FIXED_CONDITION_COST = 0.03, 0.2
"""Cost of conditions that fixed phrases read before the other parts of a question."""
REFUND = 0.6
"""Part of the cost of a left out word that a name of the plan explains."""
JOIN_COST = 0.05
"""Cost of a joined table: what one table holds is not looked for in two."""
SINGLE_ROWS_COST = 0.5
"""Cost of numbers of rows of groups of one row each, which are all 1."""
SETTLED_GROUPS_COST = 1.2
"""Cost of groups by a column that their figure tests: each group has all of it or none of it."""
MIN_LEAD = 0.04
"""Difference of cost by which the best reading leads the next one with another plan."""
MAX_OFFERED, MAX_OFFERED_UNCOVERED = 3, 2
"""Readings that a question offers, and words that one of them may leave unexplained."""
MAX_COST = 0.5
"""Cost from which a reading rests on too many assumptions: of the tuned and training questions whose best
reading costs less, 4 % were answered wrong, of dearer ones 40 %."""
MAX_ASSUMPTIONS = 1
"""Assumptions of an answered reading, such as a column that only resembles its word: of the untuned training
questions with two, every reading but a few was wrong."""
MIN_ASSUMED_LEAD, MAX_ASSUMED_COST = 0.2, 0.45
"""Lead of a reading with an assumption over the next one, and its cost: with less of the one, or more of the
other, about half of the untuned training questions were answered wrong."""
MAX_EASY_COST, MIN_DEAR_LEAD = 0.3, 0.12
"""Cost above which a reading must lead the next one by more: with a smaller lead every second one was wrong."""


class RankedReading(NamedTuple):
    """The best reading, the words that it leaves unexplained, and a rival that costs as little."""

    best: Composed
    uncovered: list[str]
    rival: Composed | None
    nearest: tuple[Composed, ...] = ()
    """The readings that a question offers, best first: those that explain every word, then others."""

    @property
    def is_sure(self) -> bool:
        assumptions = len(self.best.reading.assumptions)
        is_told = assumptions <= MAX_ASSUMPTIONS and self.best.cost <= (
            MAX_ASSUMED_COST if assumptions else MAX_COST
        )
        return not self.uncovered and self.rival is None and is_told

    def opposes(self, plan: Plan) -> bool:
        """Tell if a composed reading explains every word by another plan than this one."""
        plans = [composed.plan for composed in (self.best, self.rival) if composed]
        return not self.uncovered and plan_key(plan) not in map(plan_key, plans)


def compose(base: QuestionReading) -> RankedReading | None:
    """Return the best composed reading of a question, complete or not."""
    readings: dict[str, tuple[Composed, list[str]]] = {}
    for prepared, base_cost in _bases(base):
        for sketch in find_sketches(prepared)[:MAX_COMPLETED]:
            for unbiased in complete(sketch, prepared):
                uncovered = _uncovered(unbiased)
                explained = len(unbiased.sketch.skipped) - len(uncovered)
                columns = plan_columns(unbiased.plan, prepared.scope)
                uncovered += unaccounted_words(unbiased.plan, unbiased.reading, columns)
                joined = len(plan_tables(unbiased.plan)) - 1
                # What a left out word costs is given back where a name of the plan says it too.
                cost = unbiased.cost + base_cost - REFUND * explained + JOIN_COST * joined
                cost += SINGLE_ROWS_COST * _counts_single_rows(unbiased.plan, prepared.scope)
                cost += SETTLED_GROUPS_COST * _groups_by_tested(unbiased.plan)
                composed = unbiased._replace(cost=cost)
                key = plan_key(composed.plan)
                # Several sketches lead to the same plan, whose cost is that of the cheapest way.
                if key not in readings or cost < readings[key][0].cost:
                    readings[key] = composed, uncovered
    if not readings:
        return None
    # A reading of every word comes before a cheaper one that leaves some out.
    ranked = sorted(readings.values(), key=lambda entry: (bool(entry[1]), entry[0].cost))
    best, uncovered = ranked[0]
    lead = MIN_LEAD if best.cost < MAX_EASY_COST else MIN_DEAR_LEAD
    if best.reading.assumptions:
        lead = MIN_ASSUMED_LEAD
    rivals = [
        composed
        for composed, words in ranked[1:]
        if not words
        and composed.cost - best.cost < lead
        and not _is_alike(composed.plan, best.plan, base.scope)
    ]
    # A reading that leaves words out is not taken anyway, with or without a rival.
    rival = rivals[0] if rivals and not uncovered else None
    return RankedReading(best, uncovered, rival, _offered(ranked))


def _offered(ranked: Sequence[tuple[Composed, list[str]]]) -> tuple[Composed, ...]:
    """Return the nearest readings that differ in words, of those that leave few words unexplained."""
    offered: dict[str, Composed] = {}
    meanings: list[PlanMeaning] = []
    for composed, uncovered in sorted(ranked, key=lambda entry: (len(entry[1]), entry[0].cost)):
        if len(uncovered) > MAX_OFFERED_UNCOVERED or len(offered) == MAX_OFFERED:
            break
        meaning = meaning_of(composed.plan)
        if not any(meaning.agrees(other) for other in meanings):
            offered.setdefault(describe_plan(composed.plan), composed)
            meanings.append(meaning)
    return tuple(offered.values())


_LISTING_STEPS = frozenset({"filter", "join", "select", "sort"})
"""Kinds of the steps of plans that list rows."""


def _is_alike(plan: Plan, best: Plan, scope: QuestionScope) -> bool:
    """Tell if a plan gives what the best one does: from more tables, the same rows with other columns, or in
    words that the user could not tell from those of the best one."""
    if _only_joins_more(plan, best) or _lists_same_rows(plan, best) or _is_of_same_row(plan, best, scope):
        return True
    return describe_plan(plan) == describe_plan(best) or meaning_of(plan).agrees(meaning_of(best))


def _lists_same_rows(plan: Plan, best: Plan) -> bool:
    if plan.source != best.source or {s.kind for s in (*plan.steps, *best.steps)} - _LISTING_STEPS:
        return False
    own, others = (
        sorted(step.model_dump_json() for step in steps if step.kind in ("filter", "join"))
        for steps in (plan.steps, best.steps)
    )
    return own == others


def _is_of_same_row(plan: Plan, best: Plan, scope: QuestionScope) -> bool:
    """Tell if both plans show columns of one row, of which a mean and a total are its own value."""
    filters = [[step for step in steps if isinstance(step, FilterStep)] for steps in (plan.steps, best.steps)]
    row = [step for step in filters[0] if step in filters[1] and _names_single_row(step, best, scope)]
    first, second = _shown_columns(plan), _shown_columns(best)
    return bool(row) and bool(first and second) and (first <= second or second <= first)


def _shown_columns(plan: Plan) -> set[str]:
    """The columns that a plan lists, or of which it computes means and totals."""
    groups = [step for step in plan.steps if isinstance(step, GroupStep)]
    if groups:
        figures = [figure for step in groups for figure in step.aggregations]
        is_own = all(figure.function in _OF_ONE_ROW and figure.where is None for figure in figures)
        return {figure.column for figure in figures if figure.column} if is_own else set()
    return {c.name for step in plan.steps if isinstance(step, SelectStep) for c in step.columns}


_OF_ONE_ROW = frozenset({"mean", "sum", "min", "max", "median", "first"})
"""Functions that give the value of a single row as it is."""


def _names_single_row(step: FilterStep, plan: Plan, scope: QuestionScope) -> bool:
    condition = step.condition
    if not isinstance(condition, CompareExpression) or condition.op != "=":
        return False
    columns = [column for column in plan_columns(plan, scope) if column.unique]
    return any(condition.left == build.column(column.name) for column in columns)


def _only_joins_more(plan: Plan, best: Plan) -> bool:
    """Tell if a plan takes the same columns from more tables: `depot_id` of parcels and of their depots."""
    own, others = set(plan_tables(plan)), set(plan_tables(best))
    if not own > others:
        return False
    keys = {key.left for step in plan.steps if isinstance(step, JoinStep) for key in step.on}
    joined = [step for step in plan.steps if not _keeps_known(step, keys)]
    steps = [step.model_dump_json() for step in joined if not isinstance(step, JoinStep)]
    return steps == [step.model_dump_json() for step in best.steps if not isinstance(step, JoinStep)]


def _keeps_known(step: Step, keys: Collection[str]) -> bool:
    """Tell if a step drops rows without a key of a join, which the join itself drops."""
    match step:
        case FilterStep(condition=NotExpression(operand=IsNullExpression(operand=ColumnExpression(name=name)))):
            return name in keys
    return False


def _counts_single_rows(plan: Plan, scope: QuestionScope) -> bool:
    """Tell if a plan counts the rows for each value of a column that tells all rows apart."""
    group = next((step for step in plan.steps if isinstance(step, GroupStep)), None)
    tables = plan_tables(plan)
    windows = [figure for step in plan.steps if isinstance(step, WindowStep) for figure in step.columns]
    within = [name for figure in windows for name in figure.within]
    if len(tables) == 1 and any((c := scope.table(tables[0]).column(name)) and c.unique for name in within):
        return True  # each row is the first of its own
    if group is None or len(tables) != 1 or any(entry.function != "count" for entry in group.aggregations):
        return False
    columns = map(scope.table(tables[0]).column, group.keys)
    return any(column is not None and column.unique for column in columns)


def _groups_by_tested(plan: Plan) -> bool:
    """Tell if a figure tests the column that makes its groups: the share of `infested` by `infested`."""
    group = next((step for step in plan.steps if isinstance(step, GroupStep)), None)
    if group is None or not group.keys:
        return False
    measured = {entry.column for entry in group.aggregations}
    tested = [entry.where for entry in group.aggregations if entry.where is not None]
    tested += [
        column.expression
        for step in plan.steps
        if isinstance(step, DeriveStep)
        for column in step.columns
        if column.name in measured and column.expression.kind == "compare"
    ]
    texts: set[str] = set()
    for expression in tested:
        _collect_texts(expression.model_dump(), texts)
    return bool(texts & {*group.keys})


def plan_key(plan: Plan) -> str:
    """A text that is equal for plans with the same steps, neighbouring filters in any order."""
    parts: list[str] = []
    filters: list[str] = []
    for step in plan.steps:
        text = step.model_dump_json()
        if isinstance(step, FilterStep):
            filters.append(text)
            continue
        parts += [*sorted(filters), text]
        filters = []
    return "\n".join([plan.source.model_dump_json(), *parts, *sorted(filters)])


def _bases(base: QuestionReading) -> Iterator[tuple[QuestionReading, float]]:
    """The question with more and more of its conditions read by fixed phrases, and what that costs."""
    dated = base.copy()
    try:
        for parse_sides in (parse_turning_points, parse_weekends):
            split = base.copy()
            parse_sides(split)
            if split.keys:
                parse_date_conditions(split)
                yield split, FIXED_BOUND_COST
        parse_date_conditions(dated)
        grouped_bases = [*_fixed_groups(dated)]
        # Classes whose width or bounds a question tells have no open width.
        if not grouped_bases:
            parse_open_classes(dated)
        yield dated.copy(), 0.0
        yield from ((grouped, FIXED_BOUND_COST) for grouped in grouped_bases)
        pointed = dated.copy()
        parse_compared_points(pointed)
        if len(pointed.conditions) > len(dated.conditions):
            yield pointed, FIXED_BOUND_COST
        compared = dated.copy()
        parse_row_comparisons(compared)
        if len(compared.conditions) > len(dated.conditions):
            yield compared, FIXED_BOUND_COST
        bounded = dated.copy()
        parse_bounds(bounded)
        # A state on a day takes the place of the day's own condition.
        if bounded.conditions != dated.conditions or bounded.means:
            yield bounded, FIXED_BOUND_COST
        parse_conditions(dated)
        if len(dated.conditions) > len(bounded.conditions):
            yield dated, FIXED_CONDITION_COST
    except NotUnderstood:
        return


def _fixed_groups(dated: QuestionReading) -> Iterator[QuestionReading]:
    """Yield the question with groups that fixed phrases read: classes, ranges, quantiles and alternatives."""
    for parse_groups in (parse_bins, parse_range_groups, parse_quantile_groups, parse_alternatives):
        grouped = dated.copy()
        parse_groups(grouped)
        if len(grouped.keys) > len(dated.keys):
            yield grouped


def _uncovered(composed: Composed) -> list[str]:
    """Content words that a sketch leaves out and that no name in its plan explains."""
    tables = plan_tables(composed.plan)
    columns = plan_columns(composed.plan, composed.reading.scope)
    names = [part for column in columns for part in (*name_parts(column.name), *words(column.name))]
    names += [part for table in tables for part in words(table)]
    items = composed.reading.text.items
    return [
        items[place].text for place in composed.sketch.skipped if not is_explained(items, place, names, tables)
    ]


def plan_columns(plan: Plan, scope: QuestionScope) -> list[Column]:
    """Columns of the tables that a plan names, in order."""
    tables = [scope.table(name) for name in plan_tables(plan)]
    mentioned: set[str] = set()
    _collect_texts(plan.model_dump(), mentioned)
    return [column for table in tables for column in table.columns if column.name in mentioned]


def _collect_texts(part: Any, texts: set[str]) -> None:
    if isinstance(part, str):
        texts.add(part)
    elif isinstance(part, dict | list | tuple):
        for value in part.values() if isinstance(part, dict) else part:
            _collect_texts(value, texts)


def plan_tables(plan: Plan) -> list[str]:
    """Tables that a plan reads, in order."""
    names: list[str] = []

    def visit(part: Any) -> None:
        if isinstance(part, dict):
            if part.get("kind") == "dataset":
                names.append(part["table"])
            for value in part.values():
                visit(value)
        elif isinstance(part, list):
            for value in part:
                visit(value)

    visit(plan.model_dump())
    return list(dict.fromkeys(names))
