"""Parsers of raw columns, stored as JSON. They have no state, and leave parsed columns as they are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.json_types import JsonScalar
from app.modeling.type_inference.account_marks import is_accounting_zero
from app.modeling.type_inference.class_spellings import fold_spelling
from app.modeling.type_inference.compound_numbers import parse_spelled
from app.modeling.type_inference.date_spellings import CENTURY_PIVOT, SPELLINGS
from app.modeling.type_inference.dates import NAT, parse_dates, parse_epoch
from app.modeling.type_inference.distinct_values import is_text, map_distinct, to_plain_text
from app.modeling.type_inference.durations import ClockFormat, parse_hours
from app.modeling.type_inference.number_spellings import MIXED_FORMATS, NumberFormat
from app.modeling.type_inference.numbers import parse_numbers
from app.modeling.type_inference.units import CURRENCIES
from app.modeling.type_inference.vocabulary import MISSING_WORDS, NULL_DATES, TRUTH_VALUES

ParsersJson = list[dict[str, Any]]
ParserOp = Literal["read_number", "read_date", "read_boolean", "read_text", "read_words", "read_clock"]


class ColumnParser(BaseModel):
    """Parser of some columns. `missing`: words (lower case) and numbers that mean a missing value in them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    columns: tuple[str, ...]
    missing: tuple[str | float, ...] = ()
    missing_words: ClassVar[frozenset[str]] = MISSING_WORDS
    """Words that mean a missing value in every column of the kind."""

    def parse(self, column: pd.Series) -> pd.Series:
        """Parse a raw column (rows,). Cells that cannot be parsed become missing."""
        raise NotImplementedError

    def is_unparsed(self, column: pd.Series) -> pd.Series:
        """Test for cells (rows,) that are neither parseable nor a missing-value word."""
        unparsed = column.notna() & self.parse(column).isna()
        # Most columns parse completely, and then no word needs to be folded.
        if not unparsed.any():
            return unparsed
        words = column[unparsed].astype("str").str.strip().str.casefold()
        missing_words = self.missing_words | {str(word) for word in self.missing}
        numbers = pd.to_numeric(words, errors="coerce").isin(
            [value for value in self.missing if _is_number(value)]
        )
        return unparsed & ~(words.isin(missing_words) | numbers).reindex(column.index, fill_value=False)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


class NumberParser(ColumnParser):
    """Numbers in text (see `number_spellings.NumberFormat`), and numbers that code a missing value."""

    op: Literal["read_number"] = "read_number"
    decimal: Literal[".", ","] = "."
    group: Literal["", ",", ".", " ", "'"] = ","
    before: dict[str, float] = Field(default_factory=dict)
    after: dict[str, float] = Field(default_factory=dict)
    meanings: dict[str, float] = Field(default_factory=dict)
    """Words in lower case -> the number that they mean, such as `none` -> 0."""
    has_spelled: bool = False
    """Cells in no number format are parsed as numbers of several parts, see `compound_numbers`."""
    spellings: tuple[str, ...] = ()
    """Cells of columns with few different ones, the commonest first: a class comes back as it was written."""

    def parse(self, column: pd.Series) -> pd.Series:
        missing_codes = [value for value in self.missing if _is_number(value)]
        if not is_text(column):
            return (
                column.mask(column.isin(missing_codes))
                if missing_codes and column.isin(missing_codes).any()
                else column
            )
        numbers = map_distinct(column, self._parse_texts, np.nan).astype("float64")
        return numbers.mask(numbers.isin(missing_codes)) if missing_codes else numbers

    @property
    def formats(self) -> tuple[NumberFormat, ...]:
        """The formats in the order of trial."""
        inferred = NumberFormat(self.decimal, self.group, self.before, self.after)
        mixed = (
            replace(number_format, before=self.before, after=self.after)
            for number_format in MIXED_FORMATS[self.decimal]
        )
        return (inferred, *mixed)

    @property
    def _is_money(self) -> bool:
        return not CURRENCIES.isdisjoint((*self.before, *self.after))

    def _parse_texts(self, texts: pa.Array) -> np.ndarray:
        first, *others = self.formats
        numbers = parse_numbers(texts, first)
        for number_format in others:
            # Each further format sees only what the ones before left.
            unparsed = np.flatnonzero(np.isnan(numbers))
            if len(unparsed):
                numbers[unparsed] = parse_numbers(texts.take(pa.array(unparsed)), number_format)
        if self.meanings or self.has_spelled or self._is_money:
            for position in np.flatnonzero(np.isnan(numbers)):
                numbers[position] = self._parse_word(texts[int(position)].as_py())
        return numbers

    def _parse_word(self, text: str) -> float:
        meaning = self.meanings.get(text.casefold())
        if meaning is None and self.has_spelled:
            meaning = parse_spelled(text, self.after)
        if meaning is None and self._is_money and is_accounting_zero(text.casefold()):
            meaning = 0.0
        return np.nan if meaning is None else meaning


class DateParser(ColumnParser):
    """Dates in text, spelled as `date_spellings` names them, or numbers that count from 1970 (`epoch`)."""

    op: Literal["read_date"] = "read_date"
    spellings: tuple[str, ...] = ("year-month-day",)
    day_first: bool = False
    epoch: Literal["s", "ms", "us", "yyyymmdd", "yyyymm", "excel"] | None = None
    pivot: int = CENTURY_PIVOT
    """Two-digit years below belong to this century."""
    missing_words: ClassVar[frozenset[str]] = MISSING_WORDS | NULL_DATES

    def parse(self, column: pd.Series) -> pd.Series:
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            return column
        if self.epoch:
            return pd.Series(parse_epoch(column, self.epoch), index=column.index, name=column.name)
        # Later rows may be spelled otherwise than the training rows: those spellings are only tried first.
        spellings = (*self.spellings, *(name for name in SPELLINGS if name not in self.spellings))
        return map_distinct(
            column, lambda texts: parse_dates(texts, spellings, self.day_first, self.pivot), NAT
        )


class BooleanParser(ColumnParser):
    """Yes and no in any spelling of `vocabulary.TRUTH_VALUES`. `words`: no and yes as the file writes them."""

    op: Literal["read_boolean"] = "read_boolean"
    words: tuple[str, ...] = ()

    def parse(self, column: pd.Series) -> pd.Series:
        if pd.api.types.is_bool_dtype(column.dtype):
            return column
        truths = map_distinct(column, _truths, np.nan)
        # A plain bool column cannot hold a missing value: numpy would make True of it.
        return truths.astype("boolean") if truths.isna().any() else truths.astype("bool")


class TextParser(ColumnParser):
    """Numbers that are identifiers, as text: whole ones without a decimal point."""

    op: Literal["read_text"] = "read_text"

    def parse(self, column: pd.Series) -> pd.Series:
        if pd.api.types.is_float_dtype(column.dtype) and (column.dropna() % 1 == 0).all():
            # Missing values made floats of identifiers: `1.0` as text would not match `1` elsewhere.
            column = column.astype("Int64")
        text = to_plain_text(column)
        return map_distinct(text, self._drop_missing, None).astype("str") if self.missing else text

    def _drop_missing(self, texts: pa.Array) -> np.ndarray:
        return _drop_words(texts, self.missing)

    def is_unparsed(self, column: pd.Series) -> pd.Series:
        return pd.Series(False, index=column.index)


class CategoryParser(ColumnParser):
    """Text without missing-value words, and with one spelling for each class.

    `same`: class as folded by `class_spellings.fold_spelling` -> its spelling.
    """

    op: Literal["read_words"] = "read_words"
    same: dict[str, str] = Field(default_factory=dict)

    def parse(self, column: pd.Series) -> pd.Series:
        if not is_text(column):
            return column
        words = to_plain_text(column)
        # Each distinct word once: a column of a million rows has few classes.
        codes, values = pd.factorize(words)
        canonical = [self._canonical(str(value)) for value in values]
        if canonical == list(values):
            return column
        # The code of a missing value is -1, which takes the last entry.
        row_values = np.array([*canonical, None], dtype=object)[codes]
        return pd.Series(row_values, index=column.index, name=column.name, dtype=words.dtype)

    def _canonical(self, text: str) -> str | None:
        if text.strip().casefold() in self.missing:
            return None
        return self.same.get(fold_spelling(text), text)

    def is_unparsed(self, column: pd.Series) -> pd.Series:
        return pd.Series(False, index=column.index)


class DurationParser(ColumnParser):
    """Durations and times of day as hours (see `durations`).

    `is_minutes`: of two parts, the first are minutes. `is_dotted`: `8.30` is a time.
    """

    op: Literal["read_clock"] = "read_clock"
    is_minutes: bool = False
    is_dotted: bool = False
    is_time_of_day: bool = False

    def parse(self, column: pd.Series) -> pd.Series:
        return map_distinct(column, self._hours, np.nan).astype("float64") if is_text(column) else column

    def _hours(self, texts: pa.Array) -> np.ndarray:
        clock_format = ClockFormat(self.is_minutes, self.is_dotted)
        hours = [parse_hours(text, clock_format) for text in texts.to_pylist()]
        return np.array([np.nan if value is None else value for value in hours], dtype="float64")


def _truths(texts: pa.Array) -> np.ndarray:
    """1.0, 0.0, or NaN for another word (rows,)."""
    return np.array([TRUTH_VALUES.get(text.casefold(), np.nan) for text in texts.to_pylist()], dtype="float64")


def _drop_words(texts: pa.Array, missing: Sequence[JsonScalar]) -> np.ndarray:
    words = pc.is_in(pc.utf8_lower(texts), value_set=pa.array([str(value) for value in missing], pa.string()))
    remaining: np.ndarray = pc.if_else(words, None, texts).to_numpy(zero_copy_only=False)
    return remaining


AnyParser = Annotated[
    NumberParser | DateParser | BooleanParser | TextParser | CategoryParser | DurationParser,
    Field(discriminator="op"),
]
PARSERS: TypeAdapter[list[AnyParser]] = TypeAdapter(list[AnyParser])


def validate_parsers(parsers: Sequence[Mapping[str, Any]]) -> list[AnyParser]:
    """Read parsers from JSON. Raises pydantic's ValidationError."""
    return PARSERS.validate_python(list(parsers))


def parse_columns(frame: pd.DataFrame, parsers: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Parse the columns of a frame. Columns that it lacks are skipped; parsing twice changes nothing more."""
    parsed = {
        name: parser.parse(frame[name])
        for parser in validate_parsers(parsers)
        for name in parser.columns
        if name in frame.columns
    }
    # Parsers return the column itself where nothing changes, so that no table is copied.
    changed = {name: column for name, column in parsed.items() if column is not frame[name]}
    return frame.assign(**changed) if changed else frame


def parsers_by_column(parsers: Sequence[Mapping[str, Any]]) -> dict[str, ColumnParser]:
    """Column -> its parser."""
    return {name: parser for parser in validate_parsers(parsers) for name in parser.columns}
