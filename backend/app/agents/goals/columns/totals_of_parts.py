"""Totals whose parts stand beside them: `cnt` of `casual` and `registered`."""

from collections.abc import Sequence
from itertools import combinations

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

_TOTALS = word_set("total totals sum cnt count counts n num number all overall")
"""Words of names of totals."""
MAX_PARTS = 4
"""Parts of a total whose combinations are tried."""
MAX_MEDIAN_ERROR = 0.25
"""Relative difference of the median of a total from the sum of those of its parts: skewed parts differ more."""


def parts_of_total(total: Column, others: Sequence[Column]) -> list[Column]:
    """Return the columns of which a column is the sum by its name, bounds and median; empty if it is none."""
    if not _TOTALS & {*words(total.name)} or not total.is_number or _bounds(total) is None:
        return []
    numbers = [c for c in others if c != total and c.is_number and not c.unique and _bounds(c) is not None]
    for size in range(2, min(MAX_PARTS, len(numbers)) + 1):
        for parts in combinations(numbers[: 2 * MAX_PARTS], size):
            if _adds_up(total, parts):
                return [*parts]
    return []


def _adds_up(total: Column, parts: Sequence[Column]) -> bool:
    low, high, median = _bounds(total) or (0.0, 0.0, 0.0)
    lows, highs, medians = (sum(own) for own in zip(*filter(None, map(_bounds, parts)), strict=True))
    largest = max(bounds[1] for part in parts if (bounds := _bounds(part)))
    is_within: bool = lows <= low and largest < high <= highs
    return is_within and bool(abs(median - medians) <= MAX_MEDIAN_ERROR * abs(medians))


def _bounds(column: Column) -> tuple[float, float, float] | None:
    low, high, median = column.low, column.high, column.median
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    return (float(low), float(high), float(median)) if isinstance(median, int | float) else None
