"""The plan of a forecast of transactions that are counted or summed by period."""

from collections.abc import Sequence

from app.agents.goals.periods import PeriodForecast
from app.agents.goals.row_conditions import describe_conditions
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.steps import describe_steps

PERIOD_CONFIDENCE = 0.75
"""Confidence in a forecast by period: what is measured and how often were both read from the goal."""


def make_period_plan(forecast: PeriodForecast, notes: Sequence[str] = ()) -> Plan:
    """Make the plan that forecasts a series of periods."""
    aggregation = forecast.aggregation
    count = f"{forecast.steps} {aggregation.every}s" if forecast.steps > 1 else aggregation.every
    rows = f", only rows where {describe_conditions(forecast.conditions)}" if forecast.conditions else ""
    source = f"`{forecast.table.name}`{rows}"
    plan = Plan(
        tables=[forecast.table.name, *forecast.joined],
        join=bool(forecast.joined),
        target=aggregation.column or aggregation.time,
        kind="regression",
        time_column=aggregation.time,
        horizon=forecast.steps,
        every_step=forecast.steps > 1,
        aggregation=aggregation,
        filter=[*forecast.conditions],
        understanding=Understanding(
            text=f"I will forecast {aggregation.description} of {source}, for the next {count}.",
            confidence=PERIOD_CONFIDENCE,
        ),
        notes=[*notes, "Incomplete periods at the beginning and at the end are left out."],
    )
    return plan.model_copy(update={"steps": describe_steps(plan)})
