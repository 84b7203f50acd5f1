"""Titles of charts from their columns."""

from app.charts.axis_titles import axis_title
from app.charts.encoding import Encoding


def describe_chart(encoding: Encoding) -> str:
    """Describe a chart in a few words: "Total revenue by country"."""
    measures = " and ".join(axis_title(name) for name in encoding.y)
    x = _lower(encoding.x)
    match encoding.kind:
        case "histogram":
            text = f"Distribution of {x}"
        case "box":
            text = f"Distribution of {_lower(encoding.y[0])}" + (f" by {x}" if encoding.x else "")
        case "heatmap" if encoding.x is None:
            return "Correlations"
        case "heatmap":
            text = f"{axis_title(encoding.color or '')} by {x} and {_lower(encoding.y[0])}"
        case "scatter":
            text = f"{measures} against {x}"
        case _:
            text = f"{measures} by {x}"
    if encoding.color and encoding.kind not in ("box", "heatmap"):
        text += f" and {_lower(encoding.color)}"
    return text


def _lower(column: str | None) -> str:
    """The title of a column within a sentence; abbreviations keep their capitals."""
    title = axis_title(column or "")
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]
