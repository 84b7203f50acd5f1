"""Charts of query plans: their rows as a Vega-Lite specification, drawn to SVG and PNG."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, ValidationError

from app.artifacts.workspace import Workspace
from app.charts import row_plans
from app.charts.chart_request import MAX_MOVING_ROWS, MAX_SERIES, ChartRequest
from app.charts.chart_titles import make_title
from app.charts.drawing_process import ChartRefused
from app.charts.encoding import NUMBERS, Encoding, Schema, choose_encoding
from app.charts.renderer import ChartImages, ChartRenderer
from app.charts.specification import MEDIA_TYPE, ChartRows, make_specification
from app.counts import describe_count
from app.datasets.dataset_source import DatasetRef
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.facts.column_units import find_unit
from app.modeling.facts.conversion import parse_facts
from app.plans.compiler import CompiledPlan, compile_plan
from app.plans.expressions import Name
from app.plans.plan import Plan
from app.plans.schema import TableSchema
from app.sandbox.computation_runner import ComputationResult
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.data.computed_facts import QueryRows, json_object
from app.tools.data.frames import make_artifact

CHART = "chart"
"""Kind of the artifact of a chart, and its name in a conversation."""
MAX_SHOWN_ROWS = 50
"""Rows of a chart in the recorded value; the specification has all."""

ComputeRows = Callable[[str, int], Awaitable[ComputationResult]]
"""Runs a SELECT; the second argument is the number of rows in its facts."""
Column = Annotated[Name | None, Field(description="A column of the plan's rows; left out, it is chosen.")]
"""An argument of the tools that draw, as the next two are."""
Measures = Annotated[list[Name], Field(max_length=MAX_SERIES, description="Measures.")]
MovingAverage = Annotated[
    int | None, Field(ge=2, le=MAX_MOVING_ROWS, description="Rows of a mean beside a line.")
]


def make_request(**fields: Any) -> ChartRequest:
    """Make a request of checked fields. Raises InvalidInput for those that do not go together."""
    try:
        return ChartRequest(**fields)
    except ValidationError as error:
        raise InvalidInput("chart_invalid", error.errors(include_url=False)[0]["msg"]) from error


def list_units(refs: Iterable[DatasetRef]) -> dict[str, str]:
    """Return the units of columns by their names, where cells or names have one."""
    return {
        str(column["name"]): unit.text
        for ref in refs
        for column in ref.columns
        if (unit := find_unit(str(column["name"]), ref.reading)) is not None
    }


@dataclass(frozen=True)
class _ComputedRows:
    """The rows of a chart, the query that they come from, and the file with all of them."""

    rows: ChartRows
    query: CompiledPlan
    computed: ComputationResult


@dataclass(frozen=True)
class ChartDrawing:
    """Draws charts over tables. `renderer`: None keeps specifications only."""

    schemas: Mapping[str, TableSchema]
    units: Mapping[str, str]
    compute: ComputeRows
    files: Workspace
    renderer: ChartRenderer | None

    async def draw(self, request: ChartRequest, name: str) -> CallResult:
        """Compute the rows of a chart and draw them. Raises InvalidInput with the column that does not fit.

        `name`: of its artifact, without extension. Where drawing is not possible, the chart is kept as its
        specification, and its value says why.
        """
        return (await self.draw_images(request, name))[0]

    async def draw_images(self, request: ChartRequest, name: str) -> tuple[CallResult, ChartImages | None]:
        """Draw a chart as `draw` does; also return its images, None where drawing is not possible."""
        schema = compile_plan(request.plan, self.schemas).columns
        encoding = choose_encoding(request, schema)
        computed = await _Rows(self, request).compute(encoding, schema)
        title = request.title or make_title(encoding, request.plan)
        specification = make_specification(encoding, computed.rows, title)
        return await self._store(request, encoding, computed, specification, name)

    async def _store(
        self,
        request: ChartRequest,
        encoding: Encoding,
        computed: _ComputedRows,
        specification: Mapping[str, Any],
        name: str,
    ) -> tuple[CallResult, ChartImages | None]:
        """Store specification and drawings, and describe them."""
        facts = parse_facts(QueryRows, computed.computed.value)
        images, problem = await self._render(specification)
        # Python would write NaN, which is no JSON and which no reader of Vega takes.
        content = json.dumps(specification, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        blob = await self.files.put(content)
        meta: dict[str, JsonValue] = {
            "title": str(specification["title"]),
            "chart_kind": encoding.kind,
            "rows": facts.row_count,
            "request": request.model_dump(mode="json", exclude_none=True),
            "sql": computed.query.sql,
        }
        if images is not None:
            meta["svg"] = (await self.files.put(images.svg)).digest
            meta["png"] = (await self.files.put(images.png)).digest
        else:
            meta["problem"] = problem
        chart = ArtifactDraft(CHART, f"{name}.vl.json", MEDIA_TYPE, blob.digest, blob.size_bytes, meta)
        table = computed.computed.file("result.parquet")
        source = {"rows": facts.row_count, "columns": facts.columns, "source": {"sql": computed.query.sql}}
        value: dict[str, JsonValue] = {
            "kind": encoding.kind,
            "title": str(specification["title"]),
            "chart": blob.digest,
            **({"problem": problem} if images is None else {}),
            **_shown_rows(computed.computed),
            "sql": computed.query.sql,
            "digest": table.digest,
        }
        summary = f"A {encoding.kind} chart of {describe_count(facts.row_count, 'row')}." + (
            f" {problem}" if images is None else ""
        )
        return CallResult(value, summary, [make_artifact(table, "table", "table", source), chart]), images

    async def _render(self, specification: Mapping[str, Any]) -> tuple[ChartImages | None, str]:
        if self.renderer is None:
            return None, "This process draws no charts."
        try:
            return await self.renderer.draw(specification), ""
        # The specification is kept, and pages draw it themselves; only files lack.
        except ChartRefused as refused:
            return None, str(refused)


@dataclass(frozen=True)
class _Rows:
    """The rows of one request."""

    drawing: ChartDrawing
    request: ChartRequest

    async def compute(self, encoding: Encoding, schema: Schema) -> _ComputedRows:
        if encoding.kind == "histogram" and encoding.x is not None:
            return await self._compute_histogram(encoding, encoding.x, schema)
        plan = row_plans.make_rows_plan(self.request, encoding, schema)
        rows = await self._compute(plan)
        # Two rows of one bar would be drawn over or stacked on each other without a word: their total is drawn.
        if encoding.kind in ("bar", "line", "area") and _has_shared_places(rows, encoding):
            totals = row_plans.make_totals_plan(self.request.plan, encoding)
            request = self.request.model_copy(update={"plan": totals})
            rows = await self._compute(row_plans.make_rows_plan(request, encoding, schema))
        return rows

    async def _compute_histogram(self, encoding: Encoding, column: str, schema: Schema) -> _ComputedRows:
        plan, type_ = self.request.plan, schema[column]
        if type_ not in NUMBERS:
            days = await self._count_days(plan, column) if type_ == "datetime" else 0.0
            return await self._compute(row_plans.make_counts_plan(plan, column, type_, days))
        # A query before the one that counts, since the width of bins depends on the spread of the values.
        ranges = await self._compute(row_plans.make_range_plan(plan, column))
        figures = [*ranges.rows.rows[0].values()]
        width = row_plans.choose_bin_width(figures, type_ == "integer")
        return await self._compute(row_plans.make_bins_plan(plan, column, width, encoding.color), width)

    async def _count_days(self, plan: Plan, column: str) -> float:
        spans = await self._compute(row_plans.make_span_plan(plan, column))
        return float(spans.rows.rows[0]["days"] or 0)

    async def _compute(self, plan: Plan, bin_width: float | None = None) -> _ComputedRows:
        query = compile_plan(plan, self.drawing.schemas)
        computed = await self.drawing.compute(query.sql, row_plans.MAX_ROWS)
        names = list(query.columns)
        value: Any = json_object(computed)
        rows = [dict(zip(names, row, strict=True)) for row in value["rows"]]
        chart_rows = ChartRows(rows, query.columns, bin_width, self.drawing.units, self.request.moving_average)
        return _ComputedRows(chart_rows, query, computed)


def _has_shared_places(computed: _ComputedRows, encoding: Encoding) -> bool:
    """Test for two rows of one bar or of one point of a line."""
    places = [(row.get(encoding.x or ""), row.get(encoding.color or "")) for row in computed.rows.rows]
    return len(set(places)) < len(places)


def _shown_rows(computed: ComputationResult) -> dict[str, JsonValue]:
    value = json_object(computed)
    rows = value["rows"]
    first_rows: Sequence[JsonValue] = rows[:MAX_SHOWN_ROWS] if isinstance(rows, list) else []
    return {
        "columns": value["columns"],
        "rows": [*first_rows],
        "row_count": value["row_count"],
        "truncated": isinstance(value["row_count"], int) and value["row_count"] > len(first_rows),
    }
