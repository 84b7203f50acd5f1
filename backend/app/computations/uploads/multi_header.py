"""Conversion of CSV with a header of several lines: pandas' columns of two levels, yfinance's downloads."""

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_LEVELS = frozenset({"price", "attributes"})
"""Names of the level of open, high, low and close, in yfinance and similar libraries."""
_SYMBOLS = frozenset({"ticker", "symbols", "symbol", "tickers"})
_MAX_LINE = 1 << 20
"""Characters of the first line: 100,000 columns, at yfinance's 10 each."""
_TIMES = frozenset({"date", "datetime"})


def headed_as_csv(path: Path, work: Path) -> Path | None:
    """Convert columns by price and ticker to rows of a time, a ticker and its prices; None for other text.

    The three lines of the header are `Price,Close,...`, `Ticker,NVDA,...` and `Date,,...`; the first two may
    change places.
    """
    with path.open(encoding="utf-8", newline="") as file:
        if len(file.readline(_MAX_LINE)) == _MAX_LINE:
            return None  # the reader of any CSV checks the width before it loads the line
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
            return None  # the reader of any CSV reports the fault
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
    """Read the names of prices and tickers, column by column; None for another header."""
    if len(head) < 3 or any(len(line) < 2 for line in head):
        return None
    first, second, third = head
    if third[0].strip().lower() not in _TIMES or any(third[1:]) or len(first) != len(second):
        return None
    for prices, tickers in ((first, second), (second, first)):
        if prices[0].strip().lower() in _LEVELS and tickers[0].strip().lower() in _SYMBOLS:
            return list(prices[1:]), list(tickers[1:])
    return None
