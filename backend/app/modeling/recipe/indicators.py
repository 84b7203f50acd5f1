"""Technical indicators by their field names, as TA-Lib computes them.

`SMA_20` is TA-Lib's SMA with a period of 20, `MACD_12_26_9` its MACD with all three, `RSI` the one with its own
period. None looks ahead: a test cuts the future off and finds every past value unchanged.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import talib
from talib import abstract

from app.errors import InvalidInput
from app.modeling.problem.names import nearest_names

GROUPS = (
    "Overlap Studies",
    "Momentum Indicators",
    "Volume Indicators",
    "Volatility Indicators",
    "Cycle Indicators",
    "Price Transform",
    "Statistic Functions",
    "Pattern Recognition",
)
INPUTS = ("open", "high", "low", "close", "volume")
UNSUPPORTED = frozenset({"MAVP"})
"""Takes a series that bars do not have."""
MAX_PARAMETER = 2000
MIN_MEMORY_ROWS = 200
MEMORY_FACTOR = 10
"""How many times its own lookback an indicator remembers: a smoothed one never forgets the first row."""

_TALIB: Any = talib
_ABSTRACT: Any = abstract

Bars = Mapping[str, np.ndarray]
"""Columns of `INPUTS` as float64, in order of time, nothing missing."""


@dataclass(frozen=True)
class IndicatorSpec:
    """`parameters`: those that were named, by TA-Lib's names. `columns`: what it makes, in TA-Lib's order."""

    text: str
    name: str
    parameters: tuple[tuple[str, float], ...]
    inputs: tuple[str, ...]
    columns: tuple[str, ...]
    lookback: int

    @property
    def memory_rows(self) -> int:
        """Rows of the past after which it does not matter where the history began."""
        return max(MIN_MEMORY_ROWS, MEMORY_FACTOR * self.lookback)


def get_function(name: str) -> Any:
    """TA-Lib's own description of an indicator, which also computes it."""
    return _ABSTRACT.Function(name)


@lru_cache(maxsize=1)
def list_indicators() -> tuple[str, ...]:
    """Every indicator that there is."""
    groups = _TALIB.get_function_groups()
    return tuple(sorted({name for group in GROUPS for name in groups.get(group, ())} - UNSUPPORTED))


@lru_cache(maxsize=512)
def parse_indicator(text: str) -> IndicatorSpec:
    """Raises InvalidInput `unknown_indicator` or `bad_indicator`, naming what is near or what it takes."""
    found = re.fullmatch(r"\s*([A-Z][A-Z0-9]*(?:_[A-Z]+)?)((?:_\d+(?:\.\d+)?)*)\s*", text, re.IGNORECASE)
    name = found[1].upper() if found else text.strip().upper()
    if found is None or name not in list_indicators():
        close = ", ".join(nearest_names(name, list_indicators())) or "SMA, EMA, RSI, MACD, BBANDS, ATR, OBV"
        raise InvalidInput(
            "unknown_indicator", f"There is no indicator {text!r}. Near: {close}.", indicator=text
        )
    function: Any = get_function(name)
    takes = [key for key in function.info["parameters"] if "matype" not in key and key != "nbdevdn"]
    given = [float(part) for part in found[2].split("_") if part]
    if len(given) > len(takes):
        raise InvalidInput("bad_indicator", f"{name} takes {_listed(takes)}, not {len(given)}.", indicator=text)
    defaults = function.info["parameters"]
    parameters = {
        key: value if isinstance(defaults[key], float) else int(value)
        for key, value in zip(takes, given, strict=False)
    }
    if "nbdevup" in parameters:
        parameters["nbdevdn"] = parameters["nbdevup"]
    if any(not 1 <= value <= MAX_PARAMETER for value in parameters.values()):
        raise InvalidInput(
            "bad_indicator", f"{text!r}: numbers lie between 1 and {MAX_PARAMETER}.", indicator=text
        )
    try:
        function.set_parameters(parameters)
        lookback = int(function.lookback)
        function({key: np.linspace(1.0, 2.0, lookback + 5) for key in INPUTS})
    except Exception as error:  # TA-Lib raises plain ones for what is out of its range
        said = f"{text!r}: TA-Lib takes no such numbers."
        raise InvalidInput("bad_indicator", said, indicator=text) from error
    whole = name + "".join(f"_{part:g}" for part in given)
    return IndicatorSpec(
        whole, name, tuple(parameters.items()), _inputs(function), _columns(whole, name, function), lookback
    )


def compute_indicator(spec: IndicatorSpec, bars: Bars) -> dict[str, np.ndarray]:
    """The indicator's columns, each as long as the bars; nan until there is enough of the past."""
    rows = len(bars[spec.inputs[0]])
    if rows <= spec.lookback:
        return {column: np.full(rows, np.nan) for column in spec.columns}
    function: Any = get_function(spec.name)
    made = function({key: bars[key] for key in spec.inputs} | _unused(spec, bars), **dict(spec.parameters))
    outputs = made if isinstance(made, list | tuple) else [made]
    return {
        column: _settled(np.asarray(values, dtype=float), spec.lookback)
        for column, values in zip(spec.columns, outputs, strict=True)
    }


def _unused(spec: IndicatorSpec, bars: Bars) -> dict[str, np.ndarray]:
    """TA-Lib asks for every column by name although the function reads only some."""
    any_of = next(iter(bars.values()))
    return {key: any_of for key in INPUTS if key not in spec.inputs}


def _settled(values: np.ndarray, lookback: int) -> np.ndarray:
    """Patterns answer 0 where they have not seen enough: that is not known."""
    values = values.copy()
    values[:lookback] = np.nan
    return values


def _inputs(function: Any) -> tuple[str, ...]:
    named: list[str] = []
    for value in function.info["input_names"].values():
        named += [value] if isinstance(value, str) else list(value)
    return tuple(dict.fromkeys(named))


def _columns(whole: str, name: str, function: Any) -> tuple[str, ...]:
    outputs = list(function.info["output_names"])
    if len(outputs) == 1:
        return (whole,)
    return tuple(
        whole if output == name.lower() else f"{whole}_{output.removeprefix(name.lower()).upper()}"
        for output in outputs
    )


def _listed(takes: list[str]) -> str:
    return f"{len(takes)} number(s) ({', '.join(takes)})" if takes else "no number"
