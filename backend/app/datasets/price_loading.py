"""The import of validated bars into Postgres, streamed in one transaction.

Bars outside the stored range of a series are copied directly. Overlapping bars are compared byte by byte with
the stored ones, so the same file again writes nothing; if they differ, they pass through a temporary table,
from which only new and changed bars are written.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self
from uuid import UUID

from app.computations.bars.binary_format import (
    HEAD_BYTES,
    HEADER,
    RECORD_BYTES,
    TRAILER,
    BatchHeader,
    set_series,
)
from app.computations.bars.coverage import GapCounts
from app.computations.bars.interval import interval_name
from app.datasets import price_queries as queries
from app.errors import Conflict

ReportText = Callable[[str], None]

MAX_STATEMENT_S = 1_800.0
"""Time limit of one statement, as long as that of the cell that validates the file."""
_CHUNK_RECORDS = 12_800
"""Records converted at once in a thread: about 1 MB, so that memory does not grow with the file."""
_HOUR_S = 3_600
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SUMMARY_COLUMNS = (
    "lowest",
    "highest",
    "mean_close",
    "std_close",
    "mean_volume",
    "total_volume",
    "first_close",
    "last_close",
)


async def read_batch_header(pipe: asyncio.StreamReader) -> BatchHeader | None:
    """Read the header of the next batch; None at the end. Raises IncompleteReadError for a cut stream."""
    try:
        return BatchHeader.unpack(await pipe.readexactly(HEAD_BYTES))
    except asyncio.IncompleteReadError as cut:
        if cut.partial:
            raise
        return None


class ValidatedSeries(NamedTuple):
    """Facts of one series of a file, from `computations.bars.prices.read_bars`."""

    coin: str
    interval_s: int
    bars: int
    first_us: int
    last_us: int
    summary: Mapping[str, Any]

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        return cls(**{name: facts[name] for name in cls._fields})

    def contents(self) -> "SeriesContents":
        first, last = from_microseconds(self.first_us), from_microseconds(self.last_us)
        return SeriesContents(self.bars, first, last, self.summary)


class SeriesContents(NamedTuple):
    """Number, first and last time and summary of a series' bars."""

    bars: int
    first: datetime
    last: datetime
    summary: Mapping[str, Any]


@dataclass
class _OpenSeries:
    """A series that receives bars. `first_at`: time of its first bar before the import, if any."""

    number: int
    first_at: datetime | None
    is_touched: bool = False


@dataclass
class PriceImport:
    """One import of an owner (None: shared bars) over one connection, inside its transaction."""

    connection: Any
    owner: UUID | None
    report: ReportText
    added: int = 0
    changed: int = 0
    done: int = 0
    _series: dict[tuple[str, int], _OpenSeries] = field(default_factory=dict)

    @classmethod
    async def start(cls, connection: Any, owner: UUID | None, report: ReportText) -> Self:
        """Start an import. Raises Conflict when another import of the owner runs."""
        if not await connection.fetchval(queries.LOCK, f"prices:{owner or 'shared'}"):
            raise Conflict("import_running", "Another import is running; send this one when it is done.")
        return cls(connection, owner, report)

    async def add_batch(self, header: BatchHeader, pipe: asyncio.StreamReader) -> None:
        """Store one batch, whose records follow in the pipe. Raises Conflict for bars on another time grid."""
        key = header.coin, header.interval_s
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = await self._open_series(header)
        before = self.added + self.changed
        first, last = from_microseconds(header.first_us), from_microseconds(header.last_us)
        # A new series cannot overlap, as rows within a file are in order.
        overlaps = series.first_at is not None and await self.connection.fetchval(
            queries.ANY_BETWEEN, series.number, first, last
        )
        if overlaps:
            await self._merge(series.number, header.rows, first, last, pipe)
        else:
            await self._copy("price_bars", _copy_stream(series.number, header.rows, pipe))
            self.added += header.rows
        self.done += header.rows
        series.is_touched |= self.added + self.changed > before
        self.report(f"{self.done:,} bars stored ({header.coin})")

    async def finish(self, validated: Sequence[ValidatedSeries]) -> None:
        """Update the stored summaries: of new series from the file's facts, of others by a new count."""
        for facts in validated:
            series = self._series[facts.coin, facts.interval_s]
            contents: SeriesContents | None = None
            if series.first_at is None:
                contents = facts.contents()
            # A file that changed nothing would cost a scan of the whole series.
            elif series.is_touched:
                contents = await summarize_series(self.connection, series.number, facts.interval_s)
            if contents is not None:
                await self._update_series(series.number, contents)

    async def _open_series(self, header: BatchHeader) -> _OpenSeries:
        key = self.owner, header.coin, header.interval_s
        row = await self.connection.fetchrow(queries.OWN, *key)
        if row is not None:
            number, first_at = row
            _check_grid(header, first_at)
            return _OpenSeries(number, first_at)
        first_at = from_microseconds(header.first_us)
        return _OpenSeries(await self.connection.fetchval(queries.BEGIN_SERIES, *key, first_at), None)

    async def _update_series(self, number: int, contents: SeriesContents) -> None:
        bars, first, last, summary = contents
        await self.connection.execute(queries.UPDATE_SERIES, number, bars, first, last, json.dumps(summary))

    async def _merge(
        self, number: int, rows: int, first: datetime, last: datetime, pipe: asyncio.StreamReader
    ) -> None:
        records = await asyncio.to_thread(set_series, await pipe.readexactly(rows * RECORD_BYTES), number)
        if await self._read_records(number, first, last) == records:
            return
        await self.connection.execute(queries.STAGING)
        await self._copy("staged_bars", _framed(records))
        # Postgres has no statistics of a new temporary table, and could join it row by row.
        await self.connection.execute("ANALYZE staged_bars")
        self.changed += await self._count(queries.CHANGE, number, first, last)
        self.added += await self._count(queries.ADD, number, first, last)
        await self.connection.execute("TRUNCATE staged_bars")

    async def _read_records(self, number: int, first: datetime, last: datetime) -> bytes:
        """Read the stored records between two times, in the layout of `computations.bars.binary_format`."""
        stream = bytearray()

        async def append(piece: bytes) -> None:
            stream.extend(piece)

        await self.connection.copy_from_query(
            queries.BARS, [number], first, last, output=append, format="binary", timeout=MAX_STATEMENT_S
        )
        return bytes(stream[len(HEADER) : -len(TRAILER)])

    async def _copy(self, table: str, source: AsyncIterator[bytes]) -> None:
        await self.connection.copy_to_table(table, source=source, format="binary", timeout=MAX_STATEMENT_S)

    async def _count(self, sql: str, number: int, first: datetime, last: datetime) -> int:
        status: str = await self.connection.execute(sql, number, first, last, timeout=MAX_STATEMENT_S)
        # The tag of a command ends with its number of rows, such as UPDATE 12.
        return int(status.rsplit(" ", 1)[1])


async def _copy_stream(number: int, rows: int, pipe: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield records in the binary form of COPY, with the series' number filled in."""
    yield HEADER
    for start in range(0, rows, _CHUNK_RECORDS):
        chunk = await pipe.readexactly(min(_CHUNK_RECORDS, rows - start) * RECORD_BYTES)
        yield await asyncio.to_thread(set_series, chunk, number)
    yield TRAILER


async def _framed(records: bytes) -> AsyncIterator[bytes]:
    for piece in (HEADER, records, TRAILER):
        yield piece


def from_microseconds(us: int) -> datetime:
    """Convert microseconds since 1970 to an aware time."""
    return _EPOCH + timedelta(microseconds=us)


async def summarize_series(
    connection: Any, number: int, interval_s: int, start: datetime | None = None, end: datetime | None = None
) -> SeriesContents | None:
    """Count and summarize the bars of a series between two times; None without bars."""
    row = await connection.fetchrow(queries.SUMMARY, number, interval_s, start, end, timeout=MAX_STATEMENT_S)
    bars, first, last = (row[name] for name in ("bars", "first", "last"))
    if not bars:
        return None
    gaps = GapCounts(**{name: row[name] for name in GapCounts.__dataclass_fields__})
    summary = {name: row[name] for name in _SUMMARY_COLUMNS}
    summary.update(gaps.to_json(bars, (last - first).total_seconds(), interval_s))
    return SeriesContents(bars, first, last, summary)


def _check_grid(header: BatchHeader, first_at: datetime) -> None:
    """Raise Conflict when bars of up to an hour are not on the time grid of the stored ones."""
    # Longer bars may begin at another hour after a change of the clocks, so that they have no fixed grid.
    offset_s = (from_microseconds(header.first_us) - first_at).total_seconds() % header.interval_s
    if header.interval_s <= _HOUR_S and offset_s:
        raise Conflict(
            "other_grid",
            f"The stored bars of {header.coin} at {interval_name(header.interval_s)} begin at "
            f"{first_at:%H:%M:%S}; these are {offset_s:g} s off that grid. "
            "Shift their times, or delete the stored bars.",
            coin=header.coin,
        )
