"""Technical indicators of prices, as John Murphy's "Technical Analysis of the Financial Markets" defines them.

Each looks back over a bounded number of rows, so that a prediction needs bounded history. Moving averages,
bands and MACD are given relative to the price: levels would not carry over to prices that were never seen.
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from app.modeling.operations.history import Window, by_group, rolled, shifted
from app.modeling.operations.step import State, Step, quiet_float

Indicator = Literal["SMA", "EMA", "RSI", "MACD", "BBANDS", "ATR", "OBV"]


class Indicators(Step):
    """Columns named like `sma_20`, `rsi_14`, `macd`, `bb_width_20`, `atr_14`, `obv_20`."""

    op: Literal["indicators"] = "indicators"
    ordered: ClassVar[bool] = True
    names: tuple[Indicator, ...] = ("SMA", "EMA", "RSI", "MACD", "BBANDS")
    close: str = "close"
    high: str | None = None
    low: str | None = None
    volume: str | None = None
    window: Window = 20
    momentum_window: Window = 14

    def needs(self) -> tuple[str, ...]:
        wanted = [self.close]
        if "ATR" in self.names:
            wanted += [self.high or "high", self.low or "low"]
        if "OBV" in self.names:
            wanted.append(self.volume or "volume")
        return tuple(wanted)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        made: dict[str, pd.Series] = {}
        for name in self.names:
            made |= _INDICATORS[name](self, frame, groups)
        return frame.assign(**made)

    def depth(self) -> int:
        return 10 * max(self.window, self.momentum_window, 26 + 9)


Columns = dict[str, pd.Series]


def _ema(values: pd.Series, span: float, groups: pd.Series | None) -> pd.Series:
    return by_group(values, groups, lambda part: part.ewm(span=span, adjust=True).mean())


def _sma(step: Indicators, frame: pd.DataFrame, groups: pd.Series | None) -> Columns:
    close = quiet_float(frame[step.close])
    return {f"sma_{step.window}": rolled(close, step.window, "mean", groups) / close - 1}


def _exponential(step: Indicators, frame: pd.DataFrame, groups: pd.Series | None) -> Columns:
    close = quiet_float(frame[step.close])
    return {f"ema_{step.window}": _ema(close, step.window, groups) / close - 1}


def _rsi(step: Indicators, frame: pd.DataFrame, groups: pd.Series | None) -> Columns:
    close = quiet_float(frame[step.close])
    change = close - shifted(close, 1, groups)
    span = 2 * step.momentum_window - 1  # Wilder's smoothing of n rows decays like a span of 2n - 1
    gain = _ema(change.clip(lower=0), span, groups)
    loss = _ema(-change.clip(upper=0), span, groups)
    total = gain + loss
    return {f"rsi_{step.momentum_window}": 100 * gain / total.where(total != 0)}


def _macd(step: Indicators, frame: pd.DataFrame, groups: pd.Series | None) -> Columns:
    close = quiet_float(frame[step.close])
    line = _ema(close, 12, groups) - _ema(close, 26, groups)
    signal = _ema(line, 9, groups)
    return {"macd": line / close, "macd_histogram": (line - signal) / close}


def _bands(step: Indicators, frame: pd.DataFrame, groups: pd.Series | None) -> Columns:
    close = quiet_float(frame[step.close])
    middle = rolled(close, step.window, "mean", groups)
    spread = rolled(close, step.window, "std", groups)
    return {
        f"bb_position_{step.window}": (close - middle) / (2 * spread.where(spread != 0)),
        f"bb_width_{step.window}": 4 * spread / middle.where(middle != 0),
    }


def _atr(step: Indicators, frame: pd.DataFrame, groups: pd.Series | None) -> Columns:
    close = quiet_float(frame[step.close])
    high, low = quiet_float(frame[step.high or "high"]), quiet_float(frame[step.low or "low"])
    before = shifted(close, 1, groups)
    ranges = pd.concat([high - low, (high - before).abs(), (low - before).abs()], axis=1).max(axis=1)
    average = _ema(ranges, 2 * step.momentum_window - 1, groups)
    return {f"atr_{step.momentum_window}": average / close}


def _obv(step: Indicators, frame: pd.DataFrame, groups: pd.Series | None) -> Columns:
    """Signed volume over the window as a share of its volume: on-balance volume without its arbitrary start."""
    close = quiet_float(frame[step.close])
    volume = quiet_float(frame[step.volume or "volume"])
    direction = pd.Series(np.sign(close - shifted(close, 1, groups)), index=close.index)
    signed = rolled(direction * volume, step.window, "mean", groups)
    total = rolled(volume, step.window, "mean", groups)
    return {f"obv_{step.window}": signed / total.where(total != 0)}


_INDICATORS = {
    "SMA": _sma,
    "EMA": _exponential,
    "RSI": _rsi,
    "MACD": _macd,
    "BBANDS": _bands,
    "ATR": _atr,
    "OBV": _obv,
}
