"""Price bars in Postgres from one user's view: import, list, statistics, fetch, deletion."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from app.computations.bars.interval import interval_seconds
from app.datasets import price_queries as queries
from app.datasets.crashing_files import refuse_unreadable_files
from app.datasets.price_loading import (
    MAX_STATEMENT_S,
    PriceImport,
    ReportText,
    ValidatedSeries,
    read_batch_header,
    summarize_series,
)
from app.datasets.price_series import PriceSeries, choose_series
from app.db.pool import Database
from app.errors import InvalidInput, NotFound
from app.sandbox.computation_runner import ComputationResult, ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits, Progress
from app.sandbox.outputs.pipe import OutputStream
from app.storage.temporary_files import temporary_file

_CELL_LIMITS = Limits(time_s=1_800, memory_bytes=1 << 30, disk_bytes=20 << 30, threads=2, value_bytes=64 << 20)
_MAX_COUNTED_SERIES = 500
"""Series that one request may count between two times: each is a scan of all its bars."""
_RECORDS_FILE = "bars.bin"


@dataclass(frozen=True)
class ImportOptions:
    """Sender's description of a file: its coin, interval and time zone.

    `shared`: store the bars for all users.
    """

    coin: str | None = None
    interval: str | None = None
    time_zone: str | None = None
    shared: bool = False


@dataclass(frozen=True)
class PriceFrame:
    """Bars as frame.parquet; `facts`: the result of `computations.bars.frame.write_frame`."""

    computed: ComputationResult
    coins: list[str]
    interval_s: int
    facts: dict[str, Any]


def _ignore_progress(fraction: float, text: str) -> None:
    """Discard progress reports."""


@dataclass(frozen=True)
class Prices:
    """Operations on an owner's bars and the shared ones; owner None accesses only shared bars.

    `folder`: the service's own, for temporary files.
    """

    database: Database
    computer: ComputationRunner
    folder: Path
    owner: UUID | None
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    async def list_series(self) -> list[PriceSeries]:
        """List visible series by coin, then interval."""
        rows = await self.database.rows(queries.VISIBLE, self.owner)
        return [PriceSeries.from_row(**row) for row in rows]

    async def statistics(
        self,
        coin: str | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        interval: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return bars, gaps, extremes, range, mean and deviation of closes, volume and change for each series.

        Whole series are answered from stored summaries; between two times bars are counted, of at most
        _MAX_COUNTED_SERIES series.
        """
        _check_span(start, end)
        interval_s = interval_seconds(interval) if interval else None
        matches = [
            series
            for series in await self.list_series()
            if coin in (None, series.coin) and interval_s in (None, series.interval_s)
        ]
        if start is None and end is None:
            return [_statistics(series) for series in matches]
        if len(matches) > _MAX_COUNTED_SERIES:
            raise InvalidInput(
                "too_many_series", f"That would count the bars of {len(matches):,} series; name a coin."
            )
        async with self.database.dedicated_connection() as connection:
            counted = [
                (series, await summarize_series(connection, series.id, series.interval_s, start, end))
                for series in matches
            ]
        return [
            _statistics(replace(series, **summary._asdict()))
            for series, summary in counted
            if summary is not None
        ]

    async def fetch(
        self, coins: Sequence[str], start: datetime | None, end: datetime | None, interval: str | None = None
    ) -> PriceFrame:
        """Read bars of coins, named as in `list_series`, and aggregate them to one interval.

        Raises NotFound when there are none.
        """
        _check_span(start, end)
        interval_s = interval_seconds(interval) if interval else None
        selected = choose_series(await self.list_series(), list(dict.fromkeys(coins)), interval_s)
        stored_s = selected[0].interval_s
        with temporary_file(self.folder, "bars-") as path:
            async with self.database.dedicated_connection() as connection:
                copied = await connection.copy_from_query(
                    queries.BARS,
                    [series.id for series in selected],
                    start,
                    end,
                    output=path,
                    format="binary",
                    timeout=MAX_STATEMENT_S,
                )
            names = ", ".join(series.coin for series in selected)
            # The tag of the command, which is all that COPY tells of its rows.
            if copied == "COPY 0":
                raise NotFound("no_prices", f"There are no prices of {names} in that time.")
            work = Computation(
                "bars.prices.frame",
                {
                    "coins": {str(series.id): series.coin for series in selected},
                    "interval_s": stored_s,
                    "wanted_s": interval_s or stored_s,
                },
            )
            computed = await self.computer.run(work, {"bars": path}, _CELL_LIMITS)
        facts = cast(dict[str, Any], computed.value)
        return PriceFrame(computed, [series.coin for series in selected], interval_s or stored_s, facts)

    async def import_file(
        self,
        upload: Path,
        filename: str,
        options: ImportOptions | None = None,
        on_progress: Progress = _ignore_progress,
    ) -> dict[str, Any]:
        """Import a file of bars in one transaction: all valid bars, or none on an error or a cancellation.

        A stored bar with other values is replaced; the same file again changes nothing. Invalid bars are
        rejected and reported. Returns the result of `bars.prices.read_bars` with `added` and `changed`.
        """
        options = options or ImportOptions()
        work = Computation(
            "bars.prices.read_bars",
            {
                "filename": filename,
                "coin": options.coin,
                "interval": options.interval,
                "time_zone": options.time_zone,
                # The last bar of a file may not have ended: by this time the cell leaves it out.
                "now_s": self.now().timestamp(),
            },
        )
        progress = _ImportProgress(on_progress)
        validation = self.computer.stream_file(
            work, {"upload": upload}, _RECORDS_FILE, _CELL_LIMITS, progress.report_read
        )
        with refuse_unreadable_files():
            async with validation as stream:
                try:
                    price_import, facts = await self._import_batches(
                        stream, None if options.shared else self.owner, progress.report_stored
                    )
                except asyncio.IncompleteReadError:
                    await stream.completion  # raises the reason why the cell ended early
                    raise
        return {**facts, "added": price_import.added, "changed": price_import.changed}

    async def _import_batches(
        self, stream: OutputStream, owner: UUID | None, report: ReportText
    ) -> tuple[PriceImport, dict[str, Any]]:
        """Store batches while the cell validates further ones, in one transaction that ends after the cell."""
        # The first batch before the transaction: it is begun only once there is a bar to store.
        header = await read_batch_header(stream.pipe)
        if header is None:
            await stream.completion  # raises: there is no valid bar
        async with self.database.dedicated_connection() as connection, connection.transaction():
            price_import = await PriceImport.start(connection, owner, report)
            while header is not None:
                await price_import.add_batch(header, stream.pipe)
                header = await read_batch_header(stream.pipe)
            facts = cast(dict[str, Any], await stream.completion)
            await price_import.finish([ValidatedSeries.from_json(series) for series in facts["series"]])
        return price_import, facts

    async def drop(self, coin: str, interval: str | None = None, *, shared: bool = False) -> int:
        """Delete a coin's bars of one interval or of all; return their number. Raises NotFound without any.

        `shared`: delete the shared bars instead of the owner's.
        """
        interval_s = interval_seconds(interval) if interval else None
        owner = None if shared else self.owner
        async with self.database.dedicated_connection() as connection:
            deleted = await connection.fetch(
                queries.DROP_SERIES, owner, coin, interval_s, timeout=MAX_STATEMENT_S
            )
        if not deleted:
            raise NotFound("no_prices", f"There are no bars of {coin} to delete.", coin=coin)
        return sum(bars for (bars,) in deleted)


def to_utc(moment: datetime | None) -> datetime | None:
    """Convert a time to UTC, which is assumed without a zone. Raises InvalidInput outside years 1 to 9999."""
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        raise InvalidInput("time_out_of_range", f"The time {moment.isoformat()} is out of range.") from None


def _check_span(start: datetime | None, end: datetime | None) -> None:
    if start is not None and end is not None and end < start:
        raise InvalidInput("end_before_start", f"The end, {end.isoformat()}, lies before the start.")


def _statistics(series: PriceSeries) -> dict[str, Any]:
    summary = series.summary
    return {
        **series.to_json(),
        **summary,
        "range": summary["highest"] - summary["lowest"],
        "change": summary["last_close"] / summary["first_close"] - 1,
    }


@dataclass
class _ImportProgress:
    """Progress from two reporters: the cell knows the fraction that is read, the import what is stored."""

    report: Progress
    fraction: float = 0.0

    def report_read(self, fraction: float, text: str) -> None:
        self.fraction = fraction
        self.report(fraction, text)

    def report_stored(self, text: str) -> None:
        self.report(self.fraction, text)
