"""Header of a table: whether its first row names the columns. Pure."""

import re
from collections.abc import Sequence

from app.computations.uploads.column_types import DATE_RULES, INTEGER, TYPE_RULES
from app.modeling.type_inference.vocabulary import NULL_TOKENS, is_missing_word

MIN_DATED_COLUMNS = 3
"""Dates in the first row from which they may be names of columns: fewer are values of a row without names."""
MIN_MEASURE_SHARE = 0.8
"""Share of the cells of a column that are numbers or dates, from which its words are none of its values."""
MAX_JUDGED_CELLS = 20_000
"""Cells that columns are judged by: each is compared with every rule, in 10 microseconds."""
MAX_JUDGED_ROWS = 50
"""Rows that columns are judged by: a header is as evident in fifty as in all of them."""
MIN_JUDGED_ROWS = 3
"""Rows that columns of the widest tables are judged by."""


def is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Test whether the first row names the columns: it has no value that could be data."""
    first = [cell.strip() for cell in rows[0]]
    if all(cell in NULL_TOKENS for cell in first):
        return False
    if any(is_measure(cell) for cell in first):
        # Years and dates may be names of columns (`name,2019,2020`) beside names of text.
        return _only_years_are_measures(first) or _only_dates_are_measures(first, rows[1:])
    return True


def is_measure(cell: str) -> bool:
    return any(rule.accepts(cell) for rule in TYPE_RULES)


def _only_years_are_measures(cells: Sequence[str]) -> bool:
    measures = [cell for cell in cells if is_measure(cell)]
    years = all(INTEGER.accepts(cell) and 1800 <= int(cell) <= 2200 for cell in measures)
    return years and len(measures) < len(cells) and len(set(measures)) == len(measures) > 1


def _only_dates_are_measures(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Test for a column for each day or month, named by it, above other values."""
    places = [place for place, cell in enumerate(cells) if is_measure(cell)]
    dates = {cells[place] for place in places}
    if not MIN_DATED_COLUMNS <= len(places) < len(cells) or len(dates) < len(places):
        return False
    values = [row[place].strip() for row in below for place in places if place < len(row)]
    return all(map(_is_date, dates)) and bool(values) and not any(map(_is_date, values))


def _is_date(cell: str) -> bool:
    is_month = re.fullmatch(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])", cell) is not None
    return is_month or any(rule.accepts(cell) for rule in DATE_RULES)


def measure_columns(rows: Sequence[Sequence[str]]) -> set[int]:
    """Columns of numbers, dates or booleans, by the first rows."""
    width = max(map(len, rows), default=0)
    judged = rows[: max(MIN_JUDGED_ROWS, min(MAX_JUDGED_ROWS, MAX_JUDGED_CELLS // max(1, width)))]
    columns = set()
    for place in range(width):
        cells = [row[place].strip() for row in judged if place < len(row)]
        present = [cell for cell in cells if not is_missing_word(cell)]
        if present and sum(map(is_measure, present)) >= MIN_MEASURE_SHARE * len(present):
            columns.add(place)
    return columns


def has_evident_header(rows: Sequence[Sequence[str]]) -> bool:
    """Test whether the first row has words only, also above a column of numbers or dates."""
    if len(rows) < 2 or any(map(is_measure, map(str.strip, rows[0]))):
        return False
    return any(place < len(rows[0]) and rows[0][place].strip() for place in measure_columns(rows[1:]))
