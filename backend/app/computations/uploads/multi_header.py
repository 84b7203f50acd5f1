"""CSV with a header of several lines, as pandas writes columns of two levels and yfinance its downloads."""

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_LEVELS = frozenset({"price", "attributes"})
"""What yfinance and its kin call the level of open, high, low and close."""
_SYMBOLS = frozenset({"ticker", "symbols", "symbol", "tickers"})
_MAX_LINE = 1 << 20
"""Characters of the first line. yfinance writes 10 a column."""
_TIMES = frozenset({"date", "datetime"})


def headed_as_csv(path: Path, work: Path) -> Path | None:
    """Columns by price and ticker as rows of a time, a ticker and its prices; None for any other text.

    The three lines of the header are `Price,Close,...`, `Ticker,NVDA,...` and `Date,,...`; the first two may
    change places.
    """
    with path.open(encoding="utf-8", newline="") as file:
        if len(file.readline(_MAX_LINE)) == _MAX_LINE:
            return None  # the reader of any CSV measures how wide it is before it takes the line into memory
        file.seek(0)
        reader = csv.reader(file)
        try:
            head = list(itertools.islice(reader, 3))
            levels = _levels(head)
            if levels is None:
                return None
            with (work / "headed.csv").open("w", encoding="utf-8", newline="") as out:
                csv.writer(out).writerows(_by_ticker(head[2][0], *levels, reader))
        except csv.Error:
            return None  # what is wrong is told where any CSV is read
    return work / "headed.csv"


def _by_ticker(
    time: str, prices: Sequence[str], tickers: Sequence[str], rows: Iterable[Sequence[str]]
) -> Iterator[list[str]]:
    names = list(dict.fromkeys(prices))
    yield [time, "Ticker", *names]
    for row in rows:
        for ticker in dict.fromkeys(tickers):
            own = {p: cell for p, t, cell in zip(prices, tickers, row[1:], strict=False) if t == ticker}
            if any(own.values()):
                yield [row[0], ticker, *(own.get(name, "") for name in names)]


def _levels(head: Sequence[Sequence[str]]) -> tuple[list[str], list[str]] | None:
    """The prices' and the tickers' names, column by column."""
    if len(head) < 3 or any(len(line) < 2 for line in head):
        return None
    first, second, third = head
    if third[0].strip().lower() not in _TIMES or any(third[1:]) or len(first) != len(second):
        return None
    for one, other in ((first, second), (second, first)):
        if one[0].strip().lower() in _LEVELS and other[0].strip().lower() in _SYMBOLS:
            return list(one[1:]), list(other[1:])
    return None
