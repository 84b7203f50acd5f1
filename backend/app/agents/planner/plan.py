"""Construction of a plan from goal, answers and table profiles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from app.agents.goals.columns import named_columns
from app.agents.goals.columns.ahead_names import lies_ahead
from app.agents.goals.columns.target import ScoredColumn
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.conditions.unit_bounds import find_unit_bounds
from app.agents.goals.goal import Goal
from app.agents.goals.horizon import count_rows_ahead
from app.agents.goals.phrases.thresholds import Threshold
from app.agents.goals.series.select_sql import Cut
from app.agents.goals.tables.profiles import Column, TableProfile, mentioned_tables
from app.agents.goals.tables.quantities import fits_unit
from app.agents.goals.tables.units import convert
from app.agents.goals.words.concepts import share_concept
from app.agents.goals.words.name_parts import names_part, names_whole, parts_of_name
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.vocabulary import FUNCTION_WORDS, word_set
from app.agents.planner.model_inputs import choose_inputs
from app.agents.planner.output import MistakeSide, Plan
from app.agents.planner.plan_conditions import find_row_conditions
from app.agents.planner.preferences import PlanPreferences
from app.agents.planner.step_descriptions import describe_steps
from app.agents.planner.stored_prices import PRICES
from app.agents.planner.unread_phrases import UnreadPhrase, find_unread_phrases
from app.modeling.problem.kinds import ProblemKindName
from app.modeling.problem.metrics import REGRESSION_METRICS

MAX_CLASSES = 20
"""Number of distinct values up to which a number may be treated as classes: more are hard to tell apart in any
confusion matrix, and each would have few rows."""


@dataclass(frozen=True)
class PlanRequest:
    """The inputs of a plan. `preferences` and answers take precedence over the goal."""

    goal: Goal
    tables: Sequence[TableProfile]
    target: ScoredColumn
    preferences: PlanPreferences = field(default_factory=PlanPreferences)
    kind_answer: ProblemKindName | None = None
    entities_answer: Literal["new", "known"] | None = None
    """The user's answer about new or known entities."""
    bound_answer: Threshold | None = None
    """The bound of the target by which the user answered what a number of the goal compares."""
    answered_rows: Sequence[RowCondition] = ()
    """The rows that the user's answers select: by a number of the goal, or by a value of several columns."""
    answered_phrases: Sequence[str] = ()
    """The phrases of the goal whose rows the user answered."""
    notes: Sequence[str] = ()

    @property
    def table(self) -> TableProfile:
        return self.target.table

    @property
    def column(self) -> Column:
        return self.target.column

    @property
    def is_about_prices(self) -> bool:
        """True if the plan fetches stored prices instead of a table."""
        return self.table is PRICES


def kind_is_unclear(goal: Goal, column: Column) -> bool:
    """Tell if the kind of problem is unclear: the goal asks for classes of an amount."""
    if goal.lookahead or goal.outlook:
        return False
    return goal.kind == "classification" and _is_amount(column) and _threshold_cut(goal, column) is None


_CLASS_NAMES = frozenset(
    map(stem, word_set("type class category kind code group species label cluster segment variety family"))
)
"""Stems of names of whole numbers that number classes."""


def has_few_numbers(goal: Goal, column: Column) -> bool:
    """Tell if a column holds few whole numbers that the goal calls neither classes nor amounts."""
    return goal.kind is None and column.type == "integer" and 3 <= column.distinct <= 10


def _choose_kind_of_few_numbers(column: Column) -> ProblemKindName:
    """Return the kind of few whole numbers: ratings and counts are amounts, types are classes."""
    return "classification" if _CLASS_NAMES & set(stems(column.name)) else "regression"


def _is_amount(column: Column) -> bool:
    return column.is_number and column.distinct > MAX_CLASSES


def make_plan(request: PlanRequest) -> Plan:
    """Make the plan for a target."""
    ahead_notes = _ahead_notes(request)
    request = replace(request, goal=_drop_inapplicable_outlook(request))
    goal, column, preferences = request.goal, request.column, request.preferences
    cut = _choose_cut(request)
    time = _choose_time_column(request)
    horizon = _choose_horizon(request, time)
    kind = "classification" if cut else _choose_kind(request, horizon)
    metric = _choose_metric(request, kind)
    tables = [] if request.is_about_prices else _order_tables(goal, request.tables, request.table)
    conditions = _find_conditions(request, tables)
    inputs = choose_inputs(goal, tables or [request.table], column.name, conditions)
    tables = [] if request.is_about_prices else [*inputs.tables]
    plan = Plan(
        source="prices" if request.is_about_prices else "datasets",
        coins=[goal.coin] if request.is_about_prices and goal.coin else [],
        tables=[table.name for table in tables],
        join=len(tables) > 1,
        target=column.derivation.first if column.derivation else column.name,
        derivation=column.derivation,
        kind=kind,
        metric=metric,
        positive_class=_choose_positive_class(request),
        time_column=time,
        group_column=_choose_group_column(request),
        horizon=horizon,
        every_step=_forecasts_every_step(request, kind, horizon),
        outlook=goal.outlook if horizon else None,
        cut=cut,
        filter=conditions,
        meets=request.entities_answer,
        costs=_choose_costs(request, kind),
        wants_drivers=goal.wants_drivers,
        column_types=dict(preferences.column_types),
        exclude=_choose_exclusions(request, inputs.excluded),
        notes=[*request.notes, *ahead_notes, *_notes(request, kind, metric, horizon), *inputs.notes],
    )
    return plan.model_copy(update={"steps": describe_steps(plan)})


def unused_bound(request: PlanRequest) -> Threshold | None:
    """Return the bound that the goal sets ("goes past 40") where neither the target nor the rows take it up."""
    goal, column = request.goal, request.column
    is_elsewhere = bool(goal.lookahead or goal.metric or goal.time_limit_s or request.is_about_prices)
    is_amount = column.is_number and column.distinct > 2 and column.derivation is None
    if is_elsewhere or not is_amount or _choose_cut(request):
        return None
    conditions = _find_conditions(request, _order_tables(goal, request.tables, request.table))
    # Only a comparison takes a bound up; a value that is named restricts other columns.
    is_taken = any(condition.operator not in ("in", "not_in") for condition in conditions)
    return None if is_taken else goal.threshold


def open_phrases(request: PlanRequest) -> list[UnreadPhrase]:
    """Return the phrases of the goal that seem to select rows, and of which the user answered nothing."""
    if request.is_about_prices:
        return []
    tables = _order_tables(request.goal, request.tables, request.table)
    unread = find_unread_phrases(request.goal, tables, request.column, _find_conditions(request, tables))
    return [phrase for phrase in unread if phrase.text not in request.answered_phrases]


def _find_conditions(request: PlanRequest, tables: Sequence[TableProfile]) -> list[RowCondition]:
    if request.is_about_prices:
        return []
    conditions = find_row_conditions(request.goal, tables, request.column)
    return [*conditions, *request.answered_rows]


def _choose_exclusions(request: PlanRequest, excluded: Sequence[str]) -> list[str]:
    """Return the excluded columns, without those that become the target: they are no inputs anyway."""
    derivation = request.column.derivation
    sources = derivation.outcome_columns if derivation else (request.column.name,)
    return [name for name in dict.fromkeys([*request.preferences.exclude, *excluded]) if name not in sources]


def _drop_inapplicable_outlook(request: PlanRequest) -> Goal:
    """Return the goal without an outlook that does not apply to the target, or that its values have already."""
    goal, column = request.goal, request.column
    if lies_ahead(column.name):
        return replace(goal, outlook=None, lookahead=None)
    is_amount = column.is_number and column.distinct > 2  # only an amount rises or falls
    is_volatility_column = (
        goal.outlook == "volatility" and not request.is_about_prices and "volatil" in column.name.casefold()
    )  # a column of that name is a number like others
    return goal if is_amount and not is_volatility_column else replace(goal, outlook=None)


def _ahead_notes(request: PlanRequest) -> list[str]:
    if not request.goal.lookahead or not lies_ahead(request.column.name):
        return []
    return [f"The values of `{request.column.name}` lie ahead of their rows already, so no horizon is added."]


def _choose_cut(request: PlanRequest) -> Cut | None:
    if request.is_about_prices:
        return None
    if answer := request.bound_answer:
        return Cut(above=answer.above, value=answer.value, is_inclusive=answer.is_inclusive)
    if [*find_unit_bounds(request.goal, request.tables, request.column)]:
        return _median_cut(request)  # the bound selects rows
    return _threshold_cut(request.goal, request.column) or _median_cut(request)


def _choose_group_column(request: PlanRequest) -> str | None:
    name = request.preferences.group_column or named_columns.group_column(
        request.goal, request.table, request.column.name
    )
    if request.entities_answer == "new" and name is None:
        entity = named_columns.find_entity_column(request.table, request.column.name)
        name = entity.name if entity else None
    return name if name != request.column.name else None


def _choose_time_column(request: PlanRequest) -> str | None:
    goal, preferences = request.goal, request.preferences
    wants_order = bool(
        request.is_about_prices or goal.lookahead or preferences.horizon or goal.outlook == "direction"
    )
    return preferences.time_column or named_columns.time_column(goal, request.table, wants_order)


def _choose_positive_class(request: PlanRequest) -> str | int | float | bool | None:
    if request.preferences.positive_class is not None:
        return request.preferences.positive_class
    return named_columns.positive_class(request.goal, request.column)


def _choose_costs(request: PlanRequest, kind: ProblemKindName | None) -> dict[MistakeSide, float] | None:
    if request.preferences.costs:
        return request.preferences.costs
    costs = request.goal.costs
    return (
        {"false_alarm": costs.false_alarm, "missed": costs.missed} if costs and kind != "regression" else None
    )


def _notes(
    request: PlanRequest,
    kind: ProblemKindName | None,
    metric: str | None,
    horizon: int | None,
) -> Iterator[str]:
    """Return notes on parts of the goal and of the preferences that the plan does not follow."""
    goal = request.goal
    if goal.metric and metric is None:
        yield f"{goal.metric} does not judge {kind}, so the default metric is used."
    yield from _contradiction_notes(request.column, request.preferences)
    yield from _quantile_notes(goal, metric)
    is_chosen = request.kind_answer or request.preferences.problem or request.preferences.metric
    is_cut = _choose_cut(request) is not None
    if kind and has_few_numbers(goal, request.column) and not (horizon or is_chosen or is_cut):
        yield from _few_numbers_note(request.column, kind)
    if request.is_about_prices and goal.threshold:
        yield "The price level in the goal is ignored: only the direction of the close is predicted."
    if (bound := unused_bound(request)) is not None:
        yield f"The bound {bound.value:g} is not used: `{request.column.name}` is predicted as an amount."
    if not request.is_about_prices:
        for phrase in open_phrases(request):
            yield f"No part of the plan has all words of {phrase.text!r}, so they select no rows."
    if goal.lookahead and not horizon:
        yield "The goal looks ahead in time, but no column holds dates; rows are treated as independent."


def _few_numbers_note(column: Column, kind: ProblemKindName) -> Iterator[str]:
    other = f'"how much {column.name}"' if kind == "classification" else f'"classify {column.name}"'
    reading = "classes" if kind == "classification" else "amounts"
    numbers = f"The {column.distinct} whole numbers of `{column.name}`"
    yield f"{numbers} are taken as {reading}: say {other} otherwise."


def _quantile_notes(goal: Goal, metric: str | None) -> list[str]:
    if goal.quantile_percent is None or not metric or metric == f"pinball_{goal.quantile_percent:02}":
        return []
    return [
        f"There is no metric for the {goal.quantile_percent} % quantile, so the nearest one is used: {metric}."
    ]


def _contradiction_notes(column: Column, preferences: PlanPreferences) -> list[str]:
    """Return notes on contradictory preferences and their resolution."""
    notes = []
    if column.name in preferences.exclude:
        notes.append(f"`{column.name}` is the target, so it is not excluded.")
    if column.name == preferences.group_column:
        notes.append(f"`{column.name}` is the target, so rows are not grouped by it.")
    return notes


def _threshold_cut(goal: Goal, column: Column) -> Cut | None:
    """Return the goal's threshold for a numeric target, if it is about the target and lies within its range."""
    threshold = goal.threshold
    if threshold is None or not column.is_number or column.distinct <= 2:
        return None
    compares_target = threshold.subject is not None and names_whole(threshold.subject, column.name)
    if threshold.subject is not None and not compares_target:
        return None  # a sign compares the name before it
    is_amount = goal.kind == "regression" or (goal.kind is None and bool(goal.after_verb))
    if is_amount and not compares_target:
        return None  # "predict the price of houses above 100 square metres" asks for an amount
    if not fits_unit(threshold.unit, column) or _is_of_other_noun(threshold, column):
        return None
    value = convert(threshold.value, threshold.unit, column)
    inside = _is_between(column.low, value, column.high)
    cut = Cut(above=threshold.above, value=value, is_inclusive=threshold.is_inclusive)
    return cut if inside else None


def _is_of_other_noun(threshold: Threshold, column: Column) -> bool:
    """Test if a bound counts something else than the target: "usage of stays with three or more people"."""
    noun = threshold.noun
    if noun is None or not threshold.describes_rows or noun in FUNCTION_WORDS:
        return False
    return not any(
        names_part(noun, part) or share_concept(stem(noun), part) for part in parts_of_name(column.name)
    )


def _median_cut(request: PlanRequest) -> Cut | None:
    """Return the median as threshold if the user chose classes for an amount."""
    median = request.column.median
    if (
        (request.kind_answer or request.preferences.problem) != "classification"
        or request.goal.lookahead
        or not _is_amount(request.column)
        or not isinstance(median, int | float)
    ):
        return None
    return Cut(above=True, value=float(median))


def _choose_metric(request: PlanRequest, kind: ProblemKindName | None) -> str | None:
    """Return the preferred metric, or the goal's if it fits the kind of problem."""
    metric = request.goal.metric
    if request.preferences.metric or metric is None or kind is None:
        return request.preferences.metric or metric
    return metric if (metric in REGRESSION_METRICS) == (kind == "regression") else None


def _is_between(low: Any, value: float, high: Any) -> bool:
    return not isinstance(low, int | float) or not isinstance(high, int | float) or low < value < high


def _choose_kind(request: PlanRequest, horizon: int | None) -> ProblemKindName | None:
    goal, column = request.goal, request.column
    if preference := request.preferences.problem or request.kind_answer:
        return preference
    if horizon and goal.outlook:
        return "classification" if goal.outlook == "direction" else "regression"
    if not column.is_number:
        return "classification"
    if metric := request.preferences.metric:
        return "regression" if metric in REGRESSION_METRICS else "classification"
    if goal.kind == "classification" and _is_amount(column):
        return "regression"
    if goal.metric and goal.metric.startswith("pinball"):
        return "regression"
    if goal.kind == "regression" and column.distinct == 2 and not goal.metric:
        return None  # a forecast of yes or no
    if has_few_numbers(goal, column) and not horizon:
        return _choose_kind_of_few_numbers(column)
    return goal.kind


def _choose_horizon(request: PlanRequest, time_column: str | None) -> int | None:
    """Return the horizon in rows; None if no future is predicted."""
    if request.preferences.horizon:
        return request.preferences.horizon
    if not time_column:
        return None
    if request.goal.lookahead:
        return count_rows_ahead(request.goal.lookahead, request.table, time_column)
    # "Will the price rise" names no horizon and asks about the next row.
    return 1 if request.goal.outlook == "direction" or request.is_about_prices else None


def _forecasts_every_step(request: PlanRequest, kind: ProblemKindName | None, horizon: int | None) -> bool:
    """Tell if every step is forecast: for amounts only, since prices are traded at the horizon."""
    goal = request.goal
    if request.is_about_prices or not request.column.is_number or goal.outlook not in (None, "value"):
        return False
    return goal.has_each_step and kind != "classification" and bool(horizon and horizon > 1)


def _order_tables(goal: Goal, tables: Sequence[TableProfile], home: TableProfile) -> list[TableProfile]:
    """Return the target's table, then the others, unless the goal excludes them or names those to join."""
    excluded = {table.name for phrase in goal.excluded_phrases for table in mentioned_tables(tables, phrase)}
    others = [table for table in tables if table.name not in excluded | {home.name}]
    to_join = [table for table in mentioned_tables(others, goal.text) if goal.wants_join]
    return [home, *(to_join or others)]
