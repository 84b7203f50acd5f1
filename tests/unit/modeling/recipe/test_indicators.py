"""Indicators: independent of the future, equal to their formulas, and free of units."""

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
    rng = np.random.default_rng(seed)
    close = price * np.exp(np.cumsum(rng.normal(0, 0.01, rows)))
    open_ = np.concatenate([[price], close[:-1]])
    high = np.maximum(open_, close) * (1 + np.abs(rng.normal(0, 0.003, rows)))
    low = np.minimum(open_, close) * (1 - np.abs(rng.normal(0, 0.003, rows)))
    return {"open": open_, "high": high, "low": low, "close": close, "volume": rng.lognormal(5, 0.5, rows)}


def head(bars: dict[str, np.ndarray], rows: int) -> dict[str, np.ndarray]:
    return {key: values[:rows] for key, values in bars.items()}


@pytest.mark.parametrize("name", list_indicators())
def test_later_bars_change_no_earlier_value(name):
    bars, spec = market(420), parse_indicator(name)
    full, units = compute_indicator(spec, bars), measure_units(spec)
    for rows in (150, 287):
        early = compute_indicator(spec, head(bars, rows))
        for column, values in full.items():
            np.testing.assert_array_equal(early[column], values[:rows])
            unitless = remove_unit(values, units[column], bars)[:rows]
            np.testing.assert_array_equal(remove_unit(early[column], units[column], head(bars, rows)), unitless)


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
    full, early = compute_indicator(spec, bars), compute_indicator(spec, head(bars, min(cut, rows)))
    for column, values in full.items():
        np.testing.assert_array_equal(early[column], values[: min(cut, rows)])


def wilder(values: pd.Series, period: int) -> pd.Series:
    """Wilder's smoothing, started with a simple mean."""
    smoothed = values.copy() * np.nan
    first = values.first_valid_index()
    smoothed.iloc[first + period - 1] = values.iloc[first : first + period].mean()
    for row in range(first + period, len(values)):
        smoothed.iloc[row] = (smoothed.iloc[row - 1] * (period - 1) + values.iloc[row]) / period
    return smoothed


def by_pandas(frame: pd.DataFrame, period: int) -> dict[str, pd.Series]:
    close, previous = frame["close"], frame["close"].shift(1)
    change = close - previous
    gain, loss = wilder(change.clip(lower=0), period), wilder(-change.clip(upper=0), period)
    ranges = pd.concat(
        [frame.high - frame.low, (frame.high - previous).abs(), (frame.low - previous).abs()], axis=1
    )
    mean, spread = close.rolling(period).mean(), close.rolling(period).std(ddof=0)
    lowest, highest = frame.low.rolling(period).min(), frame.high.rolling(period).max()
    return {
        f"SMA_{period}": mean,
        f"RSI_{period}": 100 * gain / (gain + loss),
        f"ATR_{period}": wilder(ranges.max(axis=1).where(previous.notna()), period),
        f"BBANDS_{period}_2_UPPERBAND": mean + 2 * spread,
        f"BBANDS_{period}_2_LOWERBAND": mean - 2 * spread,
        f"ROC_{period}": 100 * (close / close.shift(period) - 1),
        f"WILLR_{period}": -100 * (highest - close) / (highest - lowest),
        f"STOCHF_{period}_1_FASTK": 100 * (close - lowest) / (highest - lowest),
        "OBV": (np.sign(change).fillna(1.0) * frame.volume).cumsum(),
    }


@settings(max_examples=15, deadline=None)
@given(period=st.integers(2, 40), seed=st.integers(0, 999))
def test_indicators_equal_their_formulas(period, seed):
    bars = market(160, seed)
    for column, expected in by_pandas(pd.DataFrame(bars), period).items():
        name = column.removesuffix("_UPPERBAND").removesuffix("_LOWERBAND").removesuffix("_FASTK")
        computed = compute_indicator(parse_indicator(name), bars)[column]
        is_known = ~np.isnan(computed)
        assert is_known.sum() >= 160 - 2 * period - 1
        np.testing.assert_allclose(computed[is_known], expected.to_numpy()[is_known], rtol=1e-6, atol=1e-6)


def test_macd_equals_the_difference_of_exponential_means():
    close = pd.Series(market(400)["close"])
    ema = {span: close.ewm(span=span, adjust=False).mean() for span in (12, 26)}
    columns = compute_indicator(parse_indicator("MACD_12_26_9"), market(400))
    assert list(columns) == ["MACD_12_26_9", "MACD_12_26_9_SIGNAL", "MACD_12_26_9_HIST"]
    np.testing.assert_allclose(columns["MACD_12_26_9"][250:], (ema[12] - ema[26])[250:], atol=1e-6)


@pytest.mark.parametrize(
    "name", ["SMA_20", "MACD", "ATR_14", "OBV", "AD", "BBANDS_20", "STDDEV_10", "VAR_10", "RSI_14"]
)
def test_relative_features_do_not_depend_on_currency_or_lot_size(name):
    frame = pd.DataFrame(market(300))
    rescaled = frame * {key: 3.0 if key == "volume" else 50.0 for key in INPUTS}
    operation = Indicators(names=(name,))
    features, rescaled_features = operation.apply(frame, {}, None), operation.apply(rescaled, {}, None)
    columns = parse_indicator(name).columns
    assert features[list(columns)].notna().any().all()
    np.testing.assert_allclose(features[list(columns)], rescaled_features[list(columns)], rtol=1e-6, atol=1e-9)


def test_coins_are_separate_and_incomplete_bars_are_skipped():
    first, second = pd.DataFrame(market(120, 1)), pd.DataFrame(market(120, 2, 3.0))
    coins = (
        pd.concat([first.assign(coin="A"), second.assign(coin="B")])
        .sort_index(kind="stable")
        .reset_index(drop=True)
    )
    coins.loc[coins.index[60], "close"] = np.nan
    operation = Indicators(names=("EMA_10", "RSI_14"), relative=False)
    features = operation.apply(coins, {}, coins["coin"])
    separate = operation.apply(second, {}, None)
    np.testing.assert_array_equal(features.loc[features["coin"] == "B", "RSI_14"], separate["RSI_14"])
    without_gap = operation.apply(first.drop(index=30), {}, None)
    np.testing.assert_array_equal(
        features.loc[features["coin"] == "A", "EMA_10"].drop(index=60), without_gap["EMA_10"]
    )
    assert np.isnan(features.loc[60, "EMA_10"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SMAA_20", "Similar: SMA"),
        ("SMA_20_30", "SMA takes 1 parameter"),
        ("SMA_0", "between 1 and 2000"),
        ("RSI_99999", "between 1 and 2000"),
        ("OBV_5", "OBV takes no parameter"),
        ("MAVP", "no indicator"),
        ("", "no indicator"),
        ("SMA_20; drop table", "no indicator"),
    ],
)
def test_an_unknown_indicator_is_refused_by_name(text, message):
    with pytest.raises(InvalidInput, match=message):
        parse_indicator(text)


def test_memory_rows_of_history_determine_the_last_value():
    bars = market(900)
    for name in ("EMA_20", "RSI_14", "ADX_14", "MACD", "ATR_14", "STOCH_14_3_3"):
        spec = parse_indicator(name)
        for column, values in compute_indicator(spec, bars).items():
            short = compute_indicator(
                spec, {key: bar_values[-spec.memory_rows :] for key, bar_values in bars.items()}
            )[column]
            assert short[-1] == pytest.approx(values[-1], rel=1e-3, abs=1e-3)
