"""The plan of a forecast of a series, which is made of the table's rows first."""

from collections.abc import Iterator, Sequence

from app.agents.goals.conditions.row_conditions import describe_conditions
from app.agents.goals.series.period_forecast import PeriodForecast
from app.agents.goals.series.period_sql import ADDED_MEASURES
from app.agents.goals.series.request import DEFAULT_CONFIDENCE, GOAL_CONFIDENCE
from app.agents.goals.series.select_sql import PeriodAggregation
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.step_descriptions import describe_steps
from app.counts import describe_count

_ANSWERS = {
    "sum": "their sum",
    "mean": "their mean",
    "last": "the last of them",
    "maximum": "the highest of them",
}


def make_period_plan(forecast: PeriodForecast, notes: Sequence[str] = ()) -> Plan:
    """Make the plan that forecasts a series of periods."""
    aggregation = forecast.aggregation
    measured = forecast.table.column(aggregation.column) if aggregation.column else None
    derivation = measured.derivation if measured else None
    plan = Plan(
        tables=[forecast.table.name, *forecast.joined],
        join=bool(forecast.joined),
        target=derivation.first if derivation else _source_column(aggregation),
        derivation=derivation,
        kind="regression",
        time_column=aggregation.time,
        group_column=aggregation.key_name,
        horizon=forecast.steps,
        every_step=forecast.steps > 1,
        aggregation=aggregation,
        filter=[*forecast.conditions],
        understanding=Understanding(
            text=_describe(forecast),
            confidence=DEFAULT_CONFIDENCE if forecast.is_default_horizon else GOAL_CONFIDENCE,
        ),
        notes=[*notes, *_notes(forecast)],
    )
    return plan.model_copy(update={"steps": describe_steps(plan)})


def _source_column(aggregation: PeriodAggregation) -> str:
    """Return the column that the series is mainly made of."""
    return aggregation.column or (aggregation.period_columns or [*aggregation.time_columns])[0]


def _describe(forecast: PeriodForecast) -> str:
    aggregation = forecast.aggregation
    period = aggregation.every.replace("_", " ")
    unit = period if aggregation.step == 1 else f"{aggregation.step} {period}s"
    count = f"{forecast.steps} periods of {unit}" if aggregation.step > 1 else f"{forecast.steps} {unit}s"
    ahead = f"the next {count}" if forecast.steps > 1 else f"the next {unit}"
    skipped = aggregation.skipped_periods
    lead = f", of which the first {skipped} only lead there" if skipped else ""
    answer = f", and {_ANSWERS[aggregation.answer]}" if aggregation.answer in _ANSWERS else ""
    rows = f", only rows where {describe_conditions(forecast.conditions)}" if forecast.conditions else ""
    source = f"`{forecast.table.name}`{rows}"
    text = f"I will forecast {aggregation.description} of {source}, for {ahead}{lead}{answer}."
    return " ".join([text, *_describe_comparison(aggregation)])


def _describe_comparison(aggregation: PeriodAggregation) -> Iterator[str]:
    """Yield what the forecasts are compared for."""
    if aggregation.ranking:
        first = "highest" if aggregation.ranking == "most" else "lowest"
        yield f"The {' and '.join(f'`{key}`' for key in aggregation.keys)} with the {first} comes first."
    if aggregation.bound:
        compared = "It" if aggregation.answer in _ANSWERS else "Each of them"
        yield f"{compared} is compared with {aggregation.bound.value:,g} ({aggregation.bound.sign})."


def _notes(forecast: PeriodForecast) -> Iterator[str]:
    """Yield what is done to make the series regular."""
    aggregation = forecast.aggregation
    if aggregation.measure in ADDED_MEASURES:
        yield "A period without rows counts zero. Periods that the rows cover only in part are left out."
    elif forecast.gaps:
        gaps = describe_count(forecast.gaps, aggregation.every.replace("_", " "))
        yield f"Interpolated between others: {gaps} without a row."
    if aggregation.measure == "value" and forecast.repeated_rows:
        rows = describe_count(forecast.repeated_rows, "row")
        yield f"Rows of one period count by their mean, since times repeat in {rows}."
    if forecast.assumed:
        names = " and ".join(f"`{name}`" for name in forecast.assumed)
        effect = "has no effect: a forecast goes on from past values of the series alone."
        model = f' A model of rows uses it: "Predict `{aggregation.column}` from {names}".'
        yield f"What the goal assumes of {names} {effect}{model if aggregation.column else ''}"
    if forecast.is_default_horizon:
        yield f"The goal says no horizon in time: the next {forecast.steps} periods are forecast."
