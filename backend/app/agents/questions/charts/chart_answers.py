"""The figures that answer a question for a chart: those that it shows, or a summary of its rows."""

from collections.abc import Sequence

from app.charts import row_plans
from app.charts.chart_request import ChartRequest
from app.charts.encoding import NUMBERS, Encoding, Schema, choose_encoding
from app.plans import build
from app.plans.plan import Aggregation, FilterStep, Plan


def plan_figures(request: ChartRequest, schema: Schema) -> Plan:
    """Plan the figures of a chart. `schema`: columns of its plan. Raises InvalidInput where none of them fits.

    Bins of a histogram and boxes depend on cells that only the drawing reads: their answer is a summary.
    """
    encoding, plan = choose_encoding(request, schema), request.plan
    match encoding.kind:
        case "histogram" | "box":
            return _summarise_column(request, encoding, schema)
        case "scatter":
            return _relate_columns(plan, encoding, schema)
        case "heatmap" if encoding.x is None:
            return row_plans.make_rows_plan(request, encoding, schema)
        case "bar" | "line" | "area" if all(isinstance(step, FilterStep) for step in plan.steps):
            return row_plans.make_totals_plan(plan, encoding)
    return plan


def _summarise_column(request: ChartRequest, encoding: Encoding, schema: Schema) -> Plan:
    is_box = encoding.kind == "box"
    name = encoding.y[0] if is_box else encoding.x
    group = encoding.x if is_box else encoding.color
    if name is None:
        return request.plan
    # A text has no quartiles: its answer is the number of rows of each value.
    if schema[name] in ("text", "boolean") and group is None:
        return row_plans.make_counts_plan(request.plan, name, schema[name], 0.0)
    figures = _summarise_numbers(name) if schema[name] in NUMBERS else _summarise_times(name)
    keys = [group] if group is not None else []
    order = [build.sort((group, False))] if group is not None else []
    return row_plans.extend(request.plan, build.group(keys, figures), *order)


def _summarise_numbers(name: str) -> list[Aggregation]:
    """The figures of a box, the median first: it stands for its group in a sentence."""
    return [
        Aggregation(name=f"median {name}", function="median", column=name),
        Aggregation(name=f"mean {name}", function="mean", column=name),
        Aggregation(name=f"lowest {name}", function="min", column=name),
        Aggregation(name=f"lower quartile of {name}", function="quantile", column=name, share=0.25),
        Aggregation(name=f"upper quartile of {name}", function="quantile", column=name, share=0.75),
        Aggregation(name=f"highest {name}", function="max", column=name),
        _count_values(name),
    ]


def _summarise_times(name: str) -> list[Aggregation]:
    return [
        Aggregation(name=f"first {name}", function="min", column=name),
        Aggregation(name=f"last {name}", function="max", column=name),
        _count_values(name),
    ]


def _count_values(name: str) -> Aggregation:
    return Aggregation(name=f"number of rows with {name}", function="count", column=name)


def _relate_columns(plan: Plan, encoding: Encoding, schema: Schema) -> Plan:
    """The correlation of a cloud of points; the summary of the measure along anything but numbers."""
    x, y = encoding.x, encoding.y[0]
    figures: Sequence[Aggregation] = _summarise_numbers(y)
    if x is not None and schema[x] in NUMBERS:
        correlation = f"correlation of {x} and {y}"
        figures = [Aggregation(name=correlation, function="correlation", column=x, other=y), _count_values(y)]
    keys = [encoding.color] if encoding.color is not None else []
    return row_plans.extend(plan, build.group(keys, figures))
