"""An exchange on this machine that answers as Binance does: its market, and klines of given bars by pages."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = 500
"""Bars of one answer at most, fewer than are asked for."""

_SYMBOL = {
    "symbol": "BTCUSDT",
    "status": "TRADING",
    "baseAsset": "BTC",
    "baseAssetPrecision": 8,
    "quoteAsset": "USDT",
    "quotePrecision": 8,
    "quoteAssetPrecision": 8,
    "orderTypes": ["LIMIT", "MARKET"],
    "isSpotTradingAllowed": True,
    "isMarginTradingAllowed": False,
    "permissions": ["SPOT"],
    "permissionSets": [["SPOT"]],
    "filters": [
        {"filterType": "PRICE_FILTER", "minPrice": "0.01", "maxPrice": "1000000", "tickSize": "0.01"},
        {"filterType": "LOT_SIZE", "minQty": "0.00001", "maxQty": "9000", "stepSize": "0.00001"},
    ],
}


@dataclass
class Exchange:
    """`rows`: `[ms, open, high, low, close, volume]`, oldest first. `faults`: statuses of the first answers."""

    url: str
    rows: Sequence[Sequence[Any]]
    faults: list[int] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, Any]:
        split = urlsplit(path)
        if split.path.endswith("/exchangeInfo"):
            return 200, {"timezone": "UTC", "serverTime": 0, "symbols": [_SYMBOL]}
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        self.requests.append(query)
        if self.faults:
            status = self.faults.pop(0)
            return status, {"code": -1003, "msg": "Too many requests."}
        since, limit = int(query["startTime"]), min(int(query["limit"]), PAGE)
        rows = [row for row in self.rows if row[0] >= since][:limit]
        end = since + (int(query["limit"]) - 1) * 300_000
        return 200, [_kline(row) for row in rows if row[0] <= end]


def _kline(row: Sequence[Any]) -> list[Any]:
    at, *measures = row
    return [at, *map(str, measures), at + 299_999, "1.0", 7, "0.5", "0.5", "0"]


@contextmanager
def recorded_exchange(rows: Sequence[Sequence[Any]], faults: Sequence[int] = ()) -> Iterator[Exchange]:
    exchange = Exchange("", rows, list(faults))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, answer = exchange.answer(self.path)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Tests tell what matters themselves."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    exchange.url = f"http://127.0.0.1:{server.server_address[1]}/api/v3"
    try:
        yield exchange
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
