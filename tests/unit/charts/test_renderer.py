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


async def test_a_chart_without_end_is_ended_by_its_processor_time_and_the_next_is_drawn(
    renderer: ChartRenderer,
) -> None:
    # A pattern that backtracks for ever, in an expression of the specification.
    endless = {"calculate": "test(regexp('(a+)+$'), pad('', 60, 'a') + 'b')", "as": "b"}
    await renderer.draw(bars())  # The first chart of a child may take longer, since it starts the engine.
    with pytest.raises(ChartRefused, match="took longer than"):
        await renderer.draw(bars(transform=[endless]))
    assert (await renderer.draw(bars())).png.startswith(b"\x89PNG")
