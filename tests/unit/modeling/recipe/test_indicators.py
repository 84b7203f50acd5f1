"""Indicators: none looks ahead, they are what the formulas say, and models get them without their unit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidInput
from app.modeling.recipe.indicator_units import measure_units, remove_unit
from app.modeling.recipe.indicators import INPUTS, compute_indicator, list_indicators, parse_indicator
from app.modeling.recipe.transforms.indicators import Indicators


def market(rows: int, seed: int = 0, price: float = 100.0) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    close = price * np.exp(np.cumsum(chance.normal(0, 0.01, rows)))
    opened = np.concatenate([[price], close[:-1]])
    high = np.maximum(opened, close) * (1 + np.abs(chance.normal(0, 0.003, rows)))
    low = np.minimum(opened, close) * (1 - np.abs(chance.normal(0, 0.003, rows)))
    return {"open": opened, "high": high, "low": low, "close": close, "volume": chance.lognormal(5, 0.5, rows)}


def head(bars: dict[str, np.ndarray], rows: int) -> dict[str, np.ndarray]:
    return {key: values[:rows] for key, values in bars.items()}


@pytest.mark.parametrize("name", list_indicators())
def test_cutting_the_future_off_changes_no_past_value(name):
    bars, spec = market(420), parse_indicator(name)
    whole, units = compute_indicator(spec, bars), measure_units(spec)
    for rows in (150, 287):
        early = compute_indicator(spec, head(bars, rows))
        for column, values in whole.items():
            np.testing.assert_array_equal(early[column], values[:rows])
            plain = remove_unit(values, units[column], bars)[:rows]
            np.testing.assert_array_equal(remove_unit(early[column], units[column], head(bars, rows)), plain)


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(
        ["SMA", "EMA", "RSI", "ATR", "ADX", "CCI", "MFI", "WILLR", "ROC", "DPO", "FRACTAL", "BBANDS"]
    ),
    period=st.integers(2, 60),
    rows=st.integers(5, 250),
    cut=st.integers(1, 249),
    seed=st.integers(0, 999),
)
def test_no_period_makes_an_indicator_look_ahead(name, period, rows, cut, seed):
    spec = parse_indicator(name if name == "FRACTAL" else f"{name}_{period}")
    bars = market(rows, seed)
    whole, early = compute_indicator(spec, bars), compute_indicator(spec, head(bars, min(cut, rows)))
    for column, values in whole.items():
        np.testing.assert_array_equal(early[column], values[: min(cut, rows)])


def wilder(values: pd.Series, period: int) -> pd.Series:
    """Wilder's smoothing, begun with a plain mean."""
    made = values.copy() * np.nan
    first = values.first_valid_index()
    made.iloc[first + period - 1] = values.iloc[first : first + period].mean()
    for row in range(first + period, len(values)):
        made.iloc[row] = (made.iloc[row - 1] * (period - 1) + values.iloc[row]) / period
    return made


def by_pandas(frame: pd.DataFrame, period: int) -> dict[str, pd.Series]:
    close, before = frame["close"], frame["close"].shift(1)
    change = close - before
    gain, loss = wilder(change.clip(lower=0), period), wilder(-change.clip(upper=0), period)
    ranges = pd.concat(
        [frame.high - frame.low, (frame.high - before).abs(), (frame.low - before).abs()], axis=1
    )
    mean, spread = close.rolling(period).mean(), close.rolling(period).std(ddof=0)
    lowest, highest = frame.low.rolling(period).min(), frame.high.rolling(period).max()
    return {
        f"SMA_{period}": mean,
        f"RSI_{period}": 100 * gain / (gain + loss),
        f"ATR_{period}": wilder(ranges.max(axis=1).where(before.notna()), period),
        f"BBANDS_{period}_2_UPPERBAND": mean + 2 * spread,
        f"BBANDS_{period}_2_LOWERBAND": mean - 2 * spread,
        f"ROC_{period}": 100 * (close / close.shift(period) - 1),
        f"WILLR_{period}": -100 * (highest - close) / (highest - lowest),
        f"STOCHF_{period}_1_FASTK": 100 * (close - lowest) / (highest - lowest),
        "OBV": (np.sign(change).fillna(1.0) * frame.volume).cumsum(),
    }


@settings(max_examples=15, deadline=None)
@given(period=st.integers(2, 40), seed=st.integers(0, 999))
def test_indicators_are_what_the_formulas_say(period, seed):
    bars = market(160, seed)
    for column, expected in by_pandas(pd.DataFrame(bars), period).items():
        name = column.removesuffix("_UPPERBAND").removesuffix("_LOWERBAND").removesuffix("_FASTK")
        found = compute_indicator(parse_indicator(name), bars)[column]
        told = ~np.isnan(found)
        assert told.sum() >= 160 - 2 * period - 1
        np.testing.assert_allclose(found[told], expected.to_numpy()[told], rtol=1e-6, atol=1e-6)


def test_an_exponential_mean_and_macd_are_what_recursion_gives():
    close = pd.Series(market(400)["close"])
    ema = {span: close.ewm(span=span, adjust=False).mean() for span in (12, 26)}
    found = compute_indicator(parse_indicator("MACD_12_26_9"), market(400))
    assert list(found) == ["MACD_12_26_9", "MACD_12_26_9_SIGNAL", "MACD_12_26_9_HIST"]
    np.testing.assert_allclose(found["MACD_12_26_9"][250:], (ema[12] - ema[26])[250:], atol=1e-6)


@pytest.mark.parametrize(
    "name", ["SMA_20", "MACD", "ATR_14", "OBV", "AD", "BBANDS_20", "STDDEV_10", "VAR_10", "RSI_14"]
)
def test_features_do_not_know_in_which_currency_or_lot_prices_are(name):
    frame = pd.DataFrame(market(300))
    other = frame * {key: 3.0 if key == "volume" else 50.0 for key in INPUTS}
    step = Indicators(names=(name,))
    made, remade = step.apply(frame, {}, None), step.apply(other, {}, None)
    columns = parse_indicator(name).columns
    assert made[list(columns)].notna().any().all()
    np.testing.assert_allclose(made[list(columns)], remade[list(columns)], rtol=1e-6, atol=1e-9)


def test_coins_are_told_apart_and_missing_bars_left_out():
    one, other = pd.DataFrame(market(120, 1)), pd.DataFrame(market(120, 2, 3.0))
    both = (
        pd.concat([one.assign(coin="A"), other.assign(coin="B")])
        .sort_index(kind="stable")
        .reset_index(drop=True)
    )
    both.loc[both.index[60], "close"] = np.nan
    step = Indicators(names=("EMA_10", "RSI_14"), relative=False)
    made = step.apply(both, {}, both["coin"])
    alone = step.apply(other, {}, None)
    np.testing.assert_array_equal(made.loc[made["coin"] == "B", "RSI_14"], alone["RSI_14"])
    rest = step.apply(one.drop(index=30), {}, None)
    np.testing.assert_array_equal(made.loc[made["coin"] == "A", "EMA_10"].drop(index=60), rest["EMA_10"])
    assert np.isnan(made.loc[60, "EMA_10"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SMAA_20", "Near: SMA"),
        ("SMA_20_30", "SMA takes 1 number"),
        ("SMA_0", "between 1 and 2000"),
        ("RSI_99999", "between 1 and 2000"),
        ("OBV_5", "OBV takes no number"),
        ("MAVP", "no indicator"),
        ("", "no indicator"),
        ("SMA_20; drop table", "no indicator"),
    ],
)
def test_what_is_no_indicator_is_refused_by_name(text, said):
    with pytest.raises(InvalidInput, match=said):
        parse_indicator(text)


def test_a_history_as_long_as_its_memory_is_as_good_as_a_longer_one():
    bars = market(900)
    for name in ("EMA_20", "RSI_14", "ADX_14", "MACD", "ATR_14", "STOCH_14_3_3"):
        spec = parse_indicator(name)
        for column, values in compute_indicator(spec, bars).items():
            short = compute_indicator(spec, {key: each[-spec.memory_rows :] for key, each in bars.items()})[
                column
            ]
            assert short[-1] == pytest.approx(values[-1], rel=1e-3, abs=1e-3)
