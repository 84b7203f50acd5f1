"""How columns are read, as JSON: without state, and nothing happens to what is read already."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.json_types import JsonScalar
from app.modeling.type_inference.dates import NAT, SPELLINGS, read_dates, read_epoch
from app.modeling.type_inference.durations import hours
from app.modeling.type_inference.numbers import NumberFormat, read_numbers
from app.modeling.type_inference.spellings import folded
from app.modeling.type_inference.values import as_plain_text, by_value, is_text
from app.modeling.type_inference.vocabulary import MISSING_MEASURES, TRUTH

ReadingJson = list[dict[str, Any]]


class Read(BaseModel):
    """One way to read some columns. `missing`: words (lower case) and numbers that mean missing in them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    columns: tuple[str, ...]
    missing: tuple[str | float, ...] = ()

    def read(self, column: pd.Series) -> pd.Series:
        raise NotImplementedError

    def lost(self, given: pd.Series) -> pd.Series:
        """Which cells say something that is not read: neither a value of this kind nor a word for missing."""
        unread = given.notna() & self.read(given).isna()
        if not unread.any():
            return unread
        words = given[unread].astype("str").str.strip().str.casefold()
        known = MISSING_MEASURES | {str(word) for word in self.missing}
        numbers = pd.to_numeric(words, errors="coerce").isin([one for one in self.missing if _is_number(one)])
        return unread & ~(words.isin(known) | numbers).reindex(given.index, fill_value=False)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


class ReadNumber(Read):
    """Numbers in text (see `numbers.NumberFormat`), and numbers that stand for missing."""

    op: Literal["read_number"] = "read_number"
    decimal: Literal[".", ","] = "."
    group: Literal["", ",", ".", " ", "'"] = ","
    before: dict[str, float] = Field(default_factory=dict)
    after: dict[str, float] = Field(default_factory=dict)

    def read(self, column: pd.Series) -> pd.Series:
        never = [one for one in self.missing if _is_number(one)]
        if not is_text(column):
            return column.mask(column.isin(never)) if never and column.isin(never).any() else column
        read = by_value(column, self._numbers, np.nan).astype("float64")
        return read.mask(read.isin(never)) if never else read

    def _numbers(self, texts: pa.Array) -> np.ndarray:
        read = read_numbers(texts, NumberFormat(self.decimal, self.group, self.before, self.after))
        left = np.flatnonzero(np.isnan(read))
        if len(left) and self.decimal == ",":
            read[left] = read_numbers(texts.take(pa.array(left)), NumberFormat(group=""))
        return read


class ReadDate(Read):
    """Dates in text, spelled as `dates.SPELLINGS` names them, or numbers that count from 1970 (`epoch`)."""

    op: Literal["read_date"] = "read_date"
    spellings: tuple[str, ...] = ("year-month-day",)
    day_first: bool = False
    epoch: Literal["s", "ms", "us", "yyyymmdd"] | None = None

    def read(self, column: pd.Series) -> pd.Series:
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            return column
        if self.epoch:
            return pd.Series(read_epoch(column, self.epoch), index=column.index, name=column.name)
        every = (*self.spellings, *(one for one in SPELLINGS if one not in self.spellings))
        return by_value(column, lambda texts: read_dates(texts, every, self.day_first), NAT)


class ReadBoolean(Read):
    """Yes and no in any of the spellings of `words.TRUTH`."""

    op: Literal["read_boolean"] = "read_boolean"

    def read(self, column: pd.Series) -> pd.Series:
        if pd.api.types.is_bool_dtype(column.dtype):
            return column
        read = by_value(column, _truths, np.nan)
        return read.astype("boolean") if read.isna().any() else read.astype("bool")


class ReadText(Read):
    """Numbers that name something, as text: whole ones without a decimal point."""

    op: Literal["read_text"] = "read_text"

    def read(self, column: pd.Series) -> pd.Series:
        if pd.api.types.is_float_dtype(column.dtype) and (column.dropna() % 1 == 0).all():
            column = column.astype("Int64")
        text = as_plain_text(column)
        return by_value(text, self._known, None).astype("str") if self.missing else text

    def _known(self, texts: pa.Array) -> np.ndarray:
        return _without(texts, self.missing)

    def lost(self, given: pd.Series) -> pd.Series:
        return pd.Series(False, index=given.index)


class ReadWords(Read):
    """Text as it is, but for words that stand for missing, and for classes that are spelled in several ways:
    `same` holds each class folded (`spellings.folded`) -> how it is spelled."""

    op: Literal["read_words"] = "read_words"
    same: dict[str, str] = Field(default_factory=dict)

    def read(self, column: pd.Series) -> pd.Series:
        if not is_text(column):
            return column
        words = as_plain_text(column)
        codes, values = pd.factorize(words)
        known = [self._spelled(str(value)) for value in values]
        if known == list(values):
            return column
        spread = np.array([*known, None], dtype=object)[codes]
        return pd.Series(spread, index=column.index, name=column.name, dtype=words.dtype)

    def _spelled(self, text: str) -> str | None:
        if text.strip().casefold() in self.missing:
            return None
        return self.same.get(folded(text), text)

    def lost(self, given: pd.Series) -> pd.Series:
        return pd.Series(False, index=given.index)


class ReadClock(Read):
    """Lengths and times of day as hours (see `clocks`)."""

    op: Literal["read_clock"] = "read_clock"

    def read(self, column: pd.Series) -> pd.Series:
        return by_value(column, _hours, np.nan).astype("float64") if is_text(column) else column


def _hours(texts: pa.Array) -> np.ndarray:
    read = [hours(text) for text in texts.to_pylist()]
    return np.array([np.nan if one is None else one for one in read], dtype="float64")


def _truths(texts: pa.Array) -> np.ndarray:
    """1, 0, or NaN for another word."""
    return np.array([TRUTH.get(text.casefold(), np.nan) for text in texts.to_pylist()], dtype="float64")


def _without(texts: pa.Array, missing: Sequence[JsonScalar]) -> np.ndarray:
    words = pc.is_in(pc.utf8_lower(texts), value_set=pa.array([str(one) for one in missing], pa.string()))
    kept: np.ndarray = pc.if_else(words, None, texts).to_numpy(zero_copy_only=False)
    return kept


Operation = Annotated[
    ReadNumber | ReadDate | ReadBoolean | ReadText | ReadWords | ReadClock, Field(discriminator="op")
]
OPERATIONS: TypeAdapter[list[Operation]] = TypeAdapter(list[Operation])


def parse_reading(reading: Sequence[Mapping[str, Any]]) -> list[Operation]:
    return OPERATIONS.validate_python(list(reading))


def apply_reading(frame: pd.DataFrame, reading: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The frame with its columns read; columns that it does not have are passed over. Applying it twice is
    applying it once."""
    read = {
        name: one.read(frame[name])
        for one in parse_reading(reading)
        for name in one.columns
        if name in frame.columns
    }
    changed = {name: column for name, column in read.items() if column is not frame[name]}
    return frame.assign(**changed) if changed else frame


def ways_of(reading: Sequence[Mapping[str, Any]]) -> dict[str, Read]:
    """Column -> how it is read."""
    return {name: one for one in parse_reading(reading) for name in one.columns}
