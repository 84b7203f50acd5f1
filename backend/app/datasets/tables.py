"""Rows and figures of stored tables, read in cells that stay for the next request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from app.datasets.schemas import PreviewView
from app.datasets.table_requests import (
    TableAggregateRequest,
    TableExportRequest,
    TableQuery,
    TableSummaryRequest,
)
from app.datasets.table_views import TableAggregateView, TableSummaryView
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits
from app.sandbox.outputs.storage import StoredFile

_SEPARATORS: Mapping[str, str] = {"comma": ",", "tab": "\t"}
CSV_FILE = "table.csv"
"""As `computations.tables.table_csv` names it, which only cells import."""

_VIEW_LIMITS = Limits(time_s=60.0, disk_bytes=4 << 30, threads=2)
"""Limits of one page or figure: ten times what it takes to sort 5 million rows by text, with their spill."""


@dataclass(frozen=True)
class TableReader:
    """Reads tables of one owner, each by the digest of its Parquet file.

    Pages have one warm cell, which keeps orders of rows; summaries and aggregates have others, so that rows
    come while a summary is computed. All raise InvalidInput for unknown columns and TooLarge for tables that
    are too large for them.
    """

    owner: UUID
    computer: ComputationRunner

    async def read_page(self, digest: str, query: TableQuery) -> PreviewView:
        return PreviewView.model_validate(
            await self._run("tables.table_rows.read_page", digest, query.to_cell())
        )

    async def summarize(self, digest: str, request: TableSummaryRequest) -> TableSummaryView:
        summary = await self._run("tables.table_summary.summarize", digest, request.to_cell())
        return TableSummaryView.model_validate(summary)

    async def aggregate(self, digest: str, request: TableAggregateRequest) -> TableAggregateView:
        figures = await self._run("tables.table_aggregate.aggregate", digest, request.to_cell())
        return TableAggregateView.model_validate(figures)

    async def write_csv(self, digest: str, export: TableExportRequest) -> StoredFile:
        """Write all rows as delimited text. It is no artifact, and goes with unnamed blobs."""
        work = Computation("tables.table_csv.write_csv", {"separator": _SEPARATORS[export.separator]})
        return (await self.computer.run(work, {"table": digest}, _VIEW_LIMITS)).file(CSV_FILE)

    async def _run(self, function: str, digest: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        # For one owner: a cell that stays must never hold the rows of two.
        work = Computation(function, parameters, warm_for=str(self.owner))
        computed = await self.computer.run(work, {"table": digest}, _VIEW_LIMITS)
        return cast(dict[str, Any], computed.value)
