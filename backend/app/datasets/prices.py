"""Five-minute prices of coins in Postgres, shared by all users: loaded in bulk, summed up, fetched."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from app.db.pool import Database
from app.errors import InvalidInput, NotFound
from app.sandbox.computer import Computed, Computer
from app.sandbox.contract import Computation, Limits
from app.storage.blobs import BlobStore

_CELL = Limits(time_s=300, memory_bytes=1 << 30, disk_bytes=20 << 30, threads=2)
_COLUMNS = ["coin_type", "ts", "open", "high", "low", "close", "volume"]

_COINS = """
    SELECT coin_type AS coin, count(*) AS bars, min(ts) AS first, max(ts) AS last
    FROM price_data_5min GROUP BY coin_type ORDER BY coin_type
"""
# `expected`: bars on the five-minute grid from the first to the last.
_STATISTICS = """
    SELECT coin_type AS coin, count(*) AS bars, min(ts) AS first, max(ts) AS last,
           (extract(epoch FROM max(ts) - min(ts)) / 300)::bigint + 1 AS expected,
           min(low) AS lowest, max(high) AS highest, avg(close) AS mean_close, stddev_samp(close) AS std_close,
           avg(volume) AS mean_volume, sum(volume) AS total_volume,
           (array_agg(close ORDER BY ts))[1] AS first_close,
           (array_agg(close ORDER BY ts DESC))[1] AS last_close
    FROM price_data_5min
    WHERE ($1::text IS NULL OR coin_type = $1) AND ($2::timestamptz IS NULL OR ts >= $2)
      AND ($3::timestamptz IS NULL OR ts <= $3)
    GROUP BY coin_type ORDER BY coin_type
"""
_BARS = """
    SELECT to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), open, high, low, close, volume
    FROM price_data_5min
    WHERE coin_type = $1 AND ($2::timestamptz IS NULL OR ts >= $2) AND ($3::timestamptz IS NULL OR ts <= $3)
    ORDER BY ts
"""
_UPSERT = """
    WITH written AS (
        INSERT INTO price_data_5min AS kept SELECT * FROM staged_bars
        ON CONFLICT (coin_type, ts) DO UPDATE
        SET (open, high, low, close, volume)
            = (excluded.open, excluded.high, excluded.low, excluded.close, excluded.volume)
        WHERE (kept.open, kept.high, kept.low, kept.close, kept.volume)
            IS DISTINCT FROM (excluded.open, excluded.high, excluded.low, excluded.close, excluded.volume)
        RETURNING xmax = 0 AS is_new
    )
    SELECT count(*) FILTER (WHERE is_new) AS added, count(*) FILTER (WHERE NOT is_new) AS changed FROM written
"""


@dataclass(frozen=True)
class Prices:
    """`folder`: ours, for files on their way."""

    database: Database
    computer: Computer
    folder: Path

    async def coins(self) -> list[dict[str, Any]]:
        """`[{"coin", "bars", "first", "last"}]` by name."""
        return [dict(row) for row in await self.database.rows(_COINS)]

    async def statistics(
        self, coin: str | None = None, start: datetime | None = None, end: datetime | None = None
    ) -> list[dict[str, Any]]:
        """Per coin: bars, how many are missing in between, extremes, means, change from first to last close."""
        rows = await self.database.rows(_STATISTICS, coin.upper() if coin else None, start, end)
        return [_told(dict(row)) for row in rows]

    async def fetch(self, coin: str, start: datetime | None, end: datetime | None) -> Computed:
        """Bars of one coin in order of time, as frame.parquet. Raises NotFound when there are none."""
        with _file(self.folder) as path:
            async with self.database.pool.acquire() as connection:
                copied = await connection.copy_from_query(
                    _BARS, coin.upper(), start, end, output=path, format="csv", timeout=_CELL.time_s
                )
            if copied == "COPY 0":
                raise NotFound("no_prices", f"There are no prices of {coin} in that time.", coin=coin)
            return await self.computer.run(Computation("prices.frame"), {"bars": path}, _CELL)

    async def add(self, blobs: BlobStore, upload: Path, filename: str, coin: str | None) -> dict[str, Any]:
        """Load a file of bars; the same file again changes nothing. Bad bars are left out and reported.

        Returns `{"rows", "kept", "bad", "added", "changed"}`. Raises InvalidInput for a file without bars.
        """
        work = Computation("prices.read_bars", {"filename": filename, "coin": coin})
        computed = await self.computer.run(work, {"upload": upload}, _CELL)
        bars = computed.file("bars.csv").digest
        # The blob is left to the sweep: equal bytes are one blob, and another import may be reading it.
        async with self.database.pool.acquire() as connection, connection.transaction():
            await connection.execute(
                "CREATE TEMP TABLE staged_bars (LIKE price_data_5min INCLUDING DEFAULTS) ON COMMIT DROP"
            )
            await connection.copy_to_table(
                "staged_bars",
                source=blobs.open(bars),
                columns=_COLUMNS,
                format="csv",
                timeout=_CELL.time_s,
            )
            written = await connection.fetchrow(_UPSERT, timeout=_CELL.time_s)
        return {**cast(dict[str, Any], computed.value), **dict(written)}


def in_utc(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC. Raises InvalidInput for one outside the years 1 to 9999 of UTC."""
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        raise InvalidInput("time_out_of_range", f"The time {moment.isoformat()} is out of range.") from None


def _told(row: dict[str, Any]) -> dict[str, Any]:
    row["missing"] = row.pop("expected") - row["bars"]
    row["change"] = row["last_close"] / row["first_close"] - 1
    return row


@contextmanager
def _file(folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="bars-", suffix=".csv", dir=folder)
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
