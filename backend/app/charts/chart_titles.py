"""Titles of charts from their columns."""

from app.charts.axis_titles import axis_title
from app.charts.encoding import Encoding
from app.plans.plan import Plan
from app.plans.standing_conditions import describe_conditions

MAX_CONDITION_CHARS = 120
"""Characters of the conditions in a title, about a line of it; longer ones are cut."""


def make_title(encoding: Encoding, plan: Plan) -> str:
    """Describe a chart with the conditions of its rows, since it is seen and stored without its plan."""
    conditions = describe_conditions(plan).replace("`", "")
    if len(conditions) > MAX_CONDITION_CHARS:
        conditions = f"{conditions[: MAX_CONDITION_CHARS - 1]}…"
    return f"{describe_chart(encoding)}, where {conditions}" if conditions else describe_chart(encoding)


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
