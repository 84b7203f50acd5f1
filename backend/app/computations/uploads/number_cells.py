"""Numbers of the cells of a table as written, to compare a row with the sums of others."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from app.modeling.type_inference.number_spellings import NumberFormat
from app.modeling.type_inference.numbers import parse_numbers
from app.modeling.type_inference.units import CURRENCIES
from app.modeling.type_inference.vocabulary import OTHER_MARKS, is_missing_word

MIN_NUMBER_SHARE = 0.8
"""Share of the cells of a column that are numbers: words such as `n.a.` may be the rest."""
MIN_SUM_DIGITS = 4
"""Digits of a sum that two numbers do not have by chance."""
MAX_CELLS = 1_000_000
"""Cells that are read: as many as a sample of a megabyte has."""
MAX_ROUNDING_SHARE = 0.01
"""Share of a sum that rounding of its parts changes at most."""
_TOTAL = re.compile(
    r"(?:\b|(?<=eind)|(?<=sub)|(?<=gesamt))(?:total(?:s|e|es|en)?|totaal|sum|summe|som|gesamt|insgesamt|somme|suma|soma"
    r"|totali|totais|totales)\b|^\u03a3",
    re.IGNORECASE,
)
_MEAN = re.compile(
    r"\b(?:average|avg|mean|gemiddelde?|durchschnitt|mittelwert|moyenne|promedio|media|m\u00e9dia)\b",
    re.IGNORECASE,
)
_BEFORE = dict.fromkeys(CURRENCIES, 1.0)
_FORMATS = tuple(
    NumberFormat(decimal, group, before=_BEFORE, after=None)
    for decimal, group in ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
)
"""Formats of a column; a currency may stand before a number, but no letter, since `A4` is a name."""
_OTHER_MARKS = str.maketrans(OTHER_MARKS)


def has_total_word(labels: Mapping[int, str]) -> bool:
    return any(_TOTAL.search(label) for label in labels.values())


def has_mean_word(labels: Mapping[int, str]) -> bool:
    return any(_MEAN.search(label) for label in labels.values())


@dataclass(frozen=True)
class _NumberColumn:
    """Numbers of a column by row, None for other cells; `decimal` is its mark."""

    texts: Sequence[str]
    numbers: Sequence[float | None]
    decimal: str

    def count_decimals(self, place: int) -> int:
        _, _, fraction = self.texts[place].rpartition(self.decimal)
        return len(re.match(r"\d*", fraction)[0]) if fraction != self.texts[place] else 0  # type: ignore[index]  # it matches any text


@dataclass
class _RunningSum:
    """Sum of the numbers of a group of rows, extended row by row."""

    total: float = 0.0
    rows: int = 0
    present: int = 0
    nonzero: int = 0
    largest: float = 0.0

    def add(self, number: float | None) -> None:
        self.rows += 1
        if number is not None:
            self.total += number
            self.present += 1
            self.nonzero += number != 0
            self.largest = max(self.largest, abs(number))

    def equals(self, number: float, tolerance: float) -> bool:
        """Test whether a number is the sum, and so larger than all of its parts."""
        if not self.present or self.nonzero < min(2, self.rows):
            return False
        is_largest = abs(number) > self.largest or self.present == 1
        return is_largest and abs(number - self.total) <= tolerance


class GroupSums:
    """Sums of the columns over a group of rows."""

    def __init__(self, numbers: "CellNumbers", rows: Iterable[int] = ()) -> None:
        self._numbers = numbers
        self._sums = {column: _RunningSum() for column in numbers.columns}
        for place in rows:
            self.add(place)

    def add(self, place: int) -> None:
        for column, running in self._sums.items():
            running.add(self._numbers.number(place, column))

    def compare(self, place: int) -> tuple[int, int]:
        """Count the columns in which a row is the sum of the group, and those in which it is not."""
        results = [
            running.equals(number, self._numbers.tolerance(place, column, running.rows))
            for column, running in self._sums.items()
            if (number := self._numbers.number(place, column)) is not None
        ]
        return results.count(True), results.count(False)

    def is_exceeded(self, place: int) -> bool:
        """Test for a number that is larger than the sum of a column of positive ones."""
        return any(
            running.nonzero > 1 and number > running.total >= running.largest > 0
            for column, running in self._sums.items()
            if (number := self._numbers.number(place, column)) is not None
        )


class CellNumbers:
    """Numbers of rows as written; `columns` are those that have numbers."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._columns: dict[int, _NumberColumn] = {}
        width = max(map(len, rows), default=0)
        if rows and width * len(rows) <= MAX_CELLS:
            for place in range(width):
                texts = [row[place].strip() if place < len(row) else "" for row in rows]
                if column := _parse_column(texts):
                    self._columns[place] = column
        self.columns = frozenset(self._columns)

    def number(self, place: int, column: int) -> float | None:
        """Number of a cell, None for words."""
        return self._columns[column].numbers[place] if column in self._columns else None

    def count_means(self, place: int, others: Sequence[int]) -> int:
        """Count the columns in which a row is the mean of others."""
        count = 0
        for column in self._columns.values():
            present = [value for other in others if (value := column.numbers[other]) is not None]
            mean = column.numbers[place]
            if mean is not None and present:
                tolerance = 0.5 * 10.0 ** -column.count_decimals(place)
                count += abs(mean - sum(present) / len(present)) <= tolerance and len(set(present)) > 1
        return count

    def has_long_sum(self, place: int) -> bool:
        """Test for a number of so many digits that it is no sum by chance."""
        texts = [column.texts[place] for column in self._columns.values() if column.numbers[place] is not None]
        return any(sum(map(str.isdigit, text)) >= MIN_SUM_DIGITS for text in texts)

    def tolerance(self, place: int, column: int, rows: int) -> float:
        """Difference between a sum and its parts by rounding: half of the last decimal of each."""
        decimals = self._columns[column].count_decimals(place)
        number = abs(self._columns[column].numbers[place] or 0.0)
        half_digit = 0.505 * 10.0**-decimals
        return (
            max(half_digit, min(half_digit * rows, MAX_ROUNDING_SHARE * number))
            if decimals
            else 1e-6 * max(1.0, number)
        )


def _parse_column(texts: Sequence[str]) -> _NumberColumn | None:
    """Parse cells in the format that fits most of them; None for a column of words."""
    plain = [text.translate(_OTHER_MARKS) for text in texts]
    encoded = pa.array(
        [None if is_missing_word(text) else text for text in plain], pa.string()
    ).dictionary_encode()
    present = len(texts) - encoded.null_count
    indices = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    best: tuple[int, np.ndarray, str] = (0, np.empty(0), "")
    for number_format in _FORMATS if present else ():
        numbers = np.append(parse_numbers(encoded.dictionary, number_format), np.nan)[indices]
        count = int(np.isfinite(numbers).sum())
        if count > best[0]:
            best = count, numbers, number_format.decimal
        if count == present:
            break
    count, numbers, decimal = best
    if not count or count < MIN_NUMBER_SHARE * present:
        return None
    return _NumberColumn(plain, [None if np.isnan(number) else float(number) for number in numbers], decimal)
