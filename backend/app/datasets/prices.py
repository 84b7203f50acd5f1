"""Bars of prices in Postgres, as one user sees them: imported in bulk, listed, summed up, fetched."""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from app.computations.bars.interval import interval_seconds
from app.datasets import price_queries as queries
from app.datasets.price_loading import (
    MAX_STATEMENT_S,
    PriceImport,
    ReportText,
    read_batch_header,
    summarize_series,
)
from app.datasets.price_series import PriceSeries, choose_series
from app.datasets.refusals import refuse_unreadable_files
from app.db.pool import Database
from app.errors import InvalidInput, NotFound
from app.sandbox.computer import ComputationResult, Computer
from app.sandbox.contract import Computation, Limits, Progress
from app.sandbox.stream import OutputStream

_CELL_LIMITS = Limits(time_s=1_800, memory_bytes=1 << 30, disk_bytes=20 << 30, threads=2, value_bytes=64 << 20)
_STALE_S = 86_400
_MAX_COUNTED_SERIES = 500
_RECORDS_FILE = "bars.bin"


@dataclass(frozen=True)
class ImportOptions:
    """What the sender says of a file: its coin, its interval, the zone of its clock.

    `shared`: the bars are for all users, and not the importer's own.
    """

    coin: str | None = None
    interval: str | None = None
    time_zone: str | None = None
    shared: bool = False


@dataclass(frozen=True)
class PriceFrame:
    """Bars as frame.parquet; `facts` as `computations.bars.frame.write_frame` gives them."""

    computed: ComputationResult
    coins: list[str]
    interval_s: int
    facts: dict[str, Any]


def _ignore_progress(fraction: float, text: str) -> None:
    """For those who watch nothing."""


@dataclass(frozen=True)
class Prices:
    """What `owner` may do with bars; None sees and changes only those that all share.

    `folder`: ours, for files on their way.
    """

    database: Database
    computer: Computer
    folder: Path
    owner: UUID | None
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    async def list_series(self) -> list[PriceSeries]:
        """By coin, then interval."""
        rows = await self.database.rows(queries.VISIBLE, self.owner)
        return [PriceSeries.from_row(**row) for row in rows]

    async def statistics(
        self,
        coin: str | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        interval: str | None = None,
    ) -> list[dict[str, Any]]:
        """Per series: how many bars, gaps, extremes, range, mean and deviation of the closes, volume, change.

        Of whole series at once, from what is kept; between two times counted now, of at most 500 series.
        """
        _check_span(start, end)
        wanted_s = interval_seconds(interval) if interval else None
        found = [
            one
            for one in await self.list_series()
            if coin in (None, one.coin) and wanted_s in (None, one.interval_s)
        ]
        if start is None and end is None:
            return [_statistics(one, {**one.to_json(), "summary": one.summary}) for one in found]
        if len(found) > _MAX_COUNTED_SERIES:
            raise InvalidInput(
                "too_many_series", f"That would count the bars of {len(found):,} series; say which coin."
            )
        async with self.database.dedicated_connection() as connection:
            counted = [
                (one, await summarize_series(connection, one.id, one.interval_s, start, end)) for one in found
            ]
        return [_statistics(one, told) for one, told in counted if told["bars"]]

    async def fetch(
        self, coins: Sequence[str], start: datetime | None, end: datetime | None, interval: str | None = None
    ) -> PriceFrame:
        """Bars of the coins (as `series` names them) at one interval, summed up to it where need be.

        Raises NotFound when there are none.
        """
        _check_span(start, end)
        wanted_s = interval_seconds(interval) if interval else None
        chosen = choose_series(await self.list_series(), list(dict.fromkeys(coins)), wanted_s)
        own_s = chosen[0].interval_s
        with _file(self.folder) as path:
            async with self.database.dedicated_connection() as connection:
                copied = await connection.copy_from_query(
                    queries.BARS,
                    [one.id for one in chosen],
                    start,
                    end,
                    output=path,
                    format="binary",
                    timeout=MAX_STATEMENT_S,
                )
            names = ", ".join(one.coin for one in chosen)
            if copied == "COPY 0":
                raise NotFound("no_prices", f"There are no prices of {names} in that time.")
            work = Computation(
                "prices.frame",
                {
                    "coins": {str(one.id): one.coin for one in chosen},
                    "interval_s": own_s,
                    "wanted_s": wanted_s or own_s,
                },
            )
            computed = await self.computer.run(work, {"bars": path}, _CELL_LIMITS)
        facts = cast(dict[str, Any], computed.value)
        return PriceFrame(computed, [one.coin for one in chosen], wanted_s or own_s, facts)

    async def import_file(
        self,
        upload: Path,
        filename: str,
        options: ImportOptions | None = None,
        on_progress: Progress = _ignore_progress,
    ) -> dict[str, Any]:
        """Load a file of bars: all of its good bars, or nothing when this raises or is cancelled.

        A bar that is there with other values is replaced; the same file again changes nothing. Bad bars are
        left out and reported: returns what `computations.prices.read_bars` does, and `added` and `changed`.
        """
        options = options or ImportOptions()
        work = Computation(
            "prices.read_bars",
            {
                "filename": filename,
                "coin": options.coin,
                "interval": options.interval,
                "time_zone": options.time_zone,
                "now_s": self.now().timestamp(),
            },
        )
        pace = _ImportProgress(on_progress)
        reading = self.computer.stream_file(
            work, {"upload": upload}, _RECORDS_FILE, _CELL_LIMITS, pace.report_read
        )
        with refuse_unreadable_files():
            async with reading as judged:
                try:
                    loading, facts = await self._import_batches(
                        judged, None if options.shared else self.owner, pace.report_stored
                    )
                except asyncio.IncompleteReadError:
                    await judged.completion  # the cell broke off, and says why
                    raise
        return {**facts, "added": loading.added, "changed": loading.changed}

    async def _import_batches(
        self, judged: OutputStream, owner: UUID | None, report: ReportText
    ) -> tuple[PriceImport, dict[str, Any]]:
        """While the cell still judges, in one transaction that ends when it has."""
        head = await read_batch_header(judged.pipe)
        if head is None:
            await judged.completion  # raises: there is no good bar
        async with self.database.dedicated_connection() as connection, connection.transaction():
            loading = await PriceImport.start(connection, owner, report)
            while head is not None:
                await loading.add_batch(head, judged.pipe)
                head = await read_batch_header(judged.pipe)
            facts = cast(dict[str, Any], await judged.completion)
            await loading.finish(facts["series"])
        return loading, facts

    async def drop(self, coin: str, interval: str | None = None, *, shared: bool = False) -> int:
        """Delete a coin's bars, of one interval or of all, and say how many. Raises NotFound without any.

        The owner's own; `shared`: those of all users.
        """
        wanted_s = interval_seconds(interval) if interval else None
        owner = None if shared else self.owner
        async with self.database.dedicated_connection() as connection:
            dropped = await connection.fetch(
                queries.DROP_SERIES, owner, coin, wanted_s, timeout=MAX_STATEMENT_S
            )
        if not dropped:
            raise NotFound("no_prices", f"There are no bars of {coin} to delete.", coin=coin)
        return sum(row["bars"] for row in dropped)


def to_utc(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC. Raises InvalidInput for one outside the years 1 to 9999 of UTC."""
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        raise InvalidInput("time_out_of_range", f"The time {moment.isoformat()} is out of range.") from None


def _check_span(start: datetime | None, end: datetime | None) -> None:
    if start is not None and end is not None and end < start:
        raise InvalidInput("end_before_start", f"The end, {end.isoformat()}, lies before the start.")


def _statistics(one: PriceSeries, told: dict[str, Any]) -> dict[str, Any]:
    summary = dict(told["summary"])
    return {
        **one.to_json(),
        "bars": told["bars"],
        "first": told["first"],
        "last": told["last"],
        **summary,
        "range": summary["highest"] - summary["lowest"],
        "change": summary["last_close"] / summary["first_close"] - 1,
    }


@dataclass
class _ImportProgress:
    """Progress of two: one knows how far the file is read, the other only what is stored of it."""

    report: Progress
    fraction: float = 0.0

    def report_read(self, fraction: float, text: str) -> None:
        self.fraction = fraction
        self.report(fraction, text)

    def report_stored(self, text: str) -> None:
        self.report(self.fraction, text)


def _remove_stale(folder: Path) -> None:
    """What a killed process left."""
    for path in folder.glob("bars-*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _STALE_S:
                path.unlink()


@contextmanager
def _file(folder: Path) -> Iterator[Path]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_stale(folder)
    descriptor, name = tempfile.mkstemp(prefix="bars-", suffix=".bin", dir=folder)
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
