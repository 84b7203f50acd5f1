"""Intervals of confidence beside the means and shares of groups."""

from collections.abc import Sequence
from dataclasses import replace

from app.plans import build
from app.plans.editing import split_plan
from app.plans.expressions import Expression
from app.plans.plan import Aggregation, Plan, SelectStep

Z_95 = 1.959964
"""Quantile of the normal distribution that leaves 2.5 % above it: of intervals at 95 %."""
ROWS, LOW, HIGH = "rows", "low (95 %)", "high (95 %)"
"""Names of the columns that are added."""
_DEVIATION = "standard deviation"
MIN_ROWS = 2
"""Rows of a group with an interval: one row has no deviation."""


def show_intervals(plan: Plan, columns: Sequence[str]) -> Plan | None:
    """Add intervals at 95 % to the mean or share of each group; None for other figures.

    Of means by the normal approximation, of shares by Wilson (1927). `columns`: those of the answer.
    """
    parts = split_plan(plan)
    figure = parts.group.aggregations[0] if parts.group and parts.group.aggregations else None
    if parts.group is None or figure is None or figure.where is not None or figure.name not in columns:
        return None
    occupied = {ROWS, LOW, HIGH, _DEVIATION} & {*columns, *parts.measures, *parts.group.keys}
    if figure.function not in ("mean", "share_true") or occupied - {ROWS}:
        return None
    # The rows behind a mean are those with a value.
    added = [build.aggregation(ROWS, "count", figure.column)] if ROWS not in parts.measures else []
    if figure.function == "mean":
        added.append(build.aggregation(_DEVIATION, "stddev", figure.column))
    low, high = _mean_ends(figure) if figure.function == "mean" else _share_ends(figure)
    group = parts.group.model_copy(update={"aggregations": [*parts.group.aggregations, *added]})
    shown_columns = [*columns, *(() if ROWS in columns else (ROWS,)), LOW, HIGH]
    ends = (build.derive(LOW, low), build.derive(HIGH, high))
    rest = tuple(step for step in parts.ending if not isinstance(step, SelectStep))
    return replace(parts, group=group, ending=(*rest, *ends, build.select(shown_columns))).to_plan()


def _mean_ends(figure: Aggregation) -> tuple[Expression, Expression]:
    root = build.call("sqrt", build.column(ROWS))
    error = build.arithmetic("/", build.column(_DEVIATION), root)
    half = build.arithmetic("*", build.literal(Z_95), error)
    mean = build.column(figure.name)
    ends = (build.arithmetic("-", mean, half), build.arithmetic("+", mean, half))
    has_deviation = build.compare(">=", build.column(ROWS), build.literal(MIN_ROWS))
    low, high = (build.case([(has_deviation, end)], None) for end in ends)
    return low, high


def _share_ends(figure: Aggregation) -> tuple[Expression, Expression]:
    share, rows = build.column(figure.name), build.column(ROWS)
    square = build.literal(Z_95**2)
    over_rows = build.arithmetic("/", square, rows)
    centre = build.arithmetic("+", share, build.arithmetic("/", over_rows, build.literal(2)))
    spread = build.arithmetic("*", share, build.arithmetic("-", build.literal(1), share))
    inner = build.arithmetic(
        "+",
        build.arithmetic("/", spread, rows),
        build.arithmetic("/", over_rows, build.arithmetic("*", build.literal(4), rows)),
    )
    half = build.arithmetic("*", build.literal(Z_95), build.call("sqrt", inner))
    scale = build.arithmetic("+", build.literal(1), over_rows)
    low, high = (build.arithmetic("/", build.arithmetic(sign, centre, half), scale) for sign in ("-", "+"))
    return low, high
