"""Which coin is meant, and which of its series serves."""

from datetime import UTC, datetime

import pytest

from app.datasets.price_series import PriceSeries, choose_series, find_coin
from app.errors import NotFound

AT = datetime(2024, 1, 1, tzinfo=UTC)


def series(coin: str, interval_s: int) -> PriceSeries:
    return PriceSeries(1, coin, interval_s, 10, AT, AT, {}, is_shared=False)


@pytest.mark.parametrize(
    ("wanted", "there", "meant"),
    [
        ("BTC", ["BTC", "BTCUSDT"], "BTC"),
        ("btc", ["BTC/EUR", "BTCUSDT", "ETHBTC"], "BTCUSDT"),
        ("BTC", ["WBTC", "BTCDOM"], None),
        ("btc-usdt", ["BTC/USDT"], "BTC/USDT"),
        ("DOGE", [], None),
        ("MSFT", ["MSFT.US", "MSFTX"], "MSFT.US"),
        ("EURUSD=X", ["EURUSD"], "EURUSD"),
    ],
)
def test_a_coin_is_found_by_its_base_in_the_usual_quote(
    wanted: str, there: list[str], meant: str | None
) -> None:
    assert find_coin(wanted, there) == meant


@pytest.mark.parametrize(
    ("wanted_s", "taken_s"), [(None, 60), (60, 60), (300, 300), (900, 300), (120, 60), (30 * 86_400, 86_400)]
)
def test_the_longest_series_that_sums_up_to_the_wanted_interval_serves(
    wanted_s: int | None, taken_s: int
) -> None:
    there = [series("BTC", 60), series("BTC", 300), series("BTC", 86_400)]
    assert [one.interval_s for one in choose_series(there, ["BTC"], wanted_s)] == [taken_s]


def test_all_coins_are_taken_at_one_interval_or_what_there_is_is_named() -> None:
    there = [series("BTC", 60), series("BTC", 3_600), series("ETH", 3_600), series("SOL", 7_200)]
    assert [one.interval_s for one in choose_series(there, ["BTC", "ETH"], None)] == [3_600, 3_600]
    with pytest.raises(NotFound, match="BTC at 1m, 1h; SOL at 2h"):
        choose_series(there, ["BTC", "SOL"], None)
    with pytest.raises(NotFound, match="aggregated to 1m: ETH at 1h"):
        choose_series(there, ["ETH"], 60)
