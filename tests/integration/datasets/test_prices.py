"""Bars in a real Postgres through real cells: whole or not at all, summed up alike, out again as frames."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.datasets.price_loading import summarize_series
from app.datasets.prices import ImportOptions, Prices
from app.db.pool import Database
from app.errors import Conflict, NotFound
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.storage.folder import FolderBlobs

START = datetime(2024, 1, 1, tzinfo=UTC)
MEASURES = ["open", "high", "low", "close", "volume"]


def bars(coin: str, rows: int, minutes: int = 5, seed: int = 0, start: datetime = START) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(chance.normal(0, 1e-3, rows)))
    opened = np.concatenate([[100.0], close[:-1]])
    return pd.DataFrame(
        {
            "symbol": coin,
            "ts": pd.date_range(start, periods=rows, freq=f"{minutes}min").tz_localize(None),
            "open": opened,
            "high": np.maximum(opened, close) * 1.001,
            "low": np.minimum(opened, close) * 0.999,
            "close": close,
            "volume": chance.lognormal(3, 0.5, rows),
        }
    )


class Market:
    """Prices of nobody in particular, and how to send and read frames."""

    def __init__(self, prices: Prices, blobs: FolderBlobs, folder: Path) -> None:
        self.prices = prices
        self.blobs = blobs
        self.folder = folder

    async def send(self, frame: pd.DataFrame, **wish: Any) -> dict[str, Any]:
        path = self.folder / "bars.parquet"
        frame.to_parquet(path, index=False)
        return await self.prices.import_file(path, path.name, ImportOptions(**wish))

    async def fetch(self, coins: list[str], *args: Any) -> pd.DataFrame:
        fetched = await self.prices.fetch(coins, *(args or (None, None)))
        digest = fetched.computed.file("frame.parquet").digest
        return pd.read_parquet(BytesIO(b"".join([piece async for piece in self.blobs.open(digest)])))

    async def count(self) -> int:
        rows = await self.prices.database.rows("SELECT count(*) AS n FROM price_bars")
        return int(rows[0]["n"])


@pytest.fixture
async def market(
    database_url: str, cells_socket: Path, blob_store: FolderBlobs, tmp_path: Path
) -> AsyncIterator[Market]:
    cells = ProcessProvider(ProcessConfig(tmp_path / "home", socket=cells_socket))
    await cells.start()
    database = await Database.open(database_url)
    computer = ComputationRunner(cells, blob_store, cells.scratch)
    yield Market(Prices(database, computer, tmp_path / "prices", None), blob_store, tmp_path)
    await database.close()
    await cells.close()


async def test_what_comes_out_is_what_went_in(market: Market) -> None:
    sent = bars("BTC", 500)
    await market.send(sent)
    pd.testing.assert_frame_equal(await market.fetch(["BTC"]), sent.drop(columns="symbol"), check_dtype=False)
    since, until = START + timedelta(hours=1), START + timedelta(hours=2)
    assert len(await market.fetch(["BTC"], since, until)) == 13
    with pytest.raises(NotFound):
        await market.fetch(["BTC"], START - timedelta(days=2), START - timedelta(days=1))
    assert list((market.folder / "prices").iterdir()) == []


async def test_several_coins_come_by_time_and_coin(market: Market) -> None:
    await market.send(pd.concat([bars("ETH", 30, seed=1), bars("BTC", 30)]))
    frame = await market.fetch(["ETH", "BTC"])
    assert list(frame.columns) == ["coin", "ts", *MEASURES]
    assert frame["coin"].tolist() == ["BTC", "ETH"] * 30
    assert frame["ts"].is_monotonic_increasing


@pytest.mark.parametrize(("interval", "rule"), [("15m", "15min"), ("1h", "1h"), ("1d", "1D")])
async def test_longer_bars_are_what_pandas_makes_of_them(market: Market, interval: str, rule: str) -> None:
    sent = bars("BTC", 3 * 288)
    await market.send(sent)
    frame = (await market.fetch(["BTC"], None, None, interval)).set_index("ts")
    how = {"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum"}
    expected = sent.set_index("ts")[MEASURES].resample(rule).agg(how)
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False, check_freq=False, check_index_type=False)


async def test_longer_bars_that_lack_a_part_are_named_and_cut_ones_left_out(market: Market) -> None:
    sent = bars("BTC", 60, start=START + timedelta(minutes=20)).drop(index=[20, 21])
    await market.send(sent)
    fetched = await market.prices.fetch(["BTC"], None, None, "1h")
    assert fetched.facts["rows"] == 4
    assert fetched.facts["incomplete"]["count"] == 3
    told = [(each["time"], each["bars"], each["left_out"]) for each in fetched.facts["incomplete"]["examples"]]
    assert told == [
        ("2024-01-01T00:00:00Z", 8, True),
        ("2024-01-01T02:00:00Z", 10, False),
        ("2024-01-01T05:00:00Z", 4, True),
    ]
    with pytest.raises(NotFound, match="BTC at 5m"):
        await market.prices.fetch(["BTC"], None, None, "1m")


async def test_what_is_kept_of_a_series_is_what_sql_counts_and_numpy_says(market: Market) -> None:
    whole = bars("BTC", 5_000)
    first = whole.drop(index=range(1_000, 1_050)).head(3_000)
    await market.send(first)
    await market.send(whole.iloc[2_500:].drop(index=range(4_000, 4_003)))
    (series,) = await market.prices.list_series()
    async with market.prices.database.dedicated_connection() as connection:
        counted = await summarize_series(connection, series.id, series.interval_s)
    assert counted
    assert series.summary == pytest.approx(counted.summary)
    there = whole.drop(index=[*range(1_000, 1_050), *range(4_000, 4_003)])
    (told,) = await market.prices.statistics()
    assert (told["bars"], told["missing"], told["gaps"]) == (len(there), 53, 2)
    assert told["mean_close"] == pytest.approx(there["close"].mean())
    assert told["std_close"] == pytest.approx(there["close"].std())
    assert told["range"] == pytest.approx(there["high"].max() - there["low"].min())
    assert (told["first_close"], told["last_close"]) == (there["close"].iloc[0], there["close"].iloc[-1])


async def test_sql_and_numpy_agree_on_a_market_that_closes(market: Market) -> None:
    days = pd.bdate_range("2024-01-01", "2024-02-16")
    stamps = [day + pd.Timedelta(minutes=870 + 30 * n) for day in days for n in range(13)]
    frame = bars("AAPL", len(stamps)).assign(ts=stamps).drop(index=[20, 21, *range(130, 156)])
    await market.send(frame, interval="30m")
    (series,) = await market.prices.list_series()
    async with market.prices.database.dedicated_connection() as connection:
        counted = await summarize_series(connection, series.id, series.interval_s)
    assert counted
    assert counted.summary == pytest.approx(series.summary)
    closed = {name: series.summary[name] for name in ("closes_at_weekends", "missing", "missing_days")}
    assert closed == {"closes_at_weekends": True, "missing": 2, "missing_days": 2}


async def test_a_second_import_writes_only_what_is_new_or_different(market: Market) -> None:
    sent = bars("BTC", 400)
    assert (await market.send(sent.head(300)))["added"] == 300
    mended = sent.assign(volume=sent["volume"].where(sent.index != 10, 1.0))
    again = await market.send(mended)
    assert (again["added"], again["changed"]) == (100, 1)
    assert (await market.fetch(["BTC"]))["volume"][10] == 1.0
    same = await market.send(mended)
    assert (same["added"], same["changed"]) == (0, 0)


async def test_an_import_that_fails_on_the_way_leaves_nothing(market: Market) -> None:
    await market.send(bars("ETH", 20))
    shifted = bars("ETH", 20, start=START + timedelta(minutes=2))
    with pytest.raises(Conflict, match="grid"):
        await market.send(pd.concat([bars("BTC", 50), shifted]))
    assert [one.coin for one in await market.prices.list_series()] == ["ETH"]
    assert await market.count() == 20


async def test_an_import_that_is_cancelled_leaves_nothing(market: Market) -> None:
    path = market.folder / "many.parquet"
    pd.concat([bars(f"COIN{n}", 2_000) for n in range(4)]).to_parquet(path, index=False)
    stored = asyncio.Event()

    def hear(fraction: float, text: str) -> None:
        if "stored" in text:
            stored.set()
            running.cancel()

    running = asyncio.ensure_future(market.prices.import_file(path, path.name, None, hear))
    with pytest.raises(asyncio.CancelledError):
        await running
    assert stored.is_set()
    assert await market.prices.list_series() == []
    assert await market.count() == 0
    assert await market.send(bars("BTC", 20))


async def test_one_import_of_an_owner_runs_at_a_time(market: Market) -> None:
    async with market.prices.database.dedicated_connection() as connection, connection.transaction():
        await connection.fetchval("SELECT pg_advisory_xact_lock(hashtextextended('prices:shared', 0))")
        with pytest.raises(Conflict, match="Another import"):
            await market.send(bars("BTC", 20))
    assert (await market.send(bars("BTC", 20)))["added"] == 20


async def test_who_deletes_a_series_during_an_import_takes_the_new_bars_too(market: Market) -> None:
    await market.send(bars("BTC", 20))
    path = market.folder / "more.parquet"
    bars("BTC", 400).to_parquet(path, index=False)
    drops: list[asyncio.Future[int]] = []

    def hear(fraction: float, text: str) -> None:
        if "stored" in text:
            drops.append(asyncio.ensure_future(market.prices.drop("BTC")))

    await market.prices.import_file(path, path.name, None, hear)
    assert await drops[0] in (20, 400)
    assert await market.count() == 0


async def test_bars_go_with_their_series(market: Market) -> None:
    await market.send(pd.concat([bars("BTC", 20), bars("ETH", 20)]))
    assert await market.prices.drop("BTC") == 20
    assert await market.count() == 20
