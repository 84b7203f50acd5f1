"""Bars from an exchange by CCXT (the extra `ccxt`), page by page within its rate limit."""

import csv
import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app.datasets.bar_sources.source import ReportProgress, SourceFile
from app.errors import InvalidInput, LabError, Unavailable
from app.modeling.problem.name_resolution import nearest_names

_MAX_PAGE_BARS = 1_000
"""Bars of one request: many exchanges allow 1,000, and others return fewer."""
_FIRST_PAUSE_S = 1.0
_MAX_TRIES = 6
"""Pauses double from the first: half a minute in all, enough for a short outage or a rate limit per minute."""
_COLUMNS = ("timestamp", "open", "high", "low", "close", "volume")

Row = list[Any]


@dataclass(frozen=True)
class ExchangeSource:
    """Bars of `symbol` that begin from `since` to `until` (aware times). `exchange`: from `open_exchange`."""

    exchange: Any
    symbol: str
    interval: str
    since: datetime
    until: datetime
    sleep: Callable[[float], object] = time.sleep

    def fetch(self, folder: Path, report: ReportProgress) -> SourceFile:
        with _translate_errors(self.exchange.id):
            self._check()
            path = folder / "bars.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(_COLUMNS)
                count = 0
                for page in self._pages(report):
                    writer.writerows(page)
                    count += len(page)
        if not count:
            raise InvalidInput(
                "no_bars", f"{self.exchange.id} has no bars of {self.symbol} at {self.interval} in that time."
            )
        return SourceFile(path, self.symbol, self.interval)

    def _check(self) -> None:
        exchange = self.exchange
        if not exchange.has.get("fetchOHLCV"):
            raise InvalidInput("no_bars", f"{exchange.id} gives no bars.")
        if self.interval not in exchange.timeframes:
            supported = ", ".join(exchange.timeframes)
            raise InvalidInput(
                "bad_interval", f"{exchange.id} has no bars of {self.interval}; it has {supported}."
            )
        self._retry(exchange.load_markets)
        if self.symbol not in exchange.markets:
            close = ", ".join(nearest_names(self.symbol, list(exchange.markets))) or "others"
            raise InvalidInput("unknown_symbol", f"{exchange.id} has no {self.symbol!r}; it has {close}.")

    def _pages(self, report: ReportProgress) -> Iterator[list[Row]]:
        """Yield rows in order of time without repetition; an empty page is a gap, and later pages follow."""
        step_ms = self.exchange.parse_timeframe(self.interval) * 1_000
        begin_ms, end_ms = (int(at.timestamp() * 1_000) for at in (self.since, self.until))
        next_ms = begin_ms
        while next_ms <= end_ms:
            page_ms = next_ms
            answer = self._retry(
                lambda: self.exchange.fetch_ohlcv(self.symbol, self.interval, page_ms, _MAX_PAGE_BARS)  # noqa: B023
            )
            # Some exchanges begin a page before the requested time, or go on beyond the end.
            page = [row for row in answer if next_ms <= row[0] <= end_ms]
            yield page
            next_ms = page[-1][0] + step_ms if page else next_ms + _MAX_PAGE_BARS * step_ms
            done = min((next_ms - begin_ms) / max(end_ms - begin_ms, 1), 1.0)
            report(done, f"{self.symbol} to {self.exchange.iso8601(min(next_ms, end_ms))}")

    def _retry(self, request: Callable[[], Any]) -> Any:
        """Repeat a request with growing pauses while the exchange is busy or unreachable."""
        network_error = _ccxt().NetworkError
        pause_s = _FIRST_PAUSE_S
        for remaining in reversed(range(_MAX_TRIES)):
            try:
                return request()
            except network_error:
                if not remaining:
                    raise
            self.sleep(pause_s)
            pause_s *= 2
        raise AssertionError("the last try returns or raises")


def open_exchange(name: str) -> Any:
    """Open a client that keeps the exchange's rate limit. Close it after use.

    Raises Unavailable without the extra, InvalidInput for an exchange that CCXT does not know.
    """
    ccxt = _ccxt()
    if name not in ccxt.exchanges:
        close = ", ".join(nearest_names(name, ccxt.exchanges)) or "others"
        raise InvalidInput("unknown_exchange", f"There is no exchange {name!r}; there are {close}.")
    return getattr(ccxt, name)({"enableRateLimit": True})


def _ccxt() -> Any:
    try:
        return importlib.import_module("ccxt")
    except ImportError:
        raise Unavailable("ccxt_missing", "Exchanges need the extra: pip install 'labcrew[ccxt]'.") from None


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """Translate CCXT's errors into one sentence without the requested address."""
    ccxt = _ccxt()
    try:
        yield
    # Before CCXT's: these are ours already, with their sentence.
    except LabError:
        raise
    except ccxt.NetworkError as error:
        kind = type(error).__name__
        raise Unavailable("exchange_away", f"{name} does not answer ({kind}); try again later.") from error
    except ccxt.BaseError as error:
        kind = type(error).__name__
        raise InvalidInput("exchange_refused", f"{name} refused: {kind}.") from error
