"""Construction of a plan from goal, answers and table profiles."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from app.agents.goals import columns
from app.agents.goals.goal import Goal
from app.agents.goals.horizon import count_rows_ahead
from app.agents.goals.select_sql import Cut
from app.agents.goals.tables import Column, TableProfile, mentioned_tables
from app.agents.goals.target import ScoredColumn
from app.agents.planner.output import Plan
from app.agents.planner.stages import Stage
from app.modeling.problem.kinds import ProblemKindName
from app.modeling.problem.metrics import REGRESSION_METRICS

MAX_CLASSES = 20
"""Number of distinct values up to which a number may be treated as classes."""

# The profile of one day of five-minute bars represents all stored prices: only its spacing is used.
PRICES = TableProfile(
    "price_data_5min",
    0,
    (
        Column("ts", "datetime", "datetime", 289, low="2024-01-01", high="2024-01-02"),
        *(
            Column(name, "number", "numeric", distinct=1000)
            for name in ("open", "high", "low", "close", "volume")
        ),
    ),
)


def kind_is_unclear(goal: Goal, column: Column) -> bool:
    """Tell if the kind of problem is unclear: whole numbers with few values may be classes or amounts, or the
    goal asks for classes of an amount."""
    if goal.lookahead or goal.outlook:
        return False
    if goal.kind is None:
        return column.type == "integer" and 3 <= column.distinct <= 10
    return goal.kind == "classification" and _is_amount(column) and _threshold_cut(goal, column) is None


def _is_amount(column: Column) -> bool:
    return column.is_number and column.distinct > MAX_CLASSES


def make_plan(
    goal: Goal,
    tables: Sequence[TableProfile],
    target: ScoredColumn,
    preferences: Mapping[str, Any],
    kind_answer: ProblemKindName | None,
    notes: Sequence[str] = (),
    meets: Literal["new", "known"] | None = None,
) -> Plan:
    """Make the plan for a target. `preferences` take precedence over the goal.

    `meets`: the user's answer about new or known entities.
    """
    table, column = target.table, target.column
    if not column.is_number or column.distinct <= 2:
        goal = replace(goal, outlook=None)  # only an amount rises or falls
    is_prices = table is PRICES
    if goal.outlook == "volatility" and not is_prices and "volatil" in column.name.casefold():
        goal = replace(goal, outlook=None)  # a column of that name is a number like others
    cut = (
        None
        if is_prices
        else _threshold_cut(goal, column)
        or _median_cut(goal, column, kind_answer or preferences.get("problem"))
    )
    group = preferences.get("group_column") or columns.group_column(goal, table, column.name)
    if meets == "new" and group is None and (entity := columns.find_entity_column(table, column.name)):
        group = entity.name
    wants_order = bool(is_prices or goal.lookahead or preferences.get("horizon") or goal.outlook == "direction")
    time = preferences.get("time_column") or columns.time_column(goal, table, wants_order)
    horizon = _choose_horizon(goal, table, preferences, time)
    excluded, unknown = columns.excluded_columns(goal, table, column.name)
    used_tables = _order_tables(goal, tables, table)
    kind = "classification" if cut else _choose_kind(goal, column, preferences, kind_answer, horizon)
    metric, doubts = _choose_metric(goal, kind, preferences)
    plan = Plan(
        source="prices" if is_prices else "datasets",
        coins=[goal.coin] if is_prices and goal.coin else [],
        tables=[] if is_prices else [used_table.name for used_table in used_tables],
        join=len(used_tables) > 1,
        target=column.name,
        kind=kind,
        metric=metric,
        positive_class=_scalar(preferences.get("positive_class", columns.positive_class(goal, column))),
        time_column=time,
        group_column=group if group != column.name else None,
        horizon=horizon,
        every_step=_forecasts_every_step(goal, target, kind, horizon),
        outlook=goal.outlook if horizon else None,
        cut=cut,
        meets=meets,
        costs=preferences.get("costs")
        or (goal.costs.to_json() if goal.costs and kind != "regression" else None),
        column_types=preferences.get("column_types") or {},
        exclude=[
            n for n in dict.fromkeys([*(preferences.get("exclude") or []), *excluded]) if n != column.name
        ],
        notes=[
            *notes,
            *doubts,
            *_contradiction_notes(column, preferences),
            *_quantile_notes(goal, metric),
            *(f"The goal leaves out {phrase!r}, but no column has that name." for phrase in unknown),
        ],
    )
    if is_prices and goal.threshold:
        plan.notes.append(
            "The price level in the goal is ignored: only the direction of the close is predicted."
        )
    if goal.lookahead and not horizon:
        plan.notes.append(
            "The goal looks ahead in time, but no column holds dates; rows are treated as independent."
        )
    return plan.model_copy(update={"steps": describe_steps(plan)})


def _quantile_notes(goal: Goal, metric: str | None) -> list[str]:
    if goal.quantile_percent is None or not metric or metric == f"pinball_{goal.quantile_percent:02}":
        return []
    return [
        f"There is no metric for the {goal.quantile_percent} % quantile, so the nearest one is used: {metric}."
    ]


def _contradiction_notes(column: Column, preferences: Mapping[str, Any]) -> list[str]:
    """Return notes on contradictory preferences and their resolution."""
    doubts = []
    if column.name in (preferences.get("exclude") or ()):
        doubts.append(f"`{column.name}` is the target, so it is not excluded.")
    if column.name == preferences.get("group_column"):
        doubts.append(f"`{column.name}` is the target, so rows are not grouped by it.")
    return doubts


def _threshold_cut(goal: Goal, column: Column) -> Cut | None:
    """Return the goal's threshold for a numeric target, if it lies within the column's range."""
    threshold = goal.threshold
    if threshold is None or not column.is_number or goal.kind != "classification" or column.distinct <= 2:
        return None
    inside = _is_between(column.low, threshold.value, column.high)
    return Cut(above=threshold.above, value=threshold.value) if inside else None


def _median_cut(goal: Goal, column: Column, kind_answer: ProblemKindName | None) -> Cut | None:
    """Return the median as threshold if the user chose classes for an amount."""
    if (
        kind_answer != "classification"
        or goal.lookahead
        or not _is_amount(column)
        or not isinstance(column.median, int | float)
    ):
        return None
    return Cut(above=True, value=float(column.median))


def _choose_metric(
    goal: Goal, kind: ProblemKindName | None, preferences: Mapping[str, Any]
) -> tuple[str | None, list[str]]:
    """Return the metric, and a note if the goal's metric does not fit the problem."""
    if preferences.get("metric") or goal.metric is None or kind is None:
        return preferences.get("metric") or goal.metric, []
    if (goal.metric in REGRESSION_METRICS) == (kind == "regression"):
        return goal.metric, []
    return None, [f"{goal.metric} does not judge {kind}, so the default metric is used."]


def _is_between(low: Any, value: float, high: Any) -> bool:
    return not isinstance(low, int | float) or not isinstance(high, int | float) or low < value < high


def _choose_kind(
    goal: Goal,
    column: Column,
    preferences: Mapping[str, Any],
    kind_answer: ProblemKindName | None,
    horizon: int | None,
) -> Literal["classification", "regression"] | None:
    preference = preferences.get("problem") or kind_answer
    if preference in ("classification", "regression"):
        return "classification" if preference == "classification" else "regression"
    if horizon and goal.outlook:
        return "classification" if goal.outlook == "direction" else "regression"
    if not column.is_number:
        return "classification"
    if goal.kind == "classification" and _is_amount(column):
        return "regression"
    if goal.metric and goal.metric.startswith("pinball"):
        return "regression"
    if goal.kind == "regression" and column.distinct == 2 and not goal.metric:
        return None  # a forecast of yes or no
    return goal.kind


def _choose_horizon(
    goal: Goal, table: TableProfile, preferences: Mapping[str, Any], time: str | None
) -> int | None:
    if preference := preferences.get("horizon"):
        return int(preference)
    if not time:
        return None
    if goal.lookahead:
        return count_rows_ahead(goal.lookahead, table, time)
    return 1 if goal.outlook == "direction" or table is PRICES else None


def _forecasts_every_step(
    goal: Goal, target: ScoredColumn, kind: ProblemKindName | None, horizon: int | None
) -> bool:
    """Tell if every step is forecast: for amounts only, since prices are traded at the horizon."""
    if target.table is PRICES or not target.column.is_number or goal.outlook not in (None, "value"):
        return False
    return goal.has_each_step and kind != "classification" and bool(horizon and horizon > 1)


def _order_tables(goal: Goal, tables: Sequence[TableProfile], home: TableProfile) -> list[TableProfile]:
    """Return the target's table, then the others, unless the goal excludes them or names those to join."""
    excluded = {table.name for phrase in goal.excluded_phrases for table in mentioned_tables(tables, phrase)}
    others = [table for table in tables if table.name not in excluded | {home.name}]
    to_join = [table for table in mentioned_tables(others, goal.text) if goal.wants_join]
    return [home, *(to_join or others)]


def _scalar(value: object) -> str | int | float | bool | None:
    return value if isinstance(value, str | int | float | bool) else None


def describe_steps(plan: Plan) -> list[str]:
    """Describe the plan in one line for each of its stages."""
    lines = _stage_lines(plan)
    if plan.question is not None:
        return [
            lines["data_retrieval"],
            "Answer the question from the rows that there are.",
            lines["reporting"],
        ]
    return [lines[stage] for stage in plan.stages if stage in lines]


def _stage_lines(plan: Plan) -> dict[Stage, str]:
    names = " and ".join(f"`{table}`" for table in plan.tables)
    source = f"the prices of {' and '.join(plan.coins) or 'the coin'}" if plan.source == "prices" else names
    join = " and join what shares a key" if plan.join else ""
    is_split_by_group = plan.group_column and not plan.horizon
    grouping = f", keeping each `{plan.group_column}` on one side" if is_split_by_group else ""
    horizon = f" from the past only, {describe_horizon(plan)}" if plan.horizon else ""
    metric = f", judged by {plan.metric}" if plan.metric else ""
    return {
        "data_retrieval": f"Fetch {source}{join}{_describe_exclusions(plan)}.",
        "split": f"Lock a hold-out away before anyone looks at the data{grouping}.",
        "data_analysis": f"Look for gaps, skew and columns that give `{plan.target}` away.",
        "feature_engineering": f"Clean what needs it and build features{horizon}.",
        "model_training": f"Fit {_describe_models(plan)} and compare by cross-validation{metric}.",
        "hyperparameter_tuning": "Fit more of what is best while that pays and time is left.",
        "final_evaluation": "Open the hold-out once.",
        "reporting": "Write the report.",
    }


def describe_horizon(plan: Plan) -> str:
    """Describe the horizon in words."""
    rows = "1 row" if plan.horizon == 1 else f"{plan.horizon} rows"
    return f"each of the next {rows}" if plan.every_step else f"{rows} ahead"


def _describe_models(plan: Plan) -> str:
    if plan.families:
        return " and ".join(plan.families)
    return "a model that can be read" if plan.model == "interpretable" else "several kinds of model"


def _describe_exclusions(plan: Plan) -> str:
    return f", without {', '.join(f'`{name}`' for name in plan.exclude)}" if plan.exclude else ""
