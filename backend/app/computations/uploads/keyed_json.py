"""Conversion of JSON objects with rows by time: Alpha Vantage's answers, and pandas' `orient="index"`."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.computations.uploads.json_faults import broken_json

_HEAD = 64 << 10
"""Bytes in which the first time must stand: other JSON files are not parsed for it."""
_MAX_BYTES = 64 << 20
"""Size of such a file: it is parsed as a whole, and Python objects take several times its size."""
_DEPTH = 2
"""Levels that are searched for the table: the document, or an object in it beside facts on the series."""
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?|\d{9,19}")
_BEGINS = re.compile(r'"(?:\d{4}-\d{2}-\d{2}(?:[T ][^"]*)?|\d{9,19})"\s*:\s*\{')
_NUMBERED = re.compile(r"^\d+[a-z]?\. ")
_SYMBOLS = (("symbol",), ("from symbol", "to symbol"), ("digital currency code", "market code"))
"""Facts beside the rows that name the symbol, in the order of preference."""

Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Keyed:
    """A CSV file with a header, and notes on the conversion of its times."""

    path: Path
    notes: tuple[str, ...] = ()


def keyed_as_csv(path: Path, work: Path) -> Keyed | None:
    """Convert `{"2024-05-31": {"open": 1, ...}, ...}`, or an object that holds it, to CSV; None for other JSON.

    Numbers before names (`1. open`) are dropped. Times of a zone that the file names are converted to UTC.
    """
    with path.open(encoding="utf-8") as file:
        head = file.read(_HEAD)
    # The beginning decides, so that large JSON files of other forms are not parsed in Python.
    if not head.lstrip().startswith("{") or not _BEGINS.search(head) or path.stat().st_size > _MAX_BYTES:
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise broken_json(error) from error
    # The longest: a file may hold a second, short table of dates.
    rows = max(_tables(document, _DEPTH), key=len, default={})
    if not rows:
        return None
    facts = dict(_facts(document, rows))
    # A day has no zone: a conversion to UTC would move it to the day before or after.
    zone = _zone(facts.get("time zone")) if any(":" in moment for moment in rows) else None
    _write(rows, _symbol(facts), zone, work / "keyed.csv")
    notes = (f"The times are those of {zone.key}; they are converted to UTC.",) if zone else ()
    return Keyed(work / "keyed.csv", notes)


def _tables(value: Any, depth: int) -> Iterator[Rows]:
    """Yield objects whose keys are times and whose values are flat objects."""
    if not isinstance(value, dict) or not value:
        return
    if all(_MOMENT.fullmatch(key) and _is_flat(row) for key, row in value.items()):
        yield value
    elif depth:
        for inner in value.values():
            yield from _tables(inner, depth - 1)


def _is_flat(row: Any) -> bool:
    if not isinstance(row, dict) or not row:
        return False
    return not any(isinstance(cell, dict | list) for cell in row.values())


def _facts(document: Mapping[str, Any], rows: Rows) -> Iterator[tuple[str, str]]:
    """Yield the facts beside the rows: name in lower case, value."""
    for value in document.values():
        if value is not rows and isinstance(value, dict):
            yield from ((_plain(name).lower(), cell) for name, cell in value.items() if isinstance(cell, str))


def _symbol(facts: Mapping[str, str]) -> str | None:
    symbols = (
        "".join(facts[part] for part in parts) for parts in _SYMBOLS if all(part in facts for part in parts)
    )
    return next(symbols, None)


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name and name != "UTC" else None
    # An unknown zone is no reason to refuse the file: its times stay as written.
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _write(rows: Rows, symbol: str | None, zone: ZoneInfo | None, target: Path) -> None:
    # Rows need not have the same cells.
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    first = ["timestamp", *(["symbol"] if symbol else [])]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*first, *map(_plain, names)])
        for moment, row in rows.items():
            cells = (row.get(name) for name in names)
            writer.writerow([_utc_text(moment, zone), *([symbol] if symbol else []), *cells])


def _utc_text(moment: str, zone: ZoneInfo | None) -> str:
    if zone is None:
        return moment
    try:
        local = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return local.replace(tzinfo=local.tzinfo or zone).astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")


def _plain(name: str) -> str:
    return _NUMBERED.sub("", name)
