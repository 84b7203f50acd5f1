"""Technical indicators as features, for each group by itself."""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field, field_validator

from app.errors import InvalidInput
from app.modeling.recipe.indicator_units import measure_units, remove_unit
from app.modeling.recipe.indicators import INPUTS, Bars, IndicatorSpec, compute_indicator, parse_indicator
from app.modeling.recipe.transforms.operation import Operation, State
from app.modeling.table.numeric import to_float

DEFAULT_INDICATORS = ("SMA_20", "EMA_20", "RSI_14", "MACD", "BBANDS_20")


class Indicators(Operation):
    """Columns such as `SMA_20`, `RSI_14`, `MACD_HIST`, see `recipe.indicators`.

    `open` to `volume` name the input columns. `relative`: without units, as models need them; else as TA-Lib
    returns them.
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
    def _validate_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        try:
            # In their full spelling, so that `RSI` and `RSI_14` do not make the same column twice.
            return tuple(dict.fromkeys(parse_indicator(name).text for name in names))
        except InvalidInput as error:
            raise ValueError(error.detail) from error

    def required_columns(self) -> tuple[str, ...]:
        return tuple(self._column(key) for key in INPUTS if key in self._input_keys())

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        inputs = {key: to_float(frame[self._column(key)]).to_numpy() for key in self._input_keys()}
        columns = {column: np.full(len(frame), np.nan) for spec in self._specs() for column in spec.columns}
        for rows in _split_groups(groups, len(frame)):
            group_inputs = {key: values[rows] for key, values in inputs.items()}
            # One missing bar would make all later values of TA-Lib's recursive indicators missing.
            is_complete = np.isfinite(np.column_stack(list(group_inputs.values()))).all(axis=1)
            bars = {key: np.ascontiguousarray(values[is_complete]) for key, values in group_inputs.items()}
            positions = rows[is_complete]
            for column, values in self._compute(bars).items():
                columns[column][positions] = values
        return frame.assign(**columns)

    def history_rows(self) -> int:
        return max(spec.memory_rows for spec in self._specs())

    def _compute(self, bars: Bars) -> dict[str, np.ndarray]:
        outputs: dict[str, np.ndarray] = {}
        for spec in self._specs():
            columns = compute_indicator(spec, bars)
            units = measure_units(spec) if self.relative else {}
            outputs |= {
                name: remove_unit(values, units[name], bars) if self.relative else values
                for name, values in columns.items()
            }
        return outputs

    def _specs(self) -> list[IndicatorSpec]:
        return [parse_indicator(name) for name in self.names]

    def _input_keys(self) -> tuple[str, ...]:
        """Inputs of the indicators, and the close, which relative indicators divide by."""
        keys = {key for spec in self._specs() for key in spec.inputs} | {"close"}
        return tuple(key for key in INPUTS if key in keys)

    def _column(self, key: str) -> str:
        return str(getattr(self, key) or key)


def _split_groups(groups: pd.Series | None, count: int) -> list[np.ndarray]:
    """Row positions of each group, in order."""
    if groups is None:
        return [np.arange(count)]
    codes, group_names = pd.factorize(groups)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(group_names) + 1))
    return [order[bounds[number] : bounds[number + 1]] for number in range(len(group_names))]
