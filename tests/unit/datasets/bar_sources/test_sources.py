"""Every source leaves a file whose bars are those that it has; an exchange is asked page by page, patiently."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.decoded_bars import decode_batches
from tests.recorded_exchange import PAGE, Exchange, recorded_exchange

from app.computations.bars import prices
from app.computations.cell_files.workspace import CellWorkspace
from app.datasets.bar_sources.exchange import ExchangeSource, open_exchange
from app.datasets.bar_sources.file import FileSource
from app.datasets.bar_sources.source import BarSource
from app.errors import InvalidInput, NotFound, Unavailable

START = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=5)


def recorded(count: int) -> list[list[Any]]:
    first = int(START.timestamp() * 1000)
    return [
        [first + 300_000 * n, 100.0 + n % 7, 110.25 + n % 5, 90.5, 101.0 + n % 3, 2.5 + n % 11]
        for n in range(count)
    ]


@contextmanager
def client_of(exchange: Exchange) -> Iterator[Any]:
    """CCXT's own Binance, at the recorded one's address."""
    client = open_exchange("binance")
    client.urls["api"]["public"] = exchange.url
    client.options["fetchMarkets"] = {"types": ["spot"]}
    client.options["fetchCurrencies"] = False
    client.rateLimit = 1
    try:
        yield client
    finally:
        client.close()


def source_of(client: Any, count: int, pauses: list[float] | None = None) -> ExchangeSource:
    until = START + STEP * (count - 1)
    heard = [] if pauses is None else pauses
    return ExchangeSource(client, "BTC/USDT", "5m", START, until, heard.append)


def silent(fraction: float, text: str) -> None:
    """For those who do not look on."""


def bars_in(source: BarSource, folder: Path) -> dict[str, Any]:
    """What an import reads of the file that the source leaves."""
    (folder / "brought").mkdir()
    (folder / "read").mkdir()
    brought = source.fetch(folder / "brought", silent)
    facts: Any = prices.read_bars(
        CellWorkspace({"upload": brought.path}, folder / "read"),
        brought.path.name,
        brought.coin,
        brought.interval,
    )
    assert facts["bad"]["count"] == 0
    assert facts["series"][0]["coin"] == "BTC/USDT"
    return decode_batches((folder / "read" / "bars.bin").read_bytes())


@contextmanager
def file_source(folder: Path, rows: list[list[Any]]) -> Iterator[BarSource]:
    path = folder / "klines.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    yield FileSource(path, "BTC/USDT", "5m")


@contextmanager
def exchange_source(folder: Path, rows: list[list[Any]]) -> Iterator[BarSource]:
    with recorded_exchange(rows) as exchange, client_of(exchange) as client:
        yield source_of(client, len(rows))


@pytest.mark.parametrize("opened", [file_source, exchange_source])
def test_a_source_brings_the_bars_that_it_has(opened: Callable[..., Any], tmp_path: Path) -> None:
    rows = recorded(2 * PAGE + 17)
    with opened(tmp_path, rows) as source:
        bars = bars_in(source, tmp_path)
    assert (bars["ts"] // 1000).tolist() == [row[0] for row in rows]
    for place, name in enumerate(("open", "high", "low", "close", "volume"), start=1):
        assert bars[name].tolist() == [row[place] for row in rows]


def test_pages_go_on_where_the_last_one_ended_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    rows = recorded(2 * PAGE + 17)
    with recorded_exchange(rows) as exchange, client_of(exchange) as client:
        source_of(client, len(rows)).fetch(tmp_path, silent)
    asked = [int(wish["startTime"]) for wish in exchange.requests]
    assert asked == [rows[0][0], rows[PAGE][0], rows[2 * PAGE][0]]


def test_a_hole_of_the_exchange_is_stepped_over(tmp_path: Path) -> None:
    rows = recorded(4_000)
    there = rows[:100] + rows[3_500:]
    with recorded_exchange(there) as exchange, client_of(exchange) as client:
        bars = source_of(client, len(rows)).fetch(tmp_path, silent)
    assert len(bars.path.read_text().splitlines()) == len(there) + 1


def test_a_busy_exchange_is_asked_again_after_longer_pauses(tmp_path: Path) -> None:
    rows, pauses = recorded(20), list[float]()
    with recorded_exchange(rows, faults=[429, 503, 429]) as exchange, client_of(exchange) as client:
        brought = source_of(client, len(rows), pauses).fetch(tmp_path, silent)
    assert pauses == [1.0, 2.0, 4.0]
    assert len(brought.path.read_text().splitlines()) == 21


def test_an_exchange_that_stays_away_is_named_without_its_address(tmp_path: Path) -> None:
    with (
        recorded_exchange(recorded(5), faults=[503] * 20) as exchange,
        client_of(exchange) as client,
        pytest.raises(Unavailable, match=r"^binance does not answer \(\w+\); try again later\.$"),
    ):
        source_of(client, 5).fetch(tmp_path, silent)
    assert len(exchange.requests) == 6


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="binance"):
        open_exchange("binanse")
    with pytest.raises(NotFound):
        FileSource(tmp_path / "none.csv").fetch(tmp_path, silent)
    with recorded_exchange(recorded(5)) as exchange, client_of(exchange) as client:
        until = START + STEP
        with pytest.raises(InvalidInput, match="BTC/USDT"):
            ExchangeSource(client, "BTC/USD", "5m", START, until).fetch(tmp_path, silent)
        with pytest.raises(InvalidInput, match="no bars of 7m"):
            ExchangeSource(client, "BTC/USDT", "7m", START, until).fetch(tmp_path, silent)
        later = START + timedelta(days=300)
        with pytest.raises(InvalidInput, match="in that time"):
            ExchangeSource(client, "BTC/USDT", "5m", later, later + STEP).fetch(tmp_path, silent)
