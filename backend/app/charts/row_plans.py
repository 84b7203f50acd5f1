"""The plans of a chart's rows: bins, boxes, correlations, top categories, samples and moving averages."""

import math
from collections.abc import Sequence
from typing import Any

from app.charts.chart_request import ChartRequest
from app.charts.encoding import NUMBERS, Encoding, Schema
from app.plans import expressions as e
from app.plans import plan as p
from app.plans.build import arithmetic, column, compare, every, literal
from app.plans.schema import refuse

MAX_BARS = 30
"""Categories of a chart of bars: those with the greatest measure; more labels are not read."""
MAX_POINTS = 2_000
"""Points of a scatter chart, drawn by chance from more: more of them cover each other."""
MAX_ROWS = 5_000
"""Rows of any chart: drawing them takes less than a second."""
MIN_BINS, MAX_BINS = 8, 50
"""Bins of a histogram."""
MAX_BOXES = 20
"""Boxes of one chart, of the groups with most rows."""
_FENCE = 1.5
"""Quartile ranges from the box to the end of its whiskers (Tukey, 1977)."""
COUNT = "rows"
BIN_DIGITS = 9
"""Decimal places of the start of a bin, so that three tenths are not 0.30000000000000004."""
_ORDERING = (p.SortStep, p.TopKStep)


def extend(plan: p.Plan, *steps: Any) -> p.Plan:
    """A plan with further steps."""
    return p.Plan(source=plan.source, steps=[*plan.steps, *steps])


def make_rows_plan(request: ChartRequest, encoding: Encoding, schema: Schema) -> p.Plan:
    """The plan of the rows of a chart, but of a histogram, whose bins depend on the range of its column."""
    plan = request.plan
    match encoding.kind:
        case "bar":
            return _make_bars(plan, encoding, schema)
        case "line" | "area":
            return _make_series(plan, encoding, request.moving_average)
        case "scatter":
            return extend(
                plan,
                _keep_complete(encoding.x, *encoding.y),
                select(encoding.x, *encoding.y, encoding.color),
                p.SampleStep(kind="sample", rows=MAX_POINTS),
            )
        case "box":
            return _make_boxes(plan, encoding)
        case "heatmap" if encoding.x is None:
            return _make_correlations(plan, schema)
    return extend(plan, select(encoding.x, *encoding.y, encoding.color))


def select(*names: str | None) -> p.SelectStep:
    unique = dict.fromkeys(name for name in names if name is not None)
    return p.SelectStep(kind="select", columns=[p.SelectedColumn(name=name) for name in unique])


def _keep_complete(*names: str | None) -> p.FilterStep:
    """Keep rows in which all of these columns have a value."""
    conditions: list[e.Expression] = [
        e.NotExpression(kind="not", operand=e.IsNullExpression(kind="is_null", operand=column(name)))
        for name in names
        if name is not None
    ]
    return p.FilterStep(kind="filter", condition=every(conditions))


def _make_bars(plan: p.Plan, encoding: Encoding, schema: Schema) -> p.Plan:
    steps: list[Any] = [select(encoding.x, encoding.color, *encoding.y)]
    is_category = encoding.x is not None and schema[encoding.x] != "datetime"
    # A plan that ends with an order or a limit has chosen the bars itself.
    is_ordered = bool(plan.steps) and isinstance(plan.steps[-1], (*_ORDERING, p.LimitStep))
    if is_category and encoding.color is None and not is_ordered:
        steps.append(p.TopKStep(kind="top_k", k=MAX_BARS, by=encoding.y[0]))
    return extend(plan, *steps)


def make_totals_plan(plan: p.Plan, encoding: Encoding) -> p.Plan:
    """Add up the measures of rows that share a bar or a point of a line."""
    keys = [name for name in (encoding.x, encoding.color) if name is not None]
    sums = [p.Aggregation(name=name, function="sum", column=name) for name in encoding.y]
    steps: list[Any] = [p.GroupStep(kind="group", keys=keys, aggregations=sums)]
    if encoding.kind == "bar" and encoding.color is None:
        steps.append(p.TopKStep(kind="top_k", k=MAX_BARS, by=encoding.y[0]))
    else:
        steps.append(_sort(keys[0]))
    return extend(plan, *steps)


def _make_series(plan: p.Plan, encoding: Encoding, moving_average: int | None) -> p.Plan:
    if encoding.x is None:
        raise refuse("x", "A line needs an axis.", "no_axis")
    steps: list[Any] = [select(encoding.x, encoding.color, *encoding.y)]
    if moving_average is not None:
        figure = p.WindowColumn(
            name=moving_name(encoding.y[0], moving_average),
            function="moving_mean",
            column=encoding.y[0],
            within=[encoding.color] if encoding.color else [],
            order=[p.SortKey(column=encoding.x)],
            rows=moving_average,
        )
        steps.append(p.WindowStep(kind="window", columns=[figure]))
    return extend(plan, *steps, _sort(encoding.x))


def moving_name(measure: str, rows: int) -> str:
    return f"{measure}, mean of {rows}"


def _sort(name: str) -> p.SortStep:
    return p.SortStep(kind="sort", keys=[p.SortKey(column=name)])


def make_range_plan(plan: p.Plan, name: str) -> p.Plan:
    """One row: least and greatest value, quartiles, number of values and of distinct ones."""
    figures = [
        p.Aggregation(name="low", function="min", column=name),
        p.Aggregation(name="high", function="max", column=name),
        p.Aggregation(name="q1", function="quantile", column=name, share=0.25),
        p.Aggregation(name="q3", function="quantile", column=name, share=0.75),
        p.Aggregation(name="n", function="count", column=name),
        p.Aggregation(name="distinct", function="count_distinct", column=name),
    ]
    return extend(plan, p.GroupStep(kind="group", aggregations=figures))


def make_span_plan(plan: p.Plan, name: str) -> p.Plan:
    """One row: the days from the first to the last time."""
    figures = [
        p.Aggregation(name="low", function="min", column=name),
        p.Aggregation(name="high", function="max", column=name),
    ]
    days = e.CallExpression(kind="call", function="days_between", arguments=[column("low"), column("high")])
    return extend(
        plan,
        p.GroupStep(kind="group", aggregations=figures),
        p.DeriveStep(kind="derive", columns=[p.DerivedColumn(name="days", expression=days)]),
    )


def choose_bin_width(figures: Sequence[Any], is_integer: bool) -> float:
    """The width of bins by Freedman and Diaconis, rounded to 1, 2, 2.5 or 5 times a power of ten.

    `figures`: the row of `make_range_plan`. Whole numbers with few values have a bin each.
    """
    low, high, q1, q3, n, distinct = (float(figure or 0) for figure in figures)
    span = high - low
    if span <= 0:
        return 1.0
    if is_integer and span < MAX_BINS and distinct <= MAX_BINS:
        return 1.0
    # If the middle half of the values is one value, Sturges' rule takes its place.
    width = 2 * (q3 - q1) / max(n, 1) ** (1 / 3) or span / (math.log2(max(n, 2)) + 1)
    # Bounded on both sides: outliers would give thousands of bins, or one that holds everything.
    return _round_width(min(max(width, span / MAX_BINS), span / MIN_BINS))


def _round_width(width: float) -> float:
    power = 10.0 ** math.floor(math.log10(width))
    # With tolerance, as 2 times a power of ten may be a little less than the width of 2.
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= width * (1 - 1e-9))


def bin_name(column: str) -> str:
    return f"{column} from"


def make_bins_plan(plan: p.Plan, name: str, width: float, color: str | None) -> p.Plan:
    """Rows with the start of each bin (`bin_name`) and `rows`, of each value of `color`."""
    number = e.CallExpression(
        kind="call", function="floor", arguments=[arithmetic("/", column(name), literal(width))]
    )
    start = e.CallExpression(
        kind="call",
        function="round",
        arguments=[arithmetic("*", number, literal(width)), literal(BIN_DIGITS)],
    )
    return extend(
        plan,
        _keep_complete(name),
        p.DeriveStep(kind="derive", columns=[p.DerivedColumn(name=bin_name(name), expression=start)]),
        p.GroupStep(
            kind="group",
            keys=[bin_name(name), *([color] if color else [])],
            aggregations=[p.Aggregation(name=COUNT, function="count")],
        ),
        _sort(bin_name(name)),
    )


def make_counts_plan(plan: p.Plan, name: str, type_: e.ColumnType, span_days: float) -> p.Plan:
    """The histogram of a column without numbers: rows of each value, or of each unit of time."""
    steps: list[Any] = [_keep_complete(name)]
    if type_ == "datetime":
        # Up to 90 bars of days or 120 of months, which a chart of 640 pixels can show.
        unit: e.DateUnit = "day" if span_days <= 90 else "month" if span_days <= 3_650 else "year"
        start = e.DateTruncExpression(kind="date_trunc", unit=unit, operand=column(name))
        steps.append(p.DeriveStep(kind="derive", columns=[p.DerivedColumn(name=name, expression=start)]))
    total = p.Aggregation(name=COUNT, function="count")
    steps.append(p.GroupStep(kind="group", keys=[name], aggregations=[total]))
    ordering: Any = _sort(name) if type_ == "datetime" else p.TopKStep(kind="top_k", k=MAX_BARS, by=COUNT)
    return extend(plan, *steps, ordering)


def _make_boxes(plan: p.Plan, encoding: Encoding) -> p.Plan:
    """Quartiles of each group, and the farthest values within the fences."""
    measure = encoding.y[0]
    group = encoding.x or "all"
    base = extend(plan, _keep_complete(measure, encoding.x))
    if encoding.x is None:
        # A box without groups is one group, so that one plan serves both.
        same = p.DerivedColumn(name=group, expression=literal(""))
        base = extend(base, p.DeriveStep(kind="derive", columns=[same]))
    base = extend(base, select(group, measure))
    quartiles = [
        p.Aggregation(name=name, function="quantile", column=measure, share=share)
        for name, share in (("q1", 0.25), ("median", 0.5), ("q3", 0.75))
    ]
    quarters = extend(base, p.GroupStep(kind="group", keys=[group], aggregations=quartiles))
    join = p.JoinStep(
        kind="join",
        source=p.PlanSource(kind="plan", plan=quarters),
        on=[p.JoinKey(left=group, right=group)],
    )
    reach = arithmetic("*", literal(_FENCE), arithmetic("-", column("q3"), column("q1")))
    inside = every(
        [
            compare(">=", column(measure), arithmetic("-", column("q1"), reach)),
            compare("<=", column(measure), arithmetic("+", column("q3"), reach)),
        ]
    )
    figures = [
        # Equal in all rows of a group, so any aggregate returns them.
        *(p.Aggregation(name=name, function="min", column=name) for name in ("q1", "median", "q3")),
        p.Aggregation(name="low", function="min", column=measure, where=inside),
        p.Aggregation(name="high", function="max", column=measure, where=inside),
        p.Aggregation(name="outliers", function="count", where=e.NotExpression(kind="not", operand=inside)),
        p.Aggregation(name=COUNT, function="count"),
    ]
    return extend(
        base,
        join,
        p.GroupStep(kind="group", keys=[group], aggregations=figures),
        p.TopKStep(kind="top_k", k=MAX_BOXES, by=COUNT),
    )


def _make_correlations(plan: p.Plan, schema: Schema) -> p.Plan:
    numbers = [name for name, type_ in schema.items() if type_ in NUMBERS]
    if len(numbers) < 2:
        raise refuse("plan", "Correlations need two columns of numbers.", "no_column")
    return extend(plan, p.CorrelateStep(kind="correlate", columns=numbers[: p.MAX_CORRELATED_COLUMNS]))
