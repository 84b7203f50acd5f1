"""Header of a table: names of the columns in one row or more, their labels, and their units. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.computations.uploads.column_types import DATE_RULES, INTEGER, TYPE_RULES
from app.computations.uploads.non_data_rows import is_unit_row
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

MIN_LABELLED_COLUMNS = 2
"""Columns of numbers with a word below their name, from which the words are labels."""
MAX_LOWER_ROWS = 3
"""Rows of a header below its first one: groups of groups, or a label and an internal name of each column."""
_WHITE = re.compile(r"\s+")


@dataclass(frozen=True)
class Header:
    """Rows above those of a table: `rows` is their number.

    `labels`: rows that describe columns which have names. `units`: a row of units.
    """

    names: tuple[str, ...]
    rows: int
    labels: tuple[tuple[str, ...], ...] = ()
    units: tuple[str, ...] = ()


def split_header(rows: Sequence[Sequence[str]]) -> Header | None:
    """Split the header off the rows of a table; None if the first row is one of its values."""
    depth = _count_lower_rows(rows)
    if not is_header(rows) and not (depth and _has_only_years(rows[0])):
        return None
    levels, below = rows[: depth + 1], rows[depth + 1 :]
    units = tuple(below[0]) if len(below) > 1 and is_unit_row(below[0], below[1:]) else ()
    count = len(levels) + bool(units)
    if is_complete(rows[0]):
        return Header(tuple(rows[0]), count, tuple(map(tuple, levels[1:])), units)
    return Header(_join_levels(levels) if depth else tuple(rows[0]), count, units=units)


def is_complete(names: Sequence[str]) -> bool:
    """Test whether every column has a name of its own."""
    plain = {name.strip().casefold() for name in names}
    return "" not in plain and len(plain) == len(names)


def _count_lower_rows(rows: Sequence[Sequence[str]]) -> int:
    """Count the rows below the first one that are words above columns of numbers or dates."""
    # The cheap test first: in most tables the second row has a number.
    bound = next(
        (
            n
            for n, row in enumerate(rows[1 : MAX_LOWER_ROWS + 2])
            if any(is_measure(cell.strip()) and not _is_year(cell.strip()) for cell in row)
        ),
        MAX_LOWER_ROWS,
    )
    for depth in range(min(bound, MAX_LOWER_ROWS, len(rows) - 2), 0, -1):
        body = rows[depth + 1 :]
        columns = measure_columns(body)
        is_alone = is_complete(rows[0])
        if all(_is_lower_row(row, columns, body, is_alone, rows[0][0].strip()) for row in rows[1 : depth + 1]):
            return depth
    return 0


def _is_lower_row(
    row: Sequence[str],
    columns: set[int],
    body: Sequence[Sequence[str]],
    is_first_complete: bool,
    first_name: str,
) -> bool:
    cells = {place: row[place].strip() for place in sorted(columns) if place < len(row) and row[place].strip()}
    if not cells or 2 * len(cells) < len(columns) or any(map(is_missing_word, cells.values())):
        return False
    # A single word above numbers may be a value that is written out; a missing name above shows a header.
    if is_first_complete and (len(columns) < MIN_LABELLED_COLUMNS or is_unit_row(row, body)):
        return False
    years = [cell for cell in cells.values() if _is_year(cell)]
    if years and (is_first_complete or len(years) < len(cells) or row[0].strip() not in ("", first_name)):
        return False
    judged = body[:MAX_JUDGED_ROWS]
    return not any(
        cell == other[place].strip() for place, cell in cells.items() for other in judged if place < len(other)
    )


def _is_year(cell: str) -> bool:
    return re.fullmatch(r"(?:18|19|20|21)\d\d", cell, re.ASCII) is not None


def _has_only_years(cells: Sequence[str]) -> bool:
    return all(_is_year(cell.strip()) for cell in cells if is_measure(cell.strip()))


def _join_levels(levels: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Join names of groups and of their columns: a group stands above its first column only."""
    width = max(map(len, levels))
    spread = [_spread(level, width) for level in levels[:-1]]
    lowest = [*levels[-1], *[""] * (width - len(levels[-1]))]
    names = zip(*spread, lowest, strict=True)
    return tuple(" ".join(dict.fromkeys(filter(None, map(_plain, parts)))) for parts in names)


def _spread(level: Sequence[str], width: int) -> list[str]:
    spread: list[str] = []
    for place in range(width):
        cell = level[place] if place < len(level) else ""
        spread.append(cell if cell.strip() or not spread else spread[-1])
    return spread


def _plain(name: str) -> str:
    return _WHITE.sub(" ", name).strip()


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
    width = max(map(len, rows[:MAX_JUDGED_ROWS]), default=0)
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
