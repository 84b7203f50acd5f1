"""Numbers of the cells of a table as written, to compare a row with the sums of others."""

import re
from collections.abc import Mapping, Sequence

from app.modeling.type_inference.vocabulary import is_missing_word

MIN_NUMBER_SHARE = 0.8
"""Share of the cells of a column that are numbers: words such as `n.a.` may be the rest."""
MIN_SUM_DIGITS = 4
"""Digits of a sum that two numbers do not have by chance."""
MAX_CELLS = 400_000
"""Cells that are read: more than a sample of a megabyte has."""
_TOTAL = re.compile(
    r"(?:\b|(?<=eind)|(?<=sub)|(?<=gesamt))(?:total(?:s|e|es|en)?|totaal|sum|summe|som|gesamt|insgesamt|somme|suma|soma"
    r"|totali|totais|totales)\b|^\u03a3",
    re.IGNORECASE,
)
_MEAN = re.compile(
    r"\b(?:average|avg|mean|gemiddelde?|durchschnitt|mittelwert|moyenne|promedio|media|m\u00e9dia)\b",
    re.IGNORECASE,
)
# Symbols and codes of currencies may stand before a number; `s1` and `A4` are names.
_NUMBER = re.compile(
    r"(?:[A-Z]{3} ?|[^\w+\-(]{1,3})?(\(?[+-]?\d[\d.,'\u00a0\u202f ]*)\)?(?: ?[^\W\d]{1,3}| ?[^\w]{1,3})?",
    re.ASCII,
)
_GROUPS = str.maketrans("", "", "'\u00a0\u202f (")


def has_total_word(labels: Mapping[int, str]) -> bool:
    return any(_TOTAL.search(label) for label in labels.values())


def has_mean_word(labels: Mapping[int, str]) -> bool:
    return any(_MEAN.search(label) for label in labels.values())


class CellNumbers:
    """Numbers of rows as written; `columns` are those that have numbers."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._rows = rows
        self._cells: dict[int, list[float | None]] = {}
        width = max(map(len, rows), default=0)
        if rows and width * len(rows) <= MAX_CELLS:
            for place in range(width):
                texts = [row[place].strip() if place < len(row) else "" for row in rows]
                if numbers := _parse_column(texts):
                    self._cells[place] = numbers
        self.columns = frozenset(self._cells)

    def count_sums(self, place: int, others: Sequence[int]) -> tuple[int, int]:
        """Count the columns in which a row is the sum of others, and those in which it is not."""
        results = [
            self._is_sum(cells[place], [cells[other] for other in others], column, place)
            for column, cells in self._cells.items()
            if cells[place] is not None
        ]
        return results.count(True), results.count(False)

    def count_means(self, place: int, others: Sequence[int]) -> int:
        """Count the columns in which a row is the mean of others."""
        count = 0
        for column, cells in self._cells.items():
            present = [value for other in others if (value := cells[other]) is not None]
            number = cells[place]
            if number is not None and present:
                mean = sum(present) / len(present)
                count += abs(number - mean) <= self._rounding(column, place) and len(set(present)) > 1
        return count

    def has_long_sum(self, place: int) -> bool:
        """Test for a number of so many digits that it is no sum by chance."""
        cells = [self._rows[place][column] for column in self._cells if column < len(self._rows[place])]
        return any(sum(map(str.isdigit, cell)) >= MIN_SUM_DIGITS for cell in cells)

    def _is_sum(self, number: float | None, others: Sequence[float | None], column: int, place: int) -> bool:
        present = [value for value in others if value is not None]
        if number is None or sum(value != 0 for value in present) < min(2, len(others)):
            return False
        # A number among others of its size is no total.
        is_largest = abs(number) > max(map(abs, present)) or len(present) == 1
        return is_largest and abs(number - sum(present)) <= self._rounding(column, place) * 1.01

    def _rounding(self, column: int, place: int) -> float:
        """Half of the last digit of a number."""
        match = re.search(r"[.,](\d{1,2}|\d{4,})\D*$", self._rows[place][column])
        return 0.5 * 10.0 ** -len(match[1]) if match else 1e-6


def _parse_column(texts: Sequence[str]) -> list[float | None] | None:
    """Parse cells by the decimal mark that fits all of them; None for a column of words."""
    present = [text for text in texts if not is_missing_word(text)]
    matches = [match[1].translate(_GROUPS) for text in present if (match := _NUMBER.fullmatch(text))]
    if not matches or len(matches) < MIN_NUMBER_SHARE * len(present):
        return None
    is_comma = any(re.search(r",(?:\d{1,2}|\d{4,})$", cell) for cell in matches)
    return [_parse(text, is_comma) for text in texts]


def _parse(text: str, is_comma: bool) -> float | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    digits = match[1].translate(_GROUPS).rstrip(".,")
    plain = digits.replace(".", "").replace(",", ".") if is_comma else digits.replace(",", "")
    try:
        return -float(plain) if match[1].startswith("(") else float(plain)
    except ValueError:
        return None
