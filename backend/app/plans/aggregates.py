"""Aggregates of groups and windows as typed SQL trees."""

from sqlglot import exp

from app.plans import plan as p
from app.plans.compile_expression import NUMBERS, Scope, Typed, compile_condition, find_column
from app.plans.functions import call, cast, group
from app.plans.schema import refuse
from app.plans.select_draft import order_by


def compile_aggregation(aggregation: p.Aggregation, scope: Scope, place: str) -> Typed:
    """Compile an aggregate of a group."""
    typed = _figure(aggregation, scope, place)
    if aggregation.where is not None:
        condition = compile_condition(aggregation.where, scope, f"{place}.where")
        typed = Typed(exp.Filter(this=typed.tree, expression=exp.Where(this=condition)), typed.type)
    return _narrow_sum(typed) if aggregation.function == "sum" else typed


def _narrow_sum(typed: Typed) -> Typed:
    """Return a sum of integers as BIGINT: DuckDB adds them as HUGEINT, which leaves a cell as a float."""
    return Typed(cast(typed.tree, "BIGINT"), typed.type) if typed.type == "integer" else typed


def _figure(aggregation: p.Aggregation, scope: Scope, place: str) -> Typed:
    function, name = aggregation.function, aggregation.column
    if name is None:
        if function == "count":
            return Typed(call("count", exp.Star()), "integer")
        raise refuse(f"{place}.column", f"{function} needs a column.")
    value = find_column(name, scope, f"{place}.column")[1]
    tree = value.tree.copy()
    match function:
        case "count":
            return Typed(call("count", tree), "integer")
        case "count_distinct":
            return Typed(call("count", exp.Distinct(expressions=[tree])), "integer")
        case "min" | "max" | "first":
            # DuckDB's `first` may return a missing value; `any_value` skips those.
            return Typed(call("any_value" if function == "first" else function, tree), value.type)
        case "share_true":
            if value.type not in ("boolean", None):
                raise refuse(f"{place}.column", f"This must be boolean, not {value.type}.", "type_mismatch")
            return Typed(call("avg", cast(tree, "DOUBLE")), "number")
    _require_numbers(value, f"{place}.column", function)
    return _numeric_figure(aggregation, value, scope, place)


def _numeric_figure(aggregation: p.Aggregation, value: Typed, scope: Scope, place: str) -> Typed:
    function, tree = aggregation.function, value.tree.copy()
    if function == "sum":
        return Typed(call("sum", tree), value.type)
    # As DOUBLE: DuckDB gives quantiles of decimals as decimals, cut to their places.
    arguments = [cast(tree, "DOUBLE")]
    if aggregation.share is not None:
        arguments.append(exp.Literal.number(repr(aggregation.share)))
    if aggregation.other is not None:
        other = find_column(aggregation.other, scope, f"{place}.other")[1]
        _require_numbers(other, f"{place}.other", function)
        arguments.append(cast(other.tree.copy(), "DOUBLE"))
    return Typed(call(_FIGURES[function], *arguments), "number")


_FIGURES: dict[p.AggregateFunction, str] = {
    "mean": "avg",
    "median": "median",
    "stddev": "stddev_samp",
    "variance": "var_samp",
    "quantile": "quantile_cont",
    "correlation": "corr",
    "slope": "regr_slope",
}


_RANKS = frozenset({"row_number", "rank", "dense_rank"})
_ORDERED = frozenset({"rank", "dense_rank", "lag", "lead", "cumulative_sum", "moving_mean"})
"""Functions that need an order. `row_number` without one numbers the rows as their table stores them."""


def compile_window_aggregate(figure: p.WindowColumn, scope: Scope, place: str) -> Typed:
    """Compile an aggregate over a window."""
    if figure.function in _ORDERED and not figure.order:
        raise refuse(f"{place}.order", f"{figure.function} needs an order.")
    value = _window_value(figure, scope, place)
    partition = [
        find_column(name, scope, f"{place}.within[{n}]")[1].tree.copy() for n, name in enumerate(figure.within)
    ]
    keys = [
        order_by(find_column(key.column, scope, f"{place}.order[{n}].column")[1].tree, key.descending)
        for n, key in enumerate(figure.order)
    ]

    def over(tree: exp.Expr, preceding: exp.Expr | str | None = None, ordered: bool = True) -> exp.Expr:
        spec = None
        if preceding is not None:
            # ROWS, since the default RANGE takes in all rows with an equal key at once.
            spec = exp.WindowSpec(
                kind="ROWS", start=preceding, start_side="PRECEDING", end="CURRENT ROW", end_side=None
            )
        order = exp.Order(expressions=keys) if keys and ordered else None
        return exp.Window(this=tree, partition_by=partition, order=order, spec=spec, over="OVER")

    if value is None:
        return Typed(over(call(figure.function)), "integer")
    tree = value.tree.copy()
    match figure.function:
        case "lag" | "lead":
            return Typed(over(call(figure.function, tree, exp.Literal.number(figure.rows))), value.type)
        case "cumulative_sum":
            return _narrow_sum(Typed(over(call("sum", tree), "UNBOUNDED"), value.type))
        case "moving_mean":
            # The current row is one of the window, so one less precedes it.
            mean = call("avg", cast(tree, "DOUBLE"))
            return Typed(over(mean, exp.Literal.number(figure.rows - 1)), "number")
        case "share":
            # With an order the window would end at the row, and the total run.
            total = over(call("sum", cast(tree.copy(), "DOUBLE")), ordered=False)
            zero = exp.Literal.number(0)
            share = exp.Div(this=group(tree), expression=call("nullif", total, zero), typed=False, safe=False)
            return Typed(share, "number")
    # Of all rows of the window, whatever their order.
    statistic = _statistic(figure, value)
    return _narrow_sum(statistic._replace(tree=over(statistic.tree, ordered=False)))


def _statistic(figure: p.WindowColumn, value: Typed) -> Typed:
    """Compile a figure of all rows of a window, before its window is added."""
    function, tree = figure.function, value.tree.copy()
    if function in ("sum", "min", "max"):
        return Typed(call(function, tree), value.type)
    arguments = [cast(tree, "DOUBLE")]
    if figure.share is not None:
        arguments.append(exp.Literal.number(repr(figure.share)))
    return Typed(call(_FIGURES[function], *arguments), "number")  # type: ignore[index]


def _window_value(figure: p.WindowColumn, scope: Scope, place: str) -> Typed | None:
    if figure.function in _RANKS:
        return None
    if figure.column is None:
        raise refuse(f"{place}.column", f"{figure.function} needs a column.")
    value = find_column(figure.column, scope, f"{place}.column")[1]
    if figure.function not in ("lag", "lead", "min", "max"):
        _require_numbers(value, f"{place}.column", figure.function)
    return value


def _require_numbers(value: Typed, place: str, function: str) -> None:
    if value.type is not None and value.type not in NUMBERS:
        raise refuse(place, f"{function} needs numbers, not {value.type}.", "type_mismatch")
