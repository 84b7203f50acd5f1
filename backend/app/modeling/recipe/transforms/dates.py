"""Numeric features of dates."""

from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from app.modeling.recipe.transforms.operation import Columns, Operation, State

DatePart = Literal[
    "year", "quarter", "month", "day", "weekday", "hour", "weekend", "day_of_year", "elapsed_days"
]


class ParseDates(Operation):
    """Add columns `<name>_<part>` of a date, or of a text with a date; drop the date itself unless `keep`.

    `elapsed_days` counts from the earliest training date.
    """

    op: Literal["parse_dates"] = "parse_dates"
    columns: Columns
    parts: Annotated[tuple[DatePart, ...], Field(min_length=1)] = ("year", "month", "weekday", "elapsed_days")
    keep: bool = False

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: _isoformat(to_dates(frame[name]).min()) for name in self.columns}

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns: dict[str, pd.Series] = {}
        for name in self.columns:
            dates = to_dates(frame[name])
            if self.keep:
                columns[name] = dates
            for part in self.parts:
                columns[f"{name}_{part}"] = extract_part(dates, part, state[name])
        remaining = frame if self.keep else frame.drop(columns=list(self.columns))
        return remaining.assign(**columns)


_ATTRIBUTES = {"weekday": "day_of_week"}


def to_dates(column: pd.Series) -> pd.Series:
    """Convert to datetimes: aware times become UTC without a zone, text is parsed value by value, else
    missing."""
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        utc: pd.Series = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return utc
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    if pd.api.types.is_numeric_dtype(column.dtype):
        return pd.Series(pd.NaT, index=column.index, dtype="datetime64[us]")
    parsed = pd.to_datetime(column, errors="coerce", format="mixed", utc=True)
    return parsed.dt.tz_localize(None)


def _isoformat(value: object) -> str | None:
    return value.isoformat() if isinstance(value, pd.Timestamp) else None


def extract_part(dates: pd.Series, part: DatePart, earliest: str | None) -> pd.Series:
    """One part of each date, as a number; `earliest` is what `elapsed_days` counts from."""
    if part == "elapsed_days":
        if earliest is None:
            return pd.Series(np.nan, index=dates.index)
        return (dates - pd.Timestamp(earliest)) / pd.Timedelta(days=1)
    if part == "weekend":
        weekend: pd.Series = (dates.dt.day_of_week >= 5).astype("float64").where(dates.notna())
        return weekend
    numbers: pd.Series = getattr(dates.dt, _ATTRIBUTES.get(part, part)).astype("float64")
    return numbers
