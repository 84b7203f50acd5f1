"""From what was read, answered and found in the data to a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from app.agents.goals import columns
from app.agents.goals.goal import Goal
from app.agents.goals.horizon import rows_ahead
from app.agents.goals.select_sql import Cut
from app.agents.goals.tables import Column, Table, mentioned
from app.agents.goals.target import Scored
from app.agents.planner.output import Plan
from app.agents.planner.stages import Stage
from app.modeling.problem.kinds import ProblemKindName
from app.modeling.problem.metrics import REGRESSION_METRICS

# One day of five-minute bars stands for all: only their spacing is read from it.
MAX_CLASSES = 20

PRICES = Table(
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
    """Whole numbers with few values can be classes or amounts, and the goal does not say which; or it asks for
    classes of a number that has none."""
    if goal.ahead or goal.outlook:
        return False
    if goal.kind is None:
        return column.type == "integer" and 3 <= column.distinct <= 10
    return goal.kind == "classification" and _is_amount(column) and _cut(goal, column) is None


def _is_amount(column: Column) -> bool:
    return column.is_number and column.distinct > MAX_CLASSES


def make_plan(
    goal: Goal,
    tables: Sequence[Table],
    target: Scored,
    wishes: Mapping[str, Any],
    answered: ProblemKindName | None,
    notes: Sequence[str] = (),
    meets: Literal["new", "known"] | None = None,
) -> Plan:
    """The plan for a target. Preferences (`wishes`) win over what the goal says.

    `meets`: what was answered about whom the model will meet.
    """
    table, column = target.table, target.column
    if not column.is_number or column.distinct <= 2:
        goal = replace(goal, outlook=None)  # only an amount rises or falls
    is_prices = table is PRICES
    if goal.outlook == "volatility" and not is_prices and "volatil" in column.name.casefold():
        goal = replace(goal, outlook=None)  # a column of that name is a number like others
    cut = None if is_prices else _cut(goal, column) or _middle(goal, column, answered or wishes.get("problem"))
    group = wishes.get("group_column") or columns.group_column(goal, table, column.name)
    if meets == "new" and group is None and (found := columns.entity(table, column.name)):
        group = found.name
    wants_order = bool(is_prices or goal.ahead or wishes.get("horizon") or goal.outlook == "direction")
    time = wishes.get("time_column") or columns.time_column(goal, table, wants_order)
    horizon = _horizon(goal, table, wishes, time)
    named, unknown = columns.excluded(goal, table, column.name)
    used = _tables(goal, tables, table)
    kind = "classification" if cut else _kind(goal, column, wishes, answered, horizon)
    metric, doubts = _metric(goal, kind, wishes)
    plan = Plan(
        source="prices" if is_prices else "datasets",
        coins=[goal.coin] if is_prices and goal.coin else [],
        tables=[] if is_prices else [used_table.name for used_table in used],
        join=len(used) > 1,
        target=column.name,
        kind=kind,
        metric=metric,
        positive_class=_scalar(wishes.get("positive_class", columns.positive_class(goal, column))),
        time_column=time,
        group_column=group if group != column.name else None,
        horizon=horizon,
        every_step=_every_step(goal, target, kind, horizon),
        outlook=goal.outlook if horizon else None,
        cut=cut,
        meets=meets,
        costs=wishes.get("costs") or (goal.costs.to_json() if goal.costs and kind != "regression" else None),
        column_types=wishes.get("column_types") or {},
        exclude=[n for n in dict.fromkeys([*(wishes.get("exclude") or []), *named]) if n != column.name],
        notes=[
            *notes,
            *doubts,
            *_contradicted(column, wishes),
            *_nearest_quantile(goal, metric),
            *(f"The goal leaves out {phrase!r}, but no column is called that." for phrase in unknown),
        ],
    )
    if is_prices and goal.threshold:
        plan.notes.append("A price to rise above or fall below is not looked at, only where the close goes.")
    if goal.ahead and not horizon:
        plan.notes.append(
            "The goal looks ahead in time, but no column holds dates; rows are taken as they are."
        )
    return plan.model_copy(update={"steps": steps(plan)})


def _nearest_quantile(goal: Goal, metric: str | None) -> list[str]:
    if goal.percent is None or not metric or metric == f"pinball_{goal.percent:02}":
        return []
    return [f"There is no metric for the {goal.percent} % quantile, so the nearest is taken: {metric}."]


def _contradicted(column: Column, wishes: Mapping[str, Any]) -> list[str]:
    """Preferences that say no to what they ask for, and what is done about it."""
    doubts = []
    if column.name in (wishes.get("exclude") or ()):
        doubts.append(f"`{column.name}` is what is predicted, so it is not left out.")
    if column.name == wishes.get("group_column"):
        doubts.append(f"`{column.name}` is what is predicted, so rows are not grouped by it.")
    return doubts


def _cut(goal: Goal, column: Column) -> Cut | None:
    """A number that the goal asks a yes or no about."""
    asked = goal.threshold
    if asked is None or not column.is_number or goal.kind != "classification" or column.distinct <= 2:
        return None
    inside = _between(column.low, asked.value, column.high)
    return Cut(above=asked.above, value=asked.value) if inside else None


def _middle(goal: Goal, column: Column, answered: ProblemKindName | None) -> Cut | None:
    """Classes were asked of an amount, and the user chose its middle as their border."""
    if (
        answered != "classification"
        or goal.ahead
        or not _is_amount(column)
        or not isinstance(column.middle, int | float)
    ):
        return None
    return Cut(above=True, value=float(column.middle))


def _metric(
    goal: Goal, kind: ProblemKindName | None, wishes: Mapping[str, Any]
) -> tuple[str | None, list[str]]:
    """The metric, and a doubt about one in the goal that does not fit the problem."""
    if wishes.get("metric") or goal.metric is None or kind is None:
        return wishes.get("metric") or goal.metric, []
    if (goal.metric in REGRESSION_METRICS) == (kind == "regression"):
        return goal.metric, []
    return None, [f"{goal.metric} does not judge {kind}, so the usual metric is taken."]


def _between(low: Any, value: float, high: Any) -> bool:
    return not isinstance(low, int | float) or not isinstance(high, int | float) or low < value < high


def _kind(
    goal: Goal, column: Column, wishes: Mapping[str, Any], answered: ProblemKindName | None, horizon: int | None
) -> Literal["classification", "regression"] | None:
    wished = wishes.get("problem") or answered
    if wished in ("classification", "regression"):
        return "classification" if wished == "classification" else "regression"
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


def _horizon(goal: Goal, table: Table, wishes: Mapping[str, Any], time: str | None) -> int | None:
    if wished := wishes.get("horizon"):
        return int(wished)
    if not time:
        return None
    if goal.ahead:
        return rows_ahead(goal.ahead, table, time)
    return 1 if goal.outlook == "direction" or table is PRICES else None


def _every_step(goal: Goal, target: Scored, kind: ProblemKindName | None, horizon: int | None) -> bool:
    """Each step of the way, where an amount is forecast; a price is traded on at the end of it."""
    if target.table is PRICES or not target.column.is_number or goal.outlook not in (None, "value"):
        return False
    return goal.each_step and kind != "classification" and bool(horizon and horizon > 1)


def _tables(goal: Goal, tables: Sequence[Table], home: Table) -> list[Table]:
    """The target's table first. The others too, unless the goal leaves them out or names which to join."""
    left_out = {table.name for phrase in goal.excluded for table in mentioned(tables, phrase)}
    others = [table for table in tables if table.name not in left_out | {home.name}]
    wanted = [table for table in mentioned(others, goal.text) if goal.wants_join]
    return [home, *(wanted or others)]


def _scalar(value: object) -> str | int | float | bool | None:
    return value if isinstance(value, str | int | float | bool) else None


def steps(plan: Plan) -> list[str]:
    """The plan as a person reads it: a line for each of its stages."""
    lines = _lines(plan)
    if plan.question is not None:
        return [
            lines["data_retrieval"],
            "Answer the question from the rows that there are.",
            lines["reporting"],
        ]
    return [lines[stage] for stage in plan.stages if stage in lines]


def _lines(plan: Plan) -> dict[Stage, str]:
    names = " and ".join(f"`{table}`" for table in plan.tables)
    source = f"the prices of {' and '.join(plan.coins) or 'the coin'}" if plan.source == "prices" else names
    joined = " and join what shares a key" if plan.join else ""
    apart = plan.group_column and not plan.horizon
    kept = f", keeping each `{plan.group_column}` on one side" if apart else ""
    ahead = f" from the past only, {far(plan)}" if plan.horizon else ""
    judged = f", judged by {plan.metric}" if plan.metric else ""
    return {
        "data_retrieval": f"Fetch {source}{joined}{_without(plan)}.",
        "split": f"Lock a hold-out away before anyone looks at the data{kept}.",
        "data_analysis": f"Look for gaps, skew and columns that give `{plan.target}` away.",
        "feature_engineering": f"Clean what needs it and build features{ahead}.",
        "model_training": f"Fit {_kinds(plan)} and compare by cross-validation{judged}.",
        "hyperparameter_tuning": "Fit more of what is best while that pays and time is left.",
        "final_evaluation": "Open the hold-out once.",
        "reporting": "Write the report.",
    }


def far(plan: Plan) -> str:
    """How far ahead, in words."""
    rows = "1 row" if plan.horizon == 1 else f"{plan.horizon} rows"
    return f"each of the next {rows}" if plan.every_step else f"{rows} ahead"


def _kinds(plan: Plan) -> str:
    if plan.families:
        return " and ".join(plan.families)
    return "a model that can be read" if plan.model == "interpretable" else "several kinds of model"


def _without(plan: Plan) -> str:
    return f", without {', '.join(f'`{name}`' for name in plan.exclude)}" if plan.exclude else ""
