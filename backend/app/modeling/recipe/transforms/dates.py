"""Numeric features of dates."""

from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from app.modeling.recipe.transforms.operation import Columns, Operation, State
from app.modeling.type_inference.date_format import guess_dates
from app.modeling.type_inference.distinct_values import count_values, is_text
from app.modeling.type_inference.parsers import DateParser

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
        return {name: _fit_column(frame[name]) for name in self.columns}

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns: dict[str, pd.Series] = {}
        for name in self.columns:
            earliest, day_first = _fitted(state[name])
            dates = to_dates(frame[name], day_first)
            if self.keep:
                columns[name] = dates
            for part in self.parts:
                columns[f"{name}_{part}"] = extract_part(dates, part, earliest)
        remaining = frame if self.keep else frame.drop(columns=list(self.columns))
        return remaining.assign(**columns)


class Elapsed(Operation):
    """Add `<column>_elapsed`: days of a date since the earliest training date, or what a number exceeds the
    smallest training number by, as the years since the first year."""

    op: Literal["elapsed"] = "elapsed"
    column: str

    def required_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def fit(self, frame: pd.DataFrame) -> State:
        column = frame[self.column]
        if pd.api.types.is_numeric_dtype(column.dtype):
            return {"first": float(column.min())}
        return _fit_column(column)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        column = frame[self.column]
        if "first" in state:
            elapsed = pd.to_numeric(column, errors="coerce").astype("float64") - state["first"]
        else:
            earliest, day_first = _fitted(state)
            elapsed = extract_part(to_dates(column, day_first), "elapsed_days", earliest)
        return frame.assign(**{f"{self.column}_elapsed": elapsed})


class DaysBetween(Operation):
    """Add `<later>_since_<earlier>` for each pair of dates: days from the second to the first, negative where
    the first is earlier. Trees would have to approximate it by many steps in both dates."""

    op: Literal["days_between"] = "days_between"
    pairs: Annotated[tuple[tuple[str, str], ...], Field(min_length=1, max_length=2000)]

    def required_columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: _fit_column(frame[name]) for name in self.required_columns()}

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        dates = {name: to_dates(frame[name], _fitted(state[name])[1]) for name in self.required_columns()}
        spans = {
            f"{later}_since_{earlier}": days_between(dates[later], dates[earlier])
            for later, earlier in self.pairs
        }
        return frame.assign(**spans)


def days_between(later: pd.Series, earlier: pd.Series) -> pd.Series:
    """Days from the dates of `earlier` to those of `later`; missing where either is."""
    days: pd.Series = (later - earlier).dt.total_seconds() / _SECONDS_OF_DAY
    return days


_SECONDS_OF_DAY = 86_400.0
"""Seconds of a day."""


_ATTRIBUTES = {"weekday": "day_of_week"}


def to_dates(column: pd.Series, day_first: bool = False) -> pd.Series:
    """Convert to datetimes in UTC without a zone. Text is parsed in every spelling of `date_spellings`, numbers
    and other texts are missing.

    `day_first`: the order in `05/04/2024`, unless a value above 12 shows the other one.
    """
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        utc: pd.Series = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return utc
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    # pandas would read numbers as nanoseconds since 1970.
    if not is_text(column):
        return pd.Series(pd.NaT, index=column.index, dtype="datetime64[us]")
    return DateParser(columns=(str(column.name),), day_first=day_first).parse(column).astype("datetime64[us]")


def _fitted(state: State | str | None) -> tuple[str | None, bool]:
    """The earliest training date, and the order of day and month."""
    # Models stored before the order was fitted hold the earliest date only; pandas took the month first.
    return (state["earliest"], state["day_first"]) if isinstance(state, dict) else (state, False)


def _fit_column(column: pd.Series) -> State:
    day_first = False
    if is_text(column):
        # The order is decided by the training rows alone: a single row at prediction cannot show it.
        texts = column.dropna().astype("str").str.strip()
        guess = guess_dates(count_values(column), texts)
        day_first = guess is not None and guess.day_first
    return {"earliest": _isoformat(to_dates(column, day_first).min()), "day_first": day_first}


def _isoformat(value: object) -> str | None:
    return value.isoformat() if isinstance(value, pd.Timestamp) else None


def extract_part(dates: pd.Series, part: DatePart, earliest: str | None) -> pd.Series:
    """One part of each date, as a number; `earliest` is what `elapsed_days` counts from."""
    if part == "elapsed_days":
        if earliest is None:
            return pd.Series(np.nan, index=dates.index)
        return (dates - pd.Timestamp(earliest)) / pd.Timedelta(days=1)
    if part == "weekend":
        # The comparison makes False of a missing date.
        weekend: pd.Series = (dates.dt.day_of_week >= 5).astype("float64").where(dates.notna())
        return weekend
    numbers: pd.Series = getattr(dates.dt, _ATTRIBUTES.get(part, part)).astype("float64")
    return numbers
