"""Choice of the columns of a chart by their types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.charts.chart_request import ChartKind, ChartRequest
from app.plans.expressions import ColumnType
from app.plans.schema import refuse, resolve

Schema = Mapping[str, ColumnType]
NUMBERS = ("integer", "number")


@dataclass(frozen=True)
class Encoding:
    """The columns of a chart, as they are spelled in its rows."""

    kind: ChartKind
    x: str | None
    y: Sequence[str]
    color: str | None = None


def choose_encoding(request: ChartRequest, schema: Schema) -> Encoding:
    """Choose the columns that the request leaves open. Raises InvalidInput where none fits."""
    x = _resolve(request.x, schema, "x")
    y = [resolve(name, schema, "column", "y") for name in request.y]
    color = _resolve(request.color, schema, "color")
    if request.kind in ("histogram", "box"):
        return _choose_distribution(request.kind, x, y, color, schema)
    if request.kind == "heatmap":
        return _choose_heatmap(x, y, color, schema)
    rest = [name for name in schema if name not in {x, color, *y}]
    if request.kind == "scatter":
        numbers = [name for name in rest if schema[name] in NUMBERS]
        x = x or _first(numbers, "A scatter chart needs two columns of numbers.")
        y = y or [_first([name for name in numbers if name != x], "A scatter chart needs two numbers.")]
        return Encoding("scatter", x, y, color)
    x = x or _choose_axis(request.kind, rest, schema)
    rest = [name for name in rest if name != x]
    for name in y:
        _require_number(name, schema)
    # One measure: several on one axis are comparable only if somebody asks for them.
    y = y or [name for name in rest if schema[name] in NUMBERS][:1]
    if not y:
        raise refuse("y", f"A {request.kind} chart needs a column of numbers.", "no_measure")
    labels = [name for name in rest if schema[name] in ("text", "boolean") and name not in y]
    # Whoever names the axis has chosen what the chart shows; series are added only to an open request.
    if color is None and len(y) == 1 and labels and request.color is None and request.x is None:
        color = labels[0]
    return Encoding(request.kind, x, y, color)


def _choose_axis(kind: ChartKind, rest: Sequence[str], schema: Schema) -> str:
    """The first time, for bars the first text; else the first column."""
    axis_types = ("datetime", "text", "boolean") if kind != "bar" else ("text", "boolean", "datetime")
    for type_ in axis_types:
        for name in rest:
            if schema[name] == type_:
                return name
    if len(rest) < 2:
        raise refuse("x", f"A {kind} chart needs two columns, one for each axis.", "no_axis")
    return rest[0]


def _choose_distribution(
    kind: ChartKind, x: str | None, y: Sequence[str], color: str | None, schema: Schema
) -> Encoding:
    """A histogram has its column on `x`, a box its measure on `y` and its groups on `x`."""
    if kind == "histogram":
        column = x or (y[0] if y else None) or _first_number(schema)
        return Encoding(kind, column, [], color)
    # A box of `x` alone is meant of that number, whichever axis it was put on.
    measure = y[0] if y else x if x and schema[x] in NUMBERS else _first_number(schema)
    _require_number(measure, schema)
    groups = x if x != measure else None
    return Encoding(kind, groups or color, [measure])


def _choose_heatmap(x: str | None, y: Sequence[str], color: str | None, schema: Schema) -> Encoding:
    """Two columns of labels and a measure; without any of them the correlations of all numbers."""
    if x is None and not y and color is None and not is_matrix(schema):
        return Encoding("heatmap", None, [])
    labels = [name for name in schema if schema[name] not in NUMBERS and name not in {x, color, *y}]
    x = x or _first(labels, "A heatmap needs two columns of labels and a number.")
    rows = y[0] if y else _first([name for name in labels if name != x], "A heatmap needs a second column.")
    numbers = [name for name in schema if schema[name] in NUMBERS and name not in (x, rows)]
    return Encoding("heatmap", x, [rows], color or _first(numbers, "A heatmap needs a column of numbers."))


def is_matrix(schema: Schema) -> bool:
    """Test for two columns of labels with a number, such as the pairs of `correlate`."""
    types = list(schema.values())
    return sum(type_ == "text" for type_ in types) == 2 and any(type_ in NUMBERS for type_ in types)


def _resolve(name: str | None, schema: Schema, place: str) -> str | None:
    return None if name is None else resolve(name, schema, "column", place)


def _first(names: Sequence[str], problem: str) -> str:
    if not names:
        raise refuse("plan", problem, "no_column")
    return names[0]


def _first_number(schema: Schema) -> str:
    return _first(
        [name for name, type_ in schema.items() if type_ in NUMBERS], "The rows have no column of numbers."
    )


def _require_number(name: str, schema: Schema) -> None:
    if schema[name] not in NUMBERS:
        raise refuse("y", f"`{name}` is {schema[name]}, and a measure needs numbers.", "type_mismatch")
