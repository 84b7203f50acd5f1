"""The page and the drawing process draw the same charts, with the same minor version of Vega-Lite."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import duckdb
import pytest
from tests.chromium import NODE, ROOT
from tests.patience import HANG_GUARD_S

from app.charts.chart_request import ChartKind
from app.charts.drawing_process import VEGA_LITE
from app.charts.renderer import ChartImages, ChartRenderer
from app.plans.compiler import TableSchema
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Usage
from app.sandbox.outputs.storage import StoredFile
from app.storage.blobs import Blob
from app.tools.queries.chart_drawing import ChartDrawing, make_request

PAGE = ROOT / "frontend"
ORDERS = """
create table orders as select date '2024-01-01' + i::int as day,
  ['north', 'south', 'west'][1 + i % 3] as region, ['phone', 'web'][1 + i % 2] as channel,
  10.0 + i * 7 % 41 as revenue, 3 + i * 5 % 17 as cost
from range(60) as t(i)
"""
SCHEMA: TableSchema = {
    "day": "datetime",
    "region": "text",
    "channel": "text",
    "revenue": "number",
    "cost": "integer",
}
REQUESTS: list[dict[str, Any]] = [
    {"kind": "bar", "x": "region", "y": ["revenue"]},
    {"kind": "bar", "x": "region", "y": ["revenue"], "color": "channel"},
    {"kind": "line", "x": "day", "y": ["revenue"], "moving_average": 7},
    {"kind": "area", "x": "day", "y": ["revenue"]},
    {"kind": "scatter", "x": "cost", "y": ["revenue"], "color": "region"},
    {"kind": "histogram", "x": "revenue"},
    {"kind": "histogram", "x": "day"},
    {"kind": "box", "x": "region", "y": ["revenue"]},
    {"kind": "heatmap"},
]


@dataclass
class _Files:
    """Keeps nothing: only the drawings are looked at."""

    async def put(self, data: bytes) -> Blob:
        return Blob(sha256(data).hexdigest(), len(data))


@dataclass
class _RecordingRenderer:
    renderer: ChartRenderer
    specifications: list[Mapping[str, Any]] = field(default_factory=list)
    drawings: list[str] = field(default_factory=list)

    async def draw(self, specification: Mapping[str, Any]) -> ChartImages:
        self.specifications.append(specification)
        images = await self.renderer.draw(specification)
        self.drawings.append(images.svg.decode())
        return images


async def _compute(sql: str, rows: int) -> ComputationResult:
    with duckdb.connect() as database:
        database.execute(ORDERS)
        result = database.execute(sql)
        columns = [{"name": column[0], "type": "text"} for column in result.description]
        values = json.loads(json.dumps(result.fetchmany(rows), default=str))
    value = {"columns": columns, "rows": values, "row_count": len(values)}
    file = StoredFile("result.parquet", "0" * 64, 1, "application/vnd.apache.parquet")
    return ComputationResult(value, (file,), Usage(0, 0, 0))


def test_the_page_has_the_minor_version_that_charts_are_made_for() -> None:
    package = json.loads((PAGE / "package.json").read_text())["dependencies"]["vega-lite"]
    assert package.split(".")[:2] == VEGA_LITE.split(".")


@pytest.mark.skipif(
    not (NODE.exists() and (PAGE / "node_modules" / "vega-lite").exists()),
    reason="the page's packages are not installed",
)
async def test_each_kind_of_chart_has_the_same_marks_in_the_page(tmp_path: Path) -> None:
    assert {request["kind"] for request in REQUESTS} == set(get_args(ChartKind))
    renderer = _RecordingRenderer(ChartRenderer())
    drawing = ChartDrawing({"orders": SCHEMA}, {}, _compute, _Files(), renderer)  # type: ignore[arg-type]
    try:
        for request in REQUESTS:
            plan = {"source": {"kind": "dataset", "table": "orders"}, "steps": []}
            drawn = await drawing.draw(make_request(plan=plan, **request), "chart")
            assert "problem" not in drawn.value  # type: ignore[operator]
    finally:
        await renderer.renderer.close()
    in_page = _draw_in_page(renderer.specifications, tmp_path)
    for request, by_service, by_page in zip(REQUESTS, renderer.drawings, in_page["drawings"], strict=True):
        marks = _count_marks(by_service)
        assert sum(marks.values()) > 0
        assert (request, _count_marks(by_page)) == (request, marks)
    assert in_page["version"].split(".")[:2] == VEGA_LITE.split(".")


def _draw_in_page(specifications: list[Mapping[str, Any]], folder: Path) -> dict[str, Any]:
    file = folder / "specifications.json"
    file.write_text(json.dumps(specifications))
    code = (Path(__file__).parent / "draw_in_page.mjs").read_text()
    command = [NODE, "--input-type=module", "-e", code, file]
    done = subprocess.run(command, cwd=PAGE, capture_output=True, text=True, timeout=HANG_GUARD_S)
    assert done.returncode == 0, done.stderr
    drawings: dict[str, Any] = json.loads(done.stdout)
    return drawings


def _count_marks(svg: str) -> dict[str, int]:
    """Count the marks of a drawing by what a screen reader calls them."""
    names = re.findall(r'role="graphics-symbol" aria-roledescription="([^"]+)"', svg)
    return {name: names.count(name) for name in names}
