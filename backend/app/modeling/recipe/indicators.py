"""Technical indicators by their usual names, computed by TA-Lib.

`SMA_20` is TA-Lib's SMA with a period of 20, `MACD_12_26_9` its MACD with all three parameters, `RSI` its RSI
with the default period. None looks ahead, which a test checks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import talib
from talib import abstract

from app.counts import describe_count
from app.errors import InvalidInput
from app.modeling.problem.name_resolution import nearest_names

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
"""Indicators with inputs that bars do not have."""
MAX_PARAMETER = 2000
"""Largest period: bounds the rows of history that a model stores."""
MIN_MEMORY_ROWS = 200
"""Rows of history even of indicators with a short lookback, some of which are recursive."""
MEMORY_FACTOR = 10
"""Lookbacks after which the influence of the first row on a smoothed indicator is negligible."""

_TALIB: Any = talib
_ABSTRACT: Any = abstract

Bars = Mapping[str, np.ndarray]
"""Columns of `INPUTS` as float64, in order of time, nothing missing."""


@dataclass(frozen=True)
class IndicatorSpec:
    """A parsed indicator. `parameters`: explicit ones, by TA-Lib's names. `columns`: outputs in TA-Lib's
    order."""

    text: str
    name: str
    parameters: tuple[tuple[str, float], ...]
    inputs: tuple[str, ...]
    columns: tuple[str, ...]
    lookback: int

    @property
    def memory_rows(self) -> int:
        """Rows of history that determine a value."""
        return max(MIN_MEMORY_ROWS, MEMORY_FACTOR * self.lookback)


def get_function(name: str) -> Any:
    """TA-Lib's abstract function of an indicator."""
    return _ABSTRACT.Function(name)


@lru_cache(maxsize=1)
def list_indicators() -> tuple[str, ...]:
    """Names of all supported indicators."""
    groups = _TALIB.get_function_groups()
    return tuple(sorted({name for group in GROUPS for name in groups.get(group, ())} - UNSUPPORTED))


@lru_cache(maxsize=512)
def parse_indicator(text: str) -> IndicatorSpec:
    """Parse the name of an indicator. Raises InvalidInput `unknown_indicator` or `bad_indicator` with
    suggestions."""
    match = re.fullmatch(r"\s*([A-Z][A-Z0-9]*(?:_[A-Z]+)?)((?:_\d+(?:\.\d+)?)*)\s*", text, re.IGNORECASE)
    name = match[1].upper() if match else text.strip().upper()
    if match is None or name not in list_indicators():
        close = ", ".join(nearest_names(name, list_indicators())) or "SMA, EMA, RSI, MACD, BBANDS, ATR, OBV"
        raise InvalidInput(
            "unknown_indicator", f"There is no indicator {text!r}. Similar: {close}.", indicator=text
        )
    function: Any = get_function(name)
    # The kind of average is a code and no length; the lower band gets the width of the upper one.
    parameter_names = [key for key in function.info["parameters"] if "matype" not in key and key != "nbdevdn"]
    arguments = [float(number) for number in match[2].split("_") if number]
    if len(arguments) > len(parameter_names):
        raise InvalidInput(
            "bad_indicator",
            f"{name} takes {_describe_parameters(parameter_names)}, not {len(arguments)}.",
            indicator=text,
        )
    defaults = function.info["parameters"]
    parameters = {
        key: value if isinstance(defaults[key], float) else int(value)
        for key, value in zip(parameter_names, arguments, strict=False)
    }
    if "nbdevup" in parameters:
        parameters["nbdevdn"] = parameters["nbdevup"]
    if any(not 1 <= value <= MAX_PARAMETER for value in parameters.values()):
        raise InvalidInput(
            "bad_indicator", f"{text!r}: parameters must lie between 1 and {MAX_PARAMETER}.", indicator=text
        )
    try:
        function.set_parameters(parameters)
        lookback = int(function.lookback)
        # TA-Lib checks its parameters only when it computes.
        function({key: np.linspace(1.0, 2.0, lookback + 5) for key in INPUTS})
    except Exception as error:  # TA-Lib raises plain exceptions for parameters out of range
        message = f"{text!r}: TA-Lib does not accept these parameters."
        raise InvalidInput("bad_indicator", message, indicator=text) from error
    canonical_name = name + "".join(f"_{argument:g}" for argument in arguments)
    return IndicatorSpec(
        canonical_name,
        name,
        tuple(parameters.items()),
        _inputs(function),
        _columns(canonical_name, name, function),
        lookback,
    )


def compute_indicator(spec: IndicatorSpec, bars: Bars) -> dict[str, np.ndarray]:
    """Columns of the indicator (bars,); nan until there is enough history."""
    rows = len(bars[spec.inputs[0]])
    if rows <= spec.lookback:
        return {column: np.full(rows, np.nan) for column in spec.columns}
    function: Any = get_function(spec.name)
    raw_outputs = function(
        {key: bars[key] for key in spec.inputs} | _unused(spec, bars), **dict(spec.parameters)
    )
    outputs = raw_outputs if isinstance(raw_outputs, list | tuple) else [raw_outputs]
    return {
        column: _mask_lookback(np.asarray(values, dtype=float), spec.lookback)
        for column, values in zip(spec.columns, outputs, strict=True)
    }


def _unused(spec: IndicatorSpec, bars: Bars) -> dict[str, np.ndarray]:
    """Placeholders for inputs that TA-Lib requires by name although the function does not use them."""
    any_of = next(iter(bars.values()))
    return {key: any_of for key in INPUTS if key not in spec.inputs}


def _mask_lookback(values: np.ndarray, lookback: int) -> np.ndarray:
    """Replace values before the lookback with nan: pattern functions return 0 there."""
    values = values.copy()
    values[:lookback] = np.nan
    return values


def _inputs(function: Any) -> tuple[str, ...]:
    input_names: list[str] = []
    for value in function.info["input_names"].values():
        input_names += [value] if isinstance(value, str) else list(value)
    return tuple(dict.fromkeys(input_names))


def _columns(canonical_name: str, name: str, function: Any) -> tuple[str, ...]:
    outputs = list(function.info["output_names"])
    if len(outputs) == 1:
        return (canonical_name,)
    return tuple(
        canonical_name
        if output == name.lower()
        else f"{canonical_name}_{output.removeprefix(name.lower()).upper()}"
        for output in outputs
    )


def _describe_parameters(names: list[str]) -> str:
    return f"{describe_count(len(names), 'parameter')} ({', '.join(names)})" if names else "no parameter"
