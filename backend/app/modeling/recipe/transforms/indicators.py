"""Technical indicators of prices, of each group for itself, as features."""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field, field_validator

from app.errors import InvalidInput
from app.modeling.recipe.indicator_units import measure_units, remove_unit
from app.modeling.recipe.indicators import INPUTS, Bars, IndicatorSpec, compute_indicator, parse_indicator
from app.modeling.recipe.transforms.step import Operation, State
from app.modeling.table.numeric import to_float

DEFAULT_INDICATORS = ("SMA_20", "EMA_20", "RSI_14", "MACD", "BBANDS_20")


class Indicators(Operation):
    """Columns named like `SMA_20`, `RSI_14`, `MACD_HIST`: see `markets.indicators`.

    `open` to `volume` name the columns that are read. `relative`: without their unit, as models need them; else
    as TA-Lib gives them.
    """

    op: Literal["indicators"] = "indicators"
    needs_order: ClassVar[bool] = True
    names: tuple[str, ...] = Field(default=DEFAULT_INDICATORS, min_length=1, max_length=400)
    open: str | None = None
    high: str | None = None
    low: str | None = None
    close: str = "close"
    volume: str | None = None
    relative: bool = True

    @field_validator("names")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(dict.fromkeys(parse_indicator(name).text for name in names))
        except InvalidInput as wrong:
            raise ValueError(wrong.detail) from wrong

    def required_columns(self) -> tuple[str, ...]:
        return tuple(self._column(key) for key in INPUTS if key in self._reads())

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        read = {key: to_float(frame[self._column(key)]).to_numpy() for key in self._reads()}
        made = {column: np.full(len(frame), np.nan) for spec in self._specs() for column in spec.columns}
        for rows in _rows_of(groups, len(frame)):
            part = {key: values[rows] for key, values in read.items()}
            known = np.isfinite(np.column_stack(list(part.values()))).all(axis=1)
            bars = {key: np.ascontiguousarray(values[known]) for key, values in part.items()}
            places = rows[known]
            for column, values in self._made(bars).items():
                made[column][places] = values
        return frame.assign(**made)

    def history_rows(self) -> int:
        return max(spec.memory_rows for spec in self._specs())

    def _made(self, bars: Bars) -> dict[str, np.ndarray]:
        made: dict[str, np.ndarray] = {}
        for spec in self._specs():
            columns = compute_indicator(spec, bars)
            units = measure_units(spec) if self.relative else {}
            made |= {
                name: remove_unit(values, units[name], bars) if self.relative else values
                for name, values in columns.items()
            }
        return made

    def _specs(self) -> list[IndicatorSpec]:
        return [parse_indicator(name) for name in self.names]

    def _reads(self) -> tuple[str, ...]:
        """What the indicators read, and the close, which makes them relative."""
        read = {key for spec in self._specs() for key in spec.inputs} | {"close"}
        return tuple(key for key in INPUTS if key in read)

    def _column(self, key: str) -> str:
        return str(getattr(self, key) or key)


def _rows_of(groups: pd.Series | None, count: int) -> list[np.ndarray]:
    """The positions of each group's rows, in their order."""
    if groups is None:
        return [np.arange(count)]
    codes, found = pd.factorize(groups)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(found) + 1))
    return [order[bounds[place] : bounds[place + 1]] for place in range(len(found))]
