"""Judged bars into Postgres: one transaction, streamed, so that an import is there whole or not at all.

Where the series has none yet, bars are copied straight in. A stretch that overlaps is compared with what is
there, byte by byte: the same file again writes nothing. Where it differs it goes through a temporary table,
from which only what is new or different is written.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

from app.computations.bars.coverage import GapCounts
from app.computations.bars.interval import interval_name
from app.computations.bars.layout import HEAD_BYTES, HEADER, RECORD_BYTES, TRAILER, BatchHeader, set_series
from app.datasets import price_queries as queries
from app.errors import Conflict

ReportText = Callable[[str], None]
Facts = Mapping[str, Any]
"""One series as `computations.prices.read_bars` tells of it."""

MAX_STATEMENT_S = 1_800.0
_CHUNK_RECORDS = 12_800
_HOUR_S = 3_600
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SUMMED = (
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
    """None at the end. Raises IncompleteReadError where the pipe is cut."""
    try:
        return BatchHeader.unpack(await pipe.readexactly(HEAD_BYTES))
    except asyncio.IncompleteReadError as cut:
        if cut.partial:
            raise
        return None


@dataclass
class _OpenSeries:
    """One that bars are added to. `first_at`: of the bars that were there before, if any."""

    number: int
    first_at: datetime | None
    is_touched: bool = False


@dataclass
class PriceImport:
    """One import of one owner (None: for everybody) over one connection, inside its transaction."""

    connection: Any
    owner: UUID | None
    report: ReportText
    added: int = 0
    changed: int = 0
    done: int = 0
    _series: dict[tuple[str, int], _OpenSeries] = field(default_factory=dict)

    @classmethod
    async def start(cls, connection: Any, owner: UUID | None, report: ReportText) -> Self:
        """Raises Conflict when another import of the owner runs."""
        if not await connection.fetchval(queries.LOCK, f"prices:{owner or 'shared'}"):
            raise Conflict("import_running", "Another import is running; send this one when it is done.")
        return cls(connection, owner, report)

    async def add_batch(self, head: BatchHeader, pipe: asyncio.StreamReader) -> None:
        """One parcel, whose records come next. Raises Conflict when bars stand on another grid."""
        key = head.coin, head.interval_s
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = await self._open(head)
        before = self.added + self.changed
        first, last = from_microseconds(head.first_us), from_microseconds(head.last_us)
        overlaps = series.first_at is not None and await self.connection.fetchval(
            queries.ANY_BETWEEN, series.number, first, last
        )
        if overlaps:
            await self._merge(series.number, head.rows, first, last, pipe)
        else:
            await self._copy("price_bars", _copy_stream(series.number, head.rows, pipe))
            self.added += head.rows
        self.done += head.rows
        series.is_touched |= self.added + self.changed > before
        self.report(f"{self.done:,} bars stored ({head.coin})")

    async def finish(self, told: Sequence[Facts]) -> None:
        """Sum up what was added to; of a series that is new, its reader has told."""
        for facts in told:
            series = self._series[facts["coin"], facts["interval_s"]]
            if series.first_at is None:
                bars, first, last = (
                    facts["bars"],
                    from_microseconds(facts["first_us"]),
                    from_microseconds(facts["last_us"]),
                )
                await self._update_series(series, bars, first, last, facts["summary"])
            elif series.is_touched:
                now = await summarize_series(self.connection, series.number, facts["interval_s"])
                await self._update_series(series, now["bars"], now["first"], now["last"], now["summary"])

    async def _open(self, head: BatchHeader) -> _OpenSeries:
        known = await self.connection.fetchrow(queries.OWN, self.owner, head.coin, head.interval_s)
        if known is not None:
            _check_grid(head, known["first_at"])
            return _OpenSeries(known["id"], known["first_at"])
        begun = self.owner, head.coin, head.interval_s, from_microseconds(head.first_us)
        return _OpenSeries(await self.connection.fetchval(queries.BEGIN_SERIES, *begun), None)

    async def _update_series(
        self, series: _OpenSeries, bars: int, first: datetime, last: datetime, summary: Mapping[str, Any]
    ) -> None:
        await self.connection.execute(
            queries.UPDATE_SERIES, series.number, bars, first, last, json.dumps(summary)
        )

    async def _merge(
        self, number: int, rows: int, first: datetime, last: datetime, pipe: asyncio.StreamReader
    ) -> None:
        records = await asyncio.to_thread(set_series, await pipe.readexactly(rows * RECORD_BYTES), number)
        if await self._read_records(number, first, last) == records:
            return
        await self.connection.execute(queries.STAGING)
        await self._copy("staged_bars", _framed(records))
        await self.connection.execute("ANALYZE staged_bars")
        self.changed += await self._count(queries.CHANGE, number, first, last)
        self.added += await self._count(queries.ADD, number, first, last)
        await self.connection.execute("TRUNCATE staged_bars")

    async def _read_records(self, number: int, first: datetime, last: datetime) -> bytes:
        """The records between two times that are there, as `sealed` makes them."""
        found = bytearray()

        async def take(piece: bytes) -> None:
            found.extend(piece)

        await self.connection.copy_from_query(
            queries.BARS, [number], first, last, output=take, format="binary", timeout=MAX_STATEMENT_S
        )
        return bytes(found[len(HEADER) : -len(TRAILER)])

    async def _copy(self, table: str, source: AsyncIterator[bytes]) -> None:
        await self.connection.copy_to_table(table, source=source, format="binary", timeout=MAX_STATEMENT_S)

    async def _count(self, sql: str, number: int, first: datetime, last: datetime) -> int:
        status: str = await self.connection.execute(sql, number, first, last, timeout=MAX_STATEMENT_S)
        return int(status.rsplit(" ", 1)[1])


async def _copy_stream(number: int, rows: int, pipe: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Records as COPY reads them, with the series' number filled in."""
    yield HEADER
    for start in range(0, rows, _CHUNK_RECORDS):
        piece = await pipe.readexactly(min(_CHUNK_RECORDS, rows - start) * RECORD_BYTES)
        yield await asyncio.to_thread(set_series, piece, number)
    yield TRAILER


async def _framed(records: bytes) -> AsyncIterator[bytes]:
    for piece in (HEADER, records, TRAILER):
        yield piece


def from_microseconds(us: int) -> datetime:
    """From microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=us)


async def summarize_series(
    connection: Any, number: int, interval_s: int, start: datetime | None = None, end: datetime | None = None
) -> dict[str, Any]:
    """`{"bars", "first", "last", "summary"}` of a series between two times, counted now; None without bars."""
    row = await connection.fetchrow(queries.SUMMARY, number, interval_s, start, end, timeout=MAX_STATEMENT_S)
    if not row["bars"]:
        return {"bars": 0, "first": None, "last": None, "summary": None}
    counted = GapCounts(**{name: row[name] for name in GapCounts.__dataclass_fields__})
    span_s = (row["last"] - row["first"]).total_seconds()
    summary = {name: row[name] for name in _SUMMED}
    summary.update(counted.to_json(row["bars"], span_s, interval_s))
    return {"bars": row["bars"], "first": row["first"], "last": row["last"], "summary": summary}


def _check_grid(head: BatchHeader, first_at: datetime) -> None:
    """Bars up to an hour long stand where those stand that are there already."""
    apart_s = (from_microseconds(head.first_us) - first_at).total_seconds()
    if head.interval_s <= _HOUR_S and apart_s % head.interval_s:
        raise Conflict(
            "other_grid",
            f"The bars of {head.coin} at {interval_name(head.interval_s)} that are there begin at "
            f"{first_at:%H:%M:%S}, and these {apart_s % head.interval_s:g} s apart from their grid. "
            "Shift their times, or delete the bars that are there.",
            coin=head.coin,
        )
