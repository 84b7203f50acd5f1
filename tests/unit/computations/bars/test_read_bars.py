"""Bars out of files as exchanges and data sellers make them, and what is said of each bad row."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.feather as feather
import pytest
from tests.decoded_bars import decode_batches

from app.computations.bars import prices
from app.computations.cell_files.workspace import CellWorkspace
from app.errors import InvalidInput

START = datetime(2024, 1, 1, tzinfo=UTC)
START_S = int(START.timestamp())
NOW_S = datetime(2025, 1, 1, tzinfo=UTC).timestamp()


def bars(rows: int, step_s: int = 300, coin: str = "BTC") -> pd.DataFrame:
    chance = np.random.default_rng(rows)
    close = (100 * np.exp(np.cumsum(chance.normal(0, 1e-3, rows)))).round(4)
    opened = np.concatenate([[100.0], close[:-1]])
    return pd.DataFrame(
        {
            "symbol": coin,
            "time": START_S + step_s * np.arange(rows),
            "open": opened,
            "high": np.maximum(opened, close) + 0.5,
            "low": np.minimum(opened, close) - 0.5,
            "close": close,
            "volume": chance.lognormal(3, 0.5, rows).round(3),
        }
    )


@pytest.fixture
def read(tmp_path: Path):
    """Read bytes (or a file) as bars: the facts, and the records that were left as columns."""
    count = iter(range(100))

    def go(content: bytes | str | Path, **params: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        folder = tmp_path / str(next(count))
        (folder / "out").mkdir(parents=True)
        upload = content if isinstance(content, Path) else folder / "upload"
        if not isinstance(content, Path):
            upload.write_bytes(content.encode() if isinstance(content, str) else content)
        bench = CellWorkspace({"upload": upload}, folder / "out")
        try:
            facts: Any = prices.read_bars(bench, **{"now_s": NOW_S, **params})
        except InvalidInput:
            assert list((folder / "out").iterdir()) == []
            raise
        assert [path.name for path in (folder / "out").iterdir()] == ["bars.bin"]
        columns = decode_batches((folder / "out" / "bars.bin").read_bytes())
        assert len(columns["ts"]) == facts["kept"]
        return facts, columns

    return go


def assert_same(columns: dict[str, Any], frame: pd.DataFrame) -> None:
    assert (columns["ts"] // 1_000_000 == frame["time"]).all()
    for name in ("open", "high", "low", "close", "volume"):
        np.testing.assert_allclose(columns[name], frame[name], rtol=1e-12)


def rows_of(facts: dict[str, Any], reason: str) -> list[int]:
    return [each["row"] for each in facts["bad"]["examples"] if each["reason"] == reason]


class TestForms:
    @pytest.mark.parametrize("unit", [1, 1_000, 1_000_000, 1_000_000_000])
    def test_seconds_milli_micro_and_nanoseconds_are_told_apart(self, read, unit):
        frame = bars(30)
        facts, columns = read(frame.assign(time=frame["time"] * unit).to_csv(index=False))
        assert (facts["kept"], facts["series"][0]["interval"]) == (30, "5m")
        assert_same(columns, frame)

    def test_parquet_feather_and_records_hold_the_same_bars(self, read, tmp_path):
        frame = bars(30, 60).assign(time=lambda f: pd.to_datetime(f["time"], unit="s", utc=True))
        frame["time"] = frame["time"].dt.tz_convert("Asia/Tokyo")
        frame["symbol"] = frame["symbol"].astype("category")
        frame.to_parquet(tmp_path / "bars.parquet")
        feather.write_feather(frame, tmp_path / "bars.feather")
        (tmp_path / "bars.json").write_text(frame.to_json(orient="records", date_format="iso"))
        for name in ("bars.parquet", "bars.feather", "bars.json"):
            facts, columns = read(tmp_path / name, filename=name)
            assert (facts["kept"], facts["series"][0]["interval"]) == (30, "1m"), name
            assert_same(columns, bars(30, 60))

    @pytest.mark.parametrize(
        "order",
        [
            ("open", "high", "low", "close", "volume"),  # CCXT, OKX, Bybit
            ("low", "high", "open", "close", "volume"),  # Coinbase
            ("open", "close", "high", "low", "volume"),  # Bitfinex
        ],
    )
    def test_arrays_are_taken_in_the_order_in_which_highs_are_highest(self, read, order):
        frame = bars(40)
        rows = [[int(row.time) * 1000, *(str(row[name]) for name in order)] for _, row in frame.iterrows()]
        for sent in (rows, {"error": [], "result": {"XBT": rows, "last": 1}}):
            facts, columns = read(json.dumps(sent), coin="BTC")
            assert facts["kept"] == 40
            assert_same(columns, frame)

    def test_bars_in_columns_next_to_a_status_are_read(self, read):
        frame = bars(20)
        letters = {"t": "time", "o": "open", "h": "high", "l": "low", "c": "close", "v": "volume"}
        sent = {"s": "ok", **{letter: frame[name].tolist() for letter, name in letters.items()}}
        _, columns = read(json.dumps(sent), coin="BTC")
        assert_same(columns, frame)

    def test_a_kraken_bar_has_its_volume_behind_the_mean(self, read):
        frame = bars(20)
        rows = [
            [row.time, *(str(row[n]) for n in ("open", "high", "low", "close")), "100.1", str(row.volume), 7]
            for _, row in frame.iterrows()
        ]
        _, columns = read(json.dumps(rows), coin="BTC")
        assert_same(columns, frame)

    def test_a_dump_without_a_header_is_read_by_position(self, read):
        frame = bars(20)
        wide = frame[["time", "open", "high", "low", "close", "volume"]].assign(
            time=frame["time"] * 1000, end=1, quote=2.5, trades=3
        )
        _, columns = read(wide.to_csv(index=False, header=False), coin="BTC")
        assert_same(columns, frame)

    def test_an_index_that_pandas_wrote_without_a_name_is_the_time(self, read, tmp_path):
        frame = bars(20)
        indexed = frame.set_index(pd.to_datetime(frame["time"], unit="s")).drop(columns="time")
        indexed.index.name = None
        indexed.to_parquet(tmp_path / "bars.parquet")
        for content in (indexed.to_csv(), tmp_path / "bars.parquet"):
            _, columns = read(content)
            assert_same(columns, frame)

    def test_a_days_date_and_time_may_be_two_columns(self, read):
        frame = bars(20)
        at = pd.to_datetime(frame["time"], unit="s")
        for days, times in (("%Y.%m.%d", "%H:%M:%S"), ("%Y%m%d", "%H%M%S")):
            sold = frame.drop(columns=["time", "symbol"]).rename(columns=lambda name: f"<{name.upper()}>")
            sold.insert(0, "<TIME>", at.dt.strftime(times))
            sold.insert(0, "<DATE>", at.dt.strftime(days))
            _, columns = read(sold.to_csv(index=False, sep="\t"), coin="BTC")
            assert_same(columns, frame)

    @pytest.mark.parametrize(
        ("days", "clock", "mark"),
        [("%Y.%m.%d", ",%H:%M", ","), ("%Y%m%d", " %H%M%S", ";")],
        ids=["MetaTrader", "HistData"],
    )
    def test_a_days_date_and_time_need_no_header(self, read, days, clock, mark):
        frame = bars(20)
        at = pd.to_datetime(frame["time"], unit="s").dt.strftime(days + clock)
        sold = at.str.cat(frame[["open", "high", "low", "close", "volume"]].astype(str), sep=mark)
        facts, columns = read("\n".join(sold) + "\n", coin="EURUSD")
        assert_same(columns, frame)
        assert [note[:29] for note in facts["format"]["notes"]] == ["The file has no column names;"]

    def test_a_table_that_yfinance_saved_is_read_below_its_heads(self, read):
        frame = bars(20, 86_400)
        rows = frame[["close", "high", "low", "open", "volume"]].to_csv(index=False, header=False).splitlines()
        days = pd.to_datetime(frame["time"], unit="s").dt.strftime("%Y-%m-%d")
        heads = "Price,Close,High,Low,Open,Volume\nTicker,A,A,A,A,A\nDate,,,,,\n"
        facts, columns = read(heads + "".join(f"{d},{r}\n" for d, r in zip(days, rows, strict=True)), coin="A")
        assert (facts["bad"]["count"], facts["rows"]) == (0, 20)
        assert_same(columns, frame)

    def test_prices_may_carry_their_currency(self, read):
        text = "Date,Close/Last,Volume,Open,High,Low\n" + "".join(
            f'01/{day}/2024,"$1,042.50",{day},$1042,$1043.25,$1041\n' for day in range(31, 12, -1)
        )
        _, columns = read(text, coin="AAPL")
        assert columns["close"].tolist() == [1_042.5] * 19
        assert columns["volume"].tolist() == list(range(13, 32))

    @pytest.mark.parametrize(("zone", "ahead_s"), [("US/Eastern", 5 * 3600), ("UTC", 0)])
    def test_a_response_of_alpha_vantage_has_its_coin_and_time_zone(self, read, zone, ahead_s):
        frame = bars(30)
        rows = {
            str(pd.Timestamp(row.time, unit="s")): {
                "1. open": str(row.open),
                "2. high": str(row.high),
                "3. low": str(row.low),
                "4. close": str(row.close),
                "5. volume": str(row.volume),
            }
            for row in frame[::-1].itertuples()
        }
        meta = {"1. Information": "Intraday (5min)", "2. Symbol": "IBM", "6. Time Zone": zone}
        facts, columns = read(json.dumps({"Meta Data": meta, "Time Series (5min)": rows}))
        assert_same(columns, frame.assign(time=frame["time"] + ahead_s))
        assert [(one["coin"], one["interval"]) for one in facts["series"]] == [("IBM", "5m")]
        assert any(zone in note for note in facts["format"]["notes"]) == bool(ahead_s)

    def test_days_of_alpha_vantage_are_days_in_any_zone(self, read):
        frame = bars(30, 86_400)
        rows = {
            str(pd.Timestamp(row.time, unit="s").date()): {
                f"{place}. {name}": getattr(row, name)
                for place, name in enumerate(("open", "high", "low", "close"), 1)
            }
            for row in frame.itertuples()
        }
        meta = {"2. From Symbol": "EUR", "3. To Symbol": "USD", "6. Time Zone": "US/Eastern"}
        facts, columns = read(json.dumps({"Meta Data": meta, "Time Series FX (Daily)": rows}))
        assert (columns["ts"] // 1_000_000 == frame["time"]).all()
        assert facts["series"][0]["coin"] == "EURUSD"

    def test_a_download_of_several_tickers_by_yfinance(self, read):
        frame = bars(30, 86_400)
        days = [str(pd.Timestamp(second, unit="s").date()) for second in frame["time"]]
        kinds = ("close", "high", "low", "open", "volume")
        lines = [
            "Price," + ",".join(f"{kind.title()},{kind.title()}" for kind in kinds),
            "Ticker," + ",".join("AAPL,NVDA" for _ in kinds),
            "Date" + "," * 10,
        ]
        for day, row in zip(days, frame.itertuples(), strict=True):
            values = [getattr(row, kind) for kind in kinds]
            cells = (f"{value},{2 * value if day != days[3] else ''}" for value in values)
            lines.append(f"{day}," + ",".join(cells))
        facts, _ = read("\n".join(lines))
        found = {one["coin"]: (one["bars"], one["summary"]["first_close"]) for one in facts["series"]}
        first = frame["close"].iloc[0]
        assert found == {"AAPL": (30, first), "NVDA": (29, 2 * first)}

    def test_prices_with_a_decimal_comma_and_points_between_thousands(self, read):
        frame = bars(40, 86_400)
        scaled = frame.assign(**{name: 10 * frame[name] for name in ("open", "high", "low", "close")})

        def spelled(value):
            return f"{value:,.3f}".replace(",", "_").replace(".", ",").replace("_", ".")

        rows = [
            f"{pd.Timestamp(row.time, unit='s'):%d.%m.%Y};"
            + ";".join(spelled(getattr(row, name)) for name in ("open", "high", "low", "close", "volume"))
            for row in scaled.itertuples()
        ]
        facts, columns = read("Datum;Eröffnung;Hoch;Tief;Schlusskurs;Volumen\n" + "\n".join(rows), coin="DAX")
        assert_same(columns, scaled.round(3))
        assert facts["format"]["notes"] == []

    def test_daily_bars_by_date_and_prices_with_thousands(self, read):
        text = "Date,Price,Open,High,Low,Vol.,Change %\n" + "".join(
            f'2024-01-{day:02d},"42,{day:03d}.5","42,000.0","43,000.0","41,000.0",{day}.5K,1.2%\n'
            for day in range(1, 11)
        )
        facts, columns = read(text, coin="btc")
        assert facts["series"][0]["coin"] == "BTC"
        assert facts["series"][0]["interval"] == "1d"
        assert columns["close"][:2].tolist() == [42_001.5, 42_002.5]
        assert columns["volume"][:2].tolist() == [1_500.0, 2_500.0]

    def test_a_clock_of_another_zone_is_set_right_also_in_summer(self, read):
        text = "time,open,high,low,close,volume\n"
        text += "".join(f"2024-07-01 09:{30 + n}:00,1,1,1,1,1\n" for n in range(5))
        _, columns = read(text, coin="AAPL", time_zone="America/New_York")
        assert columns["ts"][0] // 1_000_000 == datetime(2024, 7, 1, 13, 30, tzinfo=UTC).timestamp()
        with pytest.raises(InvalidInput, match="not a time zone"):
            read(text, coin="AAPL", time_zone="America/Atlantis")

    def test_rows_in_any_order_are_put_in_order_and_keep_their_numbers(self, read):
        frame = pd.concat([bars(50), bars(50, coin="ETH")]).sample(frac=1, random_state=1)
        frame.iloc[7, frame.columns.get_loc("volume")] = -1
        facts, columns = read(frame.to_csv(index=False))
        assert rows_of(facts, "the volume is negative") == [8]
        assert [series["bars"] for series in facts["series"]].count(50) == 1
        assert (np.diff(columns["ts"]) > 0).sum() == 97


class TestIntervals:
    @pytest.mark.parametrize(
        ("step_s", "name"),
        [(1, "1s"), (60, "1m"), (900, "15m"), (14_400, "4h"), (86_400, "1d"), (604_800, "1w")],
    )
    def test_an_interval_is_found_from_the_times(self, read, step_s, name):
        facts, _ = read(bars(40, step_s).to_csv(index=False))
        assert facts["series"][0]["interval"] == name

    def test_months_are_months(self, read):
        months = pd.date_range("2020-01-01", periods=24, freq="MS").strftime("%Y-%m-%d")
        facts, _ = read(bars(24).assign(time=months).to_csv(index=False))
        (series,) = facts["series"]
        assert (series["interval"], series["bars"], series["summary"]["missing"]) == ("1mo", 24, 0)

    def test_days_of_a_place_with_summer_time_stand_on_one_grid(self, read):
        days = pd.date_range("2024-01-01", "2024-12-01", freq="D", tz="America/New_York")
        frame = bars(len(days)).assign(time=days.tz_convert("UTC").strftime("%Y-%m-%d %H:%M:%S"))
        facts, _ = read(frame.to_csv(index=False))
        assert (facts["bad"]["count"], facts["series"][0]["summary"]["missing"]) == (0, 0)

    def test_minutes_and_hours_of_one_coin_in_a_file_are_refused(self, read):
        frame = bars(20).assign(timeframe="5m")
        assert read(frame.to_csv(index=False))[0]["kept"] == 20
        both = pd.concat([frame, bars(20, 3_600).assign(timeframe="1h")])
        with pytest.raises(InvalidInput, match="several intervals in its column timeframe \\(1h, 5m"):
            read(both.to_csv(index=False))

    def test_end_times_of_bars_give_a_note(self, read):
        frame = bars(20).assign(time=lambda f: f["time"] * 1_000 + 299_999)
        facts, _ = read(frame.to_csv(index=False))
        assert "ends of bars" in facts["format"]["notes"][-1]
        assert read(bars(20).to_csv(index=False))[0]["format"]["notes"] == []

    def test_a_wrong_interval_and_none_at_all_are_refused(self, read):
        with pytest.raises(InvalidInput, match="1m apart, not 5m"):
            read(bars(40, 60).to_csv(index=False), interval="5m")
        with pytest.raises(InvalidInput, match="Set it with `interval`"):
            read(bars(2).to_csv(index=False))
        assert read(bars(2).to_csv(index=False), interval="5m")[0]["kept"] == 2
        with pytest.raises(InvalidInput, match="look like trades"):
            read(bars(20).assign(time=(START_S * 1000 + 137 * np.arange(20))).to_csv(index=False))


class TestFaults:
    def test_every_kind_of_bad_bar_is_named_by_row(self, read):
        frame = bars(40).astype({"time": object, "open": object})
        frame.loc[0, "symbol"] = "<script>"
        frame.loc[1, "time"] = "soon"
        frame.loc[2, "time"] = int(NOW_S)
        frame.loc[3, "time"] += 7
        frame.loc[4, "open"] = "inf"
        frame.loc[5, "close"] = np.nan
        frame.loc[6, "low"] = 0.0
        frame.loc[7, "volume"] = -0.1
        frame.loc[8, "high"] = frame.loc[8, "low"] - 0.1
        frame.loc[9, "close"] = frame.loc[9, "high"] + 1
        frame.loc[10, "low"] = frame.loc[10, "close"] + 0.1
        facts, columns = read(frame.to_csv(index=False))
        said = {reason: rows_of(facts, reason) for reason in facts["bad"]["reasons"]}
        assert said == {
            "no coin": [1],
            "no time": [2],
            "it ends in the future": [3],
            "off the grid of its interval": [4],
            "a value is missing or not a finite number": [5, 6],
            "a price is not positive": [7],
            "the volume is negative": [8],
            "high is not the highest": [9, 10],
            "low is not the lowest": [11],
        }
        assert facts["kept"] == len(columns["ts"]) == 29

    def test_repeated_rows_and_contradicting_ones_are_told_apart_and_the_last_stays(self, read):
        frame = bars(20)
        other = frame.iloc[[4]].assign(close=frame["close"][4] + 0.25)
        facts, columns = read(pd.concat([frame, frame.iloc[[3]], other]).to_csv(index=False))
        assert facts["bad"]["reasons"] == {
            "a later row of the same coin and time has other values": 1,
            "repeated by a later row": 1,
        }
        assert rows_of(facts, "repeated by a later row") == [4]
        assert rows_of(facts, "a later row of the same coin and time has other values") == [5]
        assert columns["close"][4] == other["close"].iloc[0]

    @pytest.mark.parametrize("seed", range(6))
    def test_validation_equals_a_plain_loop(self, read, seed):
        chance = np.random.default_rng(seed)
        frame = bars(150)
        frame = frame.iloc[chance.integers(0, 150, 220)].reset_index(drop=True)
        for name in ("open", "high", "low", "close", "volume"):
            hit = chance.random(len(frame)) < 0.08
            frame.loc[hit, name] = chance.choice([np.nan, -1.0, 0.0, 99.9, 101.5], hit.sum())
        facts, columns = read(frame.to_csv(index=False), interval="5m")
        kept: dict[int, tuple[float, ...]] = {}
        good = 0
        for row in frame.itertuples():
            values = (row.open, row.high, row.low, row.close, row.volume)
            positive = all(np.isfinite(values)) and min(values[:4]) > 0 and row.volume >= 0
            if positive and row.high >= max(values[:4]) and row.low <= min(values[:4]):
                good += 1
                kept[row.time] = values
        assert (columns["ts"] // 1_000_000).tolist() == sorted(kept)
        assert [columns["close"][n] for n in range(len(kept))] == [kept[at][3] for at in sorted(kept)]
        repeated = sum(count for reason, count in facts["bad"]["reasons"].items() if "a later row" in reason)
        assert (facts["rows"], facts["kept"], repeated) == (220, len(kept), good - len(kept))
        assert facts["bad"]["count"] == 220 - len(kept)

    def test_examples_are_capped_and_all_faults_counted(self, read):
        frame = bars(3_000)
        frame.loc[::2, "volume"] = -1
        frame.loc[1, "low"] = -1
        facts, _ = read(frame.to_csv(index=False))
        assert facts["bad"]["reasons"]["the volume is negative"] == 1_500
        assert rows_of(facts, "the volume is negative") == list(range(1, 200, 2))
        assert rows_of(facts, "a price is not positive") == [2]

    def test_gaps_are_named_with_what_lacks(self, read):
        facts, _ = read(bars(40).drop(index=[10, 11, 12, 30]).to_csv(index=False))
        (series,) = facts["series"]
        assert [gap["missing"] for gap in series["gaps"]] == [3, 1]
        assert series["gaps"][0]["after"] == "2024-01-01T00:45:00Z"
        assert (series["summary"]["gaps"], series["summary"]["missing"]) == (2, 4)

    def test_nights_and_weekends_of_an_exchange_that_closes_are_no_gaps(self, read):
        days = pd.bdate_range("2024-01-01", "2024-03-01")
        stamps = [day + pd.Timedelta(minutes=14 * 60 + 30 + 5 * n) for day in days for n in range(78)]
        frame = bars(len(stamps)).assign(time=pd.DatetimeIndex(stamps).as_unit("s").astype("int64"))
        gone = frame.index[100:103].tolist() + frame.index[780:858].tolist()
        facts, _ = read(frame.drop(index=gone).to_csv(index=False))
        summary = facts["series"][0]["summary"]
        assert (summary["closes_at_weekends"], summary["missing"], summary["missing_days"]) == (True, 3, 1)

    def test_a_table_without_bars_names_the_missing_columns(self, read):
        with pytest.raises(InvalidInput) as refused:
            read("time,open,low\n1,2,3\n")
        assert refused.value.facts["missing"] == ["coin", "high", "close"]
