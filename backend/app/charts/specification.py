"""Vega-Lite specifications of charts, with their rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.charts.axis_titles import axis_title
from app.charts.encoding import Encoding, Schema
from app.charts.row_plans import BIN_DIGITS, COUNT, bin_name, moving_name
from app.charts.time_labels import bar_unit, time_labels
from app.charts.turning_characters import show_turning

MEDIA_TYPE = "application/vnd.vegalite.v6+json"
WIDTH, HEIGHT = 640, 360
"""Pixels of a chart without a fixed size of its marks: a column of text on common screens."""
_ROW_HEIGHT = 22
"""Pixels of a horizontal bar, a line of text with air."""
_CELL = 44
"""Pixels of a cell of a heatmap, so that a number with a sign fits in."""
MAX_UPRIGHT_BARS = 12
"""Upright bars; more of them, or long labels, lie so that labels are read without turning."""
MAX_UPRIGHT_CHARS = 10
"""Characters of a label below an upright bar: more would overlap the next one."""
MAX_LABELLED_CELLS = 144
"""Cells of a heatmap that show their number."""
_MAX_GROUPED_COLORS = 4
"""Colours of bars that stand side by side; more are stacked."""
_ACCENT = "#2f6fbb"
_PALETTE = ["#2f6fbb", "#e1812c", "#3a923a", "#c03d3e", "#8e6bbf", "#845b53", "#d684bd", "#7f7f7f"]
_INK, _FAINT = "#333333", "#e4e4e4"
CONFIG: Mapping[str, Any] = {
    "background": "white",
    "font": "system-ui, 'Helvetica Neue', Arial, sans-serif",
    "view": {"stroke": None},
    "range": {"category": _PALETTE},
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "domainColor": "#b0b0b0",
        "tickColor": "#b0b0b0",
        "gridColor": _FAINT,
        "labelLimit": 220,
    },
    "legend": {"labelColor": _INK, "titleColor": _INK, "titleFontWeight": "normal", "symbolLimit": 20},
    "title": {"color": _INK, "fontSize": 14, "fontWeight": 600, "anchor": "start", "offset": 14},
}
Spec = dict[str, Any]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class ChartRows:
    """The rows of a chart with the types of their columns. `bin_width`: of a histogram of numbers.

    `units`: units of columns, where cells or names have one. `moving_average`: rows of the mean beside a line.
    """

    rows: Sequence[Row]
    schema: Schema
    bin_width: float | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    moving_average: int | None = None


def make_specification(encoding: Encoding, chart_rows: ChartRows, title: str) -> Spec:
    """Make the Vega-Lite specification of a chart."""
    parts = _KINDS[encoding.kind](_Chart(encoding, chart_rows))
    rows = parts.pop("rows")
    drawing: Spec = show_turning({"title": title, "datasets": {"rows": rows}, **parts})
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "config": dict(CONFIG),
        "data": {"name": "rows"},
        **drawing,
    }


_TYPES = {"datetime": "temporal", "integer": "quantitative", "number": "quantitative"}
"""Types of Vega-Lite by those of columns; others are names."""


class _Chart:
    """Fields of a chart. Names that Vega would take apart, such as `a.b`, are replaced."""

    def __init__(self, encoding: Encoding, chart_rows: ChartRows) -> None:
        self.encoding, self.chart_rows = encoding, chart_rows
        self._fields = {
            name: name if name.isidentifier() else f"c{n}" for n, name in enumerate(chart_rows.schema)
        }

    def name(self, column: str) -> str:
        return self._fields[column]

    def title(self, column: str) -> str:
        return axis_title(column, self.chart_rows.units.get(column, ""))

    def type(self, column: str) -> str:
        return _TYPES.get(self.chart_rows.schema[column], "nominal")

    def channel(self, column: str, type_: str | None = None, **more: Any) -> Spec:
        channel: Spec = {
            "field": self.name(column),
            "type": type_ or self.type(column),
            "title": self.title(column),
        }
        if channel["type"] == "temporal":
            labels = time_labels(row.get(column) for row in self.chart_rows.rows)
            channel["axis"] = {"labelOverlap": "greedy", "labelSeparation": 8, **labels}
        return {**channel, **more}

    def rows(self) -> list[Spec]:
        """The rows under the names of fields. Times are ISO without zone, which every reader takes as local."""
        return [
            {
                self.name(column): _cell(row.get(column), self.chart_rows.schema[column])
                for column in self.chart_rows.schema
            }
            for row in self.chart_rows.rows
        ]

    def tooltip(self) -> list[Spec]:
        return [self.channel(column) for column in self.chart_rows.schema]


def _cell(value: Any, type_: str) -> Any:
    if value is None or type_ != "datetime":
        return str(value) if isinstance(value, bool) else value
    text = str(value)
    return text if "T" in text else f"{text}T00:00:00"


def _bar(chart: _Chart) -> Spec:
    encoding = chart.encoding
    x = encoding.x or ""
    if chart.type(x) == "temporal":
        unit = bar_unit(row.get(x) for row in chart.chart_rows.rows)
        # With its unit a bar is as wide as its period; without one it is a line of five pixels.
        across = chart.channel(x, timeUnit=unit) if unit else chart.channel(x)
        return {**_size(), **_fold(chart, _bar_mark(), across)}
    labels = [str(row.get(x)) for row in chart.chart_rows.rows]
    categories = list(dict.fromkeys(labels))
    is_upright = len(categories) <= MAX_UPRIGHT_BARS and all(len(c) <= MAX_UPRIGHT_CHARS for c in categories)
    # `sort: null` keeps the order of the rows: that of a ranking, or the greatest first.
    axis = chart.channel(x, "nominal", sort=None, axis={"labelAngle": 0} if is_upright else {})
    parts = _fold(chart, _bar_mark(), axis)
    if is_upright:
        return {"width": WIDTH, "height": HEIGHT, **parts}
    channels = parts["encoding"]
    channels["x"], channels["y"] = channels["y"], channels["x"]
    if "xOffset" in channels:
        channels["yOffset"] = channels.pop("xOffset")
    # Bars of one category lie beside each other: one for each measure, or for each colour.
    color = encoding.color if "yOffset" in channels else None
    colors = {row.get(color) for row in chart.chart_rows.rows} if color else {None}
    bars = len(categories) * max(len(encoding.y), len(colors))
    return {"width": WIDTH, "height": max(4, bars) * _ROW_HEIGHT, **parts}


def _bar_mark() -> Spec:
    return {"type": "bar", "cornerRadiusEnd": 2, "tooltip": True}


def _size() -> Spec:
    return {"width": WIDTH, "height": HEIGHT}


def _fold(chart: _Chart, mark: Spec, x: Spec) -> Spec:
    """Encode one measure, or several as colours."""
    encoding = chart.encoding
    if len(encoding.y) > 1:
        names = [chart.name(column) for column in encoding.y]
        rows = [
            {**row, "measure": chart.title(column), "value": row[chart.name(column)]}
            for row in chart.rows()
            for column in encoding.y
        ]
        rows = [{name: value for name, value in row.items() if name not in names} for row in rows]
        color = {"field": "measure", "type": "nominal", "title": None}
        y = {"field": "value", "type": "quantitative", "title": None}
        offset = {"xOffset": {"field": "measure"}} if mark["type"] == "bar" else {}
        return {"rows": rows, "mark": mark, "encoding": {"x": x, "y": y, "color": color, **offset}}
    channels: Spec = {"x": x, "y": chart.channel(encoding.y[0])}
    if encoding.color is None:
        return {"rows": chart.rows(), "mark": {**mark, "color": _ACCENT}, "encoding": channels}
    channels["color"] = chart.channel(encoding.color, "nominal")
    colors = {row.get(encoding.color) for row in chart.chart_rows.rows}
    if mark["type"] == "bar" and len(colors) <= _MAX_GROUPED_COLORS:
        channels["xOffset"] = {"field": chart.name(encoding.color), "type": "nominal"}
    return {"rows": chart.rows(), "mark": mark, "encoding": channels}


def _line(chart: _Chart) -> Spec:
    encoding, rows = chart.encoding, chart.chart_rows
    x = chart.channel(encoding.x or "")
    if x["type"] == "nominal":
        x["sort"] = None
    if encoding.kind == "area":
        return {**_size(), **_fold(chart, {"type": "area", "opacity": 0.7, "line": True, "tooltip": True}, x)}
    # Up to 60 points are ten pixels apart, so each can be seen.
    is_short = len(rows.rows) <= 60
    mark = {"type": "line", "strokeWidth": 2, "point": is_short, "tooltip": True}
    if rows.moving_average is None:
        parts = _fold(chart, mark, x)
        _free_scale(parts)
        return {**_size(), **parts}
    mean = moving_name(encoding.y[0], rows.moving_average)
    thin = {"type": "line", "strokeWidth": 1, "opacity": 0.45, "tooltip": True}
    thick = {"type": "line", "strokeWidth": 2.5, "tooltip": True}
    measure = chart.title(encoding.y[0])
    names = {encoding.y[0]: measure, mean: f"Mean of {rows.moving_average}"}
    layers = []
    for line, (column, label) in zip((thin, thick), names.items(), strict=True):
        color: Spec = (
            chart.channel(encoding.color, "nominal")
            if encoding.color
            else {"datum": label, "type": "nominal", "title": None}
        )
        y = {**chart.channel(column), "title": measure, "scale": {"zero": False}}
        layers.append({"mark": line, "encoding": {"x": x, "y": y, "color": color}})
    return {**_size(), "rows": chart.rows(), "layer": layers}


def _free_scale(parts: Spec) -> None:
    """Let the measure of a line begin where its values do: a level is read by its changes."""
    parts["encoding"]["y"]["scale"] = {"zero": False}


def _scatter(chart: _Chart) -> Spec:
    encoding = chart.encoding
    # Many points are drawn smaller, so that they hide less of each other.
    size = 40 if len(chart.chart_rows.rows) <= 300 else 16
    mark = {"type": "point", "filled": True, "opacity": 0.6, "size": size, "tooltip": True}
    x = chart.channel(encoding.x or "")
    if x["type"] == "quantitative":
        x["scale"] = {"zero": False}
    parts = _fold(chart, mark, x)
    _free_scale(parts)
    return {**_size(), **parts}


def _histogram(chart: _Chart) -> Spec:
    encoding, chart_rows = chart.encoding, chart.chart_rows
    column = encoding.x or ""
    width = chart_rows.bin_width
    if width is None:
        bars = _Chart(Encoding("bar", column, [COUNT]), chart_rows)
        parts = _bar(bars)
        for channel in parts["encoding"].values():
            if channel.get("field") == bars.name(COUNT):
                channel["title"] = "Rows"
        return parts
    count = {"field": COUNT, "type": "quantitative", "title": "Rows", "stack": "zero"}
    color = {} if encoding.color is None else {"color": chart.channel(encoding.color, "nominal")}
    rows = [
        {
            "low": row[bin_name(column)],
            "high": round(row[bin_name(column)] + width, BIN_DIGITS),
            COUNT: row[COUNT],
            **({chart.name(encoding.color): row[encoding.color]} if encoding.color else {}),
        }
        for row in chart_rows.rows
    ]
    bins = {
        "field": "low",
        "bin": {"binned": True, "step": width},
        "title": axis_title(column, chart_rows.units.get(column, "")),
        "type": "quantitative",
    }
    mark = {"type": "bar", "tooltip": True, "color": _ACCENT, "binSpacing": 1}
    encodings = {"x": bins, "x2": {"field": "high"}, "y": count, **color}
    return {**_size(), "rows": rows, "mark": mark, "encoding": encodings}


def _box(chart: _Chart) -> Spec:
    """Boxes lie on their side: labels of groups are read without turning."""
    group = next(iter(chart.chart_rows.schema))
    measure = axis_title(chart.encoding.y[0], chart.chart_rows.units.get(chart.encoding.y[0], ""))
    title = chart.title(group) if chart.encoding.x else None
    y: Spec = {"field": chart.name(group), "type": "nominal", "title": title, "sort": None}
    if chart.encoding.x is None:
        y["axis"] = None
    tooltip = chart.tooltip()

    def value(name: str) -> Spec:
        return {"field": name, "type": "quantitative", "title": measure, "scale": {"zero": False}}

    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "color": "#777777"},
            "encoding": {"y": y, "x": value("low"), "x2": {"field": "high"}, "tooltip": tooltip},
        },
        {
            "mark": {"type": "bar", "size": 14, "color": _ACCENT, "opacity": 0.75},
            "encoding": {"y": y, "x": value("q1"), "x2": {"field": "q3"}, "tooltip": tooltip},
        },
        {
            "mark": {"type": "tick", "color": "white", "size": 14, "thickness": 2},
            "encoding": {"y": y, "x": value("median"), "tooltip": tooltip},
        },
    ]
    height = max(3, len(chart.chart_rows.rows)) * (_ROW_HEIGHT + 6)
    return {"width": WIDTH, "height": height, "rows": chart.rows(), "layer": layers}


def _heatmap(chart: _Chart) -> Spec:
    encoding = chart.encoding
    if encoding.x is None:
        return _correlations(chart.chart_rows)
    color = encoding.color or ""
    across = {row.get(encoding.x) for row in chart.chart_rows.rows}
    down = {row.get(encoding.y[0]) for row in chart.chart_rows.rows}
    scheme = {
        "field": chart.name(color),
        "type": "quantitative",
        "title": chart.title(color),
        "scale": {"scheme": "blues"},
    }
    axes = {
        "x": chart.channel(encoding.x, "ordinal" if chart.type(encoding.x) == "quantitative" else None),
        "y": chart.channel(encoding.y[0], "ordinal" if chart.type(encoding.y[0]) == "quantitative" else None),
    }
    # Cells have equal width, so moments are labels here and not places on an axis of time.
    for axis in axes.values():
        if axis["type"] == "temporal":
            axis["type"] = "ordinal"
    return _cells(axes, scheme, chart.rows(), (len(across), len(down)), chart.name(color), ".3~s")


def _correlations(chart_rows: ChartRows) -> Spec:
    """The whole matrix from its pairs: both halves and the diagonal."""
    names = list(
        dict.fromkeys([*(row["first"] for row in chart_rows.rows), *(row["second"] for row in chart_rows.rows)])
    )
    of = {(row["first"], row["second"]): row["correlation"] for row in chart_rows.rows}
    rows = [
        {"first": a, "second": b, "correlation": 1.0 if a == b else of.get((a, b), of.get((b, a)))}
        for a in names
        for b in names
    ]
    axes = {
        side: {"field": side, "type": "nominal", "title": None, "sort": names} for side in ("first", "second")
    }
    channels = {"x": axes["first"], "y": axes["second"]}
    color = {
        "field": "correlation",
        "type": "quantitative",
        "title": "Correlation",
        # A fixed range, so that a colour means the same correlation in every chart.
        "scale": {"scheme": "redblue", "domain": [-1, 1]},
    }
    return _cells(channels, color, rows, (len(names), len(names)), "correlation", ".2f")


def _cells(axes: Spec, color: Spec, rows: list[Spec], size: tuple[int, int], field_: str, format_: str) -> Spec:
    """Cells of a heatmap, with their numbers where there are few."""
    layers: list[Spec] = [
        {"mark": {"type": "rect", "tooltip": True}, "encoding": {**axes, "color": color}},
    ]
    if size[0] * size[1] <= MAX_LABELLED_CELLS:
        values = [row[field_] for row in rows if row[field_] is not None]
        low, high = (-1.0, 1.0) if field_ == "correlation" else (min(values, default=0), max(values, default=0))
        # In the darker third of the scheme, dark text could not be read.
        dark = f"datum[{field_!r}] > {low + 0.65 * (high - low)!r}"
        if field_ == "correlation":
            dark = f"abs(datum[{field_!r}]) > 0.6"
        layers.append(
            {
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {
                    **axes,
                    "text": {"field": field_, "type": "quantitative", "format": format_},
                    "color": {"condition": {"test": dark, "value": "white"}, "value": _INK},
                },
            }
        )
    # Fourteen cells of 44 pixels fit into the width of other charts; more have to shrink.
    width, height = (max(6, side) * _CELL if side <= 14 else WIDTH for side in size)
    return {"width": width, "height": height, "rows": rows, "layer": layers}


_KINDS: Mapping[str, Callable[[_Chart], Spec]] = {
    "bar": _bar,
    "line": _line,
    "area": _line,
    "scatter": _scatter,
    "histogram": _histogram,
    "box": _box,
    "heatmap": _heatmap,
}
