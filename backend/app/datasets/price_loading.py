"""Judged bars into Postgres: one transaction, streamed, so that an import is there whole or not at all.

Bars where the series has none yet are copied straight in; a stretch that overlaps goes through a temporary
table, from which only what is new or different is written. So the same file again writes nothing.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from app.computations.bars.absence import Absence
from app.computations.bars.layout import (
    HEADER,
    POSTGRES_EPOCH_US,
    RECORD_BYTES,
    TRAILER,
    TS_AT,
    sealed,
)
from app.datasets import price_queries as queries
from app.errors import Conflict

Report = Callable[[float, str], None]
Facts = Mapping[str, Any]
"""One series as `computations.prices.read_bars` tells of it."""

STATEMENT_S = 1_800.0
_SEGMENT = 500_000
_PIECE = 12_800
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


@dataclass
class Loading:
    """One import of one owner (None: for everybody) over one connection, inside its transaction."""

    connection: Any
    owner: UUID | None
    records: IO[bytes]
    total: int
    report: Report
    added: int = 0
    changed: int = 0
    done: int = 0
    _place: int = field(default=0)

    async def load(self, series: Sequence[Facts]) -> None:
        """Raises Conflict when another import of the owner runs, or when bars stand on another grid."""
        name = f"prices:{self.owner or 'shared'}"
        if not await self.connection.fetchval(queries.LOCK, name):
            raise Conflict("import_running", "Another import is running; send this one when it is done.")
        for facts in series:
            await self._load_series(facts)

    async def _load_series(self, facts: Facts) -> None:
        known = await self.connection.fetchrow(queries.OWN, self.owner, facts["coin"], facts["interval_s"])
        if known is None:
            number = await self.connection.fetchval(queries.BEGIN_SERIES, *_row(self.owner, facts))
        else:
            number = known["id"]
            _check_grid(facts, known["first_at"])
        before = self.added + self.changed
        for start in range(0, facts["bars"], _SEGMENT):
            rows = min(_SEGMENT, facts["bars"] - start)
            await self._load_segment(number, facts["coin"], rows, is_new=known is None)
        if known is not None and self.added + self.changed > before:
            told = await summed(self.connection, number, facts["interval_s"])
            kept = json.dumps(told["summary"])
            await self.connection.execute(
                queries.UPDATE_SERIES, number, told["bars"], told["first"], told["last"], kept
            )

    async def _load_segment(self, number: int, coin: str, rows: int, *, is_new: bool) -> None:
        first, last = self._time_of(self._place), self._time_of(self._place + rows - 1)
        overlaps = not is_new and await self.connection.fetchval(queries.ANY_BETWEEN, number, first, last)
        if overlaps:
            await self.connection.execute(queries.STAGING)
            await self._copy("staged_bars", number, rows)
            await self.connection.execute("ANALYZE staged_bars")
            if await self.connection.fetchval(queries.SAME, number, first, last, timeout=STATEMENT_S) < rows:
                self.changed += await self._count(queries.CHANGE, number, first, last)
                self.added += await self._count(queries.ADD, number, first, last)
            await self.connection.execute("TRUNCATE staged_bars")
        else:
            await self._copy("price_bars", number, rows)
            self.added += rows
        self._place += rows
        self.done += rows
        self.report(self.done / self.total, f"{self.done:,} of {self.total:,} bars stored ({coin})")

    async def _copy(self, table: str, number: int, rows: int) -> None:
        await self.connection.copy_to_table(
            table, source=self._pieces(number, rows), format="binary", timeout=STATEMENT_S
        )

    async def _count(self, sql: str, number: int, first: datetime, last: datetime) -> int:
        status: str = await self.connection.execute(sql, number, first, last, timeout=STATEMENT_S)
        return int(status.rsplit(" ", 1)[1])

    async def _pieces(self, number: int, rows: int) -> AsyncIterator[bytes]:
        """Records as COPY reads them, with the series' number filled in."""
        self.records.seek(self._place * RECORD_BYTES)
        yield HEADER
        for start in range(0, rows, _PIECE):
            taken = min(_PIECE, rows - start)
            yield await asyncio.to_thread(self._take, taken, number)
        yield TRAILER

    def _take(self, rows: int, number: int) -> bytes:
        piece = self.records.read(rows * RECORD_BYTES)
        if len(piece) != rows * RECORD_BYTES:
            raise ValueError("There are fewer records than their reader counted.")
        return sealed(piece, number)

    def _time_of(self, place: int) -> datetime:
        self.records.seek(place * RECORD_BYTES + TS_AT)
        return moment_of(int.from_bytes(self.records.read(8), "big", signed=True) + POSTGRES_EPOCH_US)


def moment_of(us: int) -> datetime:
    """From microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=us)


async def summed(
    connection: Any, number: int, interval_s: int, start: datetime | None = None, end: datetime | None = None
) -> dict[str, Any]:
    """`{"bars", "first", "last", "summary"}` of a series between two times, counted now; None without bars."""
    row = await connection.fetchrow(queries.SUMMARY, number, interval_s, start, end, timeout=STATEMENT_S)
    if not row["bars"]:
        return {"bars": 0, "first": None, "last": None, "summary": None}
    counted = Absence(**{name: row[name] for name in Absence.__dataclass_fields__})
    span_s = (row["last"] - row["first"]).total_seconds()
    summary = {name: row[name] for name in _SUMMED}
    summary.update(counted.told(row["bars"], span_s, interval_s))
    return {"bars": row["bars"], "first": row["first"], "last": row["last"], "summary": summary}


def open_records(folder: Path) -> IO[bytes]:
    return (folder / "bars.bin").open("rb")


def _row(owner: UUID | None, facts: Facts) -> tuple[Any, ...]:
    first, last = moment_of(facts["first_us"]), moment_of(facts["last_us"])
    kept = json.dumps(facts["summary"])
    return (owner, facts["coin"], facts["interval_s"], facts["bars"], first, last, kept)


def _check_grid(facts: Facts, first_at: datetime) -> None:
    """Bars up to an hour long stand where those stand that are there already."""
    interval_s = facts["interval_s"]
    apart_s = (moment_of(facts["first_us"]) - first_at).total_seconds()
    if interval_s <= _HOUR_S and apart_s % interval_s:
        raise Conflict(
            "other_grid",
            f"The bars of {facts['coin']} at {facts['interval']} that are there begin at "
            f"{first_at:%H:%M:%S}, and these {apart_s % interval_s:g} s apart from their grid. "
            "Shift their times, or delete the bars that are there.",
            coin=facts["coin"],
        )
