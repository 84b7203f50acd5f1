"""Rows among those of a table that are none: empty rows, repeated headers, comments, totals, a second table."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.computations.uploads.header_rows import has_evident_header
from app.computations.uploads.number_cells import (
    CellNumbers,
    GroupSums,
    has_mean_word,
    has_total_word,
)
from app.modeling.type_inference.vocabulary import is_missing_word

MAX_COMMENT_SHARE = 0.1
"""Share of rows that begin with `#`, above which that is how values begin."""
MIN_SUMMED_ROWS = 3
"""Rows above a total whose sum has few digits: those of two rows may be equal by chance."""
MIN_UNNAMED_ROWS = 4
"""Rows above a total that only its numbers show."""
MIN_UNNAMED_SUMS = 2
"""Columns whose sums show a total without a word: one may be equal by chance."""
MAX_SHOWN_CHARS = 60
"""Characters of a row that a note shows."""
_Row = Sequence[str]


@dataclass(frozen=True)
class SideRow:
    """A row that is none of the table; `kind` is a plural, for the note."""

    place: int
    kind: str


def find_side_rows(header: _Row, rows: Sequence[_Row]) -> list[SideRow]:
    """Find the rows of a complete table that are none, in their order. `header`: empty names without one."""
    if len(rows) < 2 or len(header) < 2:
        return []  # an empty line of a single column is a missing value
    end = _second_table(rows)
    side = dict.fromkeys(range(end, len(rows)), "of a second table")
    side |= dict(_plain_side_rows(header, rows[:end]))
    rest = [place for place in range(end) if place not in side]
    side |= {rest[place]: "totals" for place in _totals([rows[place] for place in rest])}
    return [SideRow(place, side[place]) for place in sorted(side)]


def describe_side_rows(side: Sequence[SideRow], rows: Sequence[_Row]) -> str:
    """Name the number of rows that are left out, by kind, and the first that has words."""
    counts = Counter(row.kind for row in side)
    kinds = ", ".join(
        f"{count:,} {kind.removesuffix('s') if count == 1 else kind}" for kind, count in counts.items()
    )
    preview = next((text for row in side if (text := _join_cells(rows[row.place]))), "")
    example = f", for example {preview!r}" if preview else ""
    return f"Rows that are none of the table are left out: {kinds}{example}."


def _join_cells(row: _Row) -> str:
    return " ".join(cell.strip() for cell in row if cell.strip())[:MAX_SHOWN_CHARS]


def is_blank(row: _Row) -> bool:
    return not any(map(str.strip, row))


def _plain_side_rows(header: _Row, rows: Sequence[_Row]) -> Iterator[tuple[int, str]]:
    names = [name.strip() for name in header]
    has_comments = are_comments(rows)
    for place, row in enumerate(rows):
        if is_blank(row):
            yield place, "empty"
        elif any(names) and [cell.strip() for cell in row] == names:
            yield place, "repeating the header"
        elif has_comments and _is_comment(row, len(header)):
            yield place, "comments"


def are_comments(rows: Sequence[_Row]) -> bool:
    """Test whether few enough rows begin with `#` that it marks comments."""
    marked = sum(row[0].startswith("#") for row in rows)
    return 0 < marked <= MAX_COMMENT_SHARE * len(rows)


def _is_comment(row: _Row, width: int) -> bool:
    return row[0].startswith("#") and (len(row) != width or is_blank(row[1:]))


def _second_table(rows: Sequence[_Row]) -> int:
    """The place where a second table begins, below an empty row; the number of rows if there is none."""
    for place, (above, row) in enumerate(pairwise(rows), start=1):
        if is_blank(above) and not is_blank(row) and not has_number(row) and has_evident_header(rows[place:]):
            # A repeated header begins another page of the same table, whose names are its own.
            return place if not is_blank(rows[0]) and _differs_in_kind(rows[:place], row) else len(rows)
    return len(rows)


def _differs_in_kind(above: Sequence[_Row], row: _Row) -> bool:
    """Test whether a row has words where the rows above have numbers."""
    numbers = CellNumbers([line for line in above if not is_blank(line)])
    return any(place < len(row) and row[place].strip() for place in numbers.columns)


def has_number(row: _Row) -> bool:
    return any(re.search(r"\d", cell) for cell in row)


def _totals(rows: Sequence[_Row]) -> set[int]:
    """Places of subtotals, and of totals in the last or first row, that are sums or means of other rows."""
    numbers = CellNumbers(rows)
    if not numbers.columns:
        return set()
    subtotals = _subtotals(rows, numbers)
    values = [place for place in range(len(rows)) if place not in subtotals]
    totals = set(subtotals)
    for place, others in ((values[-1], values[:-1]), (values[0], values[1:])) if len(values) > 2 else ():
        if _is_total(rows, place, others, numbers):
            totals.add(place)
            break
    return totals


def _subtotals(rows: Sequence[_Row], numbers: CellNumbers) -> set[int]:
    """Rows with the word for a total that are sums of the rows above, from the last such row on."""
    groups: dict[int, list[int]] = {}
    group: list[int] = []
    # Added up row by row: rows with the word that are no sums belong to the group, which may be all rows.
    sums = GroupSums(numbers)
    for place in range(len(rows)):
        if group and has_total_word(_labels(rows, place, numbers)) and sums.compare(place)[0]:
            groups[place] = group
            group, sums = [], GroupSums(numbers)
        else:
            group.append(place)
            sums.add(place)
    # One alone is the total below the table, which is judged by all of its rows; or a class called so.
    return set(groups) if len(groups) > 1 and not _is_class(rows, groups, numbers) else set()


def _is_class(rows: Sequence[_Row], groups: Mapping[int, Sequence[int]], numbers: CellNumbers) -> bool:
    """Test for subtotals that are one class of each group, as `total` beside `women` and `men`.

    Such rows have one label, are as complete as others, and stand with classes that are repeated too.
    """
    labels = {tuple(_labels(rows, place, numbers).values()) for place in groups}
    if len(labels) == len(groups) or all(_has_gap(rows, place, group) for place, group in groups.items()):
        return False
    members = [{tuple(_labels(rows, place, numbers).values()) for place in group} for group in groups.values()]
    return len(set().union(*members)) < sum(map(len, members))


def _has_gap(rows: Sequence[_Row], place: int, others: Sequence[int]) -> bool:
    """Test for a cell that is empty in a row and in no other one."""
    empty = [column for column, cell in enumerate(rows[place]) if is_missing_word(cell)]
    return any(
        all(column < len(rows[other]) and not is_missing_word(rows[other][column]) for other in others)
        for column in empty
    )


def _labels(rows: Sequence[_Row], place: int, numbers: CellNumbers) -> dict[int, str]:
    """Words of a row by column, also in a column of numbers: a total may stand below those of rows."""
    return {
        column: cell.strip()
        for column, cell in enumerate(rows[place])
        if numbers.number(place, column) is None and not is_missing_word(cell)
    }


def _is_total(rows: Sequence[_Row], place: int, others: Sequence[int], numbers: CellNumbers) -> bool:
    """Test whether a row is the sum of others, or their mean, and no further thing with a name."""
    labels = _labels(rows, place, numbers)
    if len(labels) > 1 or any(_is_repeated(rows, others, column, label) for column, label in labels.items()):
        return False
    equal, different = GroupSums(numbers, others).compare(place)
    if has_total_word(labels):
        return equal > 0 and (len(others) >= MIN_SUMMED_ROWS or numbers.has_long_sum(place))
    if has_mean_word(labels):
        return numbers.count_means(place, others) > different // 2 and len(others) >= MIN_SUMMED_ROWS
    # A row with a name of its own is a row: by chance, the first of a ranking is the sum of the others.
    if not _has_gap(rows, place, others) or not numbers.has_long_sum(place):
        return False
    return equal >= MIN_UNNAMED_SUMS and not different and len(others) >= MIN_UNNAMED_ROWS


def _is_repeated(rows: Sequence[_Row], others: Sequence[int], column: int, label: str) -> bool:
    return any(column < len(rows[other]) and rows[other][column].strip() == label for other in others)
