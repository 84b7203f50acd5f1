"""Draw figures from facts that were recorded before."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.computations.bench import Bench, JsonValue
from app.reporting.figures.drawing import draw as draw_figure
from app.reporting.figures.drawing import leave


def draw(bench: Bench, figures: Sequence[Mapping[str, Any]]) -> JsonValue:
    """`figures`: `[{"name", "kind", "facts"}]`; leaves `<name>.svg` and `<name>.png` of each.

    Returns `{"figures": [{"name", "kind", "svg", "png"}]}`. Raises InvalidInput for an unknown kind.
    """
    drawn: list[JsonValue] = []
    for place, figure in enumerate(figures):
        bench.report(place / len(figures), str(figure["name"]))
        svg, png = leave(bench.output, str(figure["name"]), draw_figure(str(figure["kind"]), figure["facts"]))
        drawn.append({"name": figure["name"], "kind": figure["kind"], "svg": svg, "png": png})
    return {"figures": drawn}
