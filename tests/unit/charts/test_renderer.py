"""The drawing process: it draws, ends charts at their limits, and reaches neither network nor files."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from app.charts.drawing_process import ChartRefused
from app.charts.renderer import ChartRenderer


def bars(**changes: Any) -> Mapping[str, Any]:
    return {
        "data": {"values": [{"a": "x", "b": 2}, {"a": "y", "b": 3}]},
        "mark": "bar",
        "encoding": {"x": {"field": "a", "type": "nominal"}, "y": {"field": "b", "type": "quantitative"}},
        **changes,
    }


@pytest.fixture
async def renderer() -> AsyncIterator[ChartRenderer]:
    renderer = ChartRenderer()
    yield renderer
    await renderer.close()


async def test_charts_are_drawn_and_the_process_outlives_a_refused_one(renderer: ChartRenderer) -> None:
    images = await renderer.draw(bars())
    assert images.png.startswith(b"\x89PNG")
    assert images.svg.startswith(b"<svg")
    with pytest.raises(ChartRefused, match="could not be drawn"):
        await renderer.draw({"mark": "nothing"})
    assert (await renderer.draw(bars())).svg == images.svg
    # A file of the host, by an address that the engine itself would read.
    hidden = await renderer.draw(bars(data={"url": "file:///etc/hostname", "format": {"type": "csv"}}))
    assert len(hidden.svg) < len(images.svg)
