"""Price bars: from any table to records that Postgres takes, and from its records to a frame."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.computations.bars.binary_batches import Parcels
from app.computations.bars.faults import moment
from app.computations.bars.frame import write_frame
from app.computations.bars.grid import measure_spacing
from app.computations.bars.interval import interval_name, interval_seconds
from app.computations.bars.judge import Judge
from app.computations.bars.raw import Asked, in_order, read_raw
from app.computations.bars.runs import stretches
from app.computations.bars.summary import SHOWN_OF_ALL, Summary
from app.computations.bench import Bench
from app.computations.uploads import sql
from app.errors import InvalidInput
from app.json_types import JsonValue

_MEMORY_BYTES = 384 << 20
_EXPANDED_BYTES = 8 << 30
_US = 1_000_000
_ENDS = "The times look like those at which bars end; they are taken as the times at which they begin."


def read_bars(
    bench: Bench,
    filename: str = "",
    coin: str | None = None,
    interval: str | None = None,
    time_zone: str | None = None,
    now_s: float | None = None,
    expanded_bytes: int = _EXPANDED_BYTES,
) -> dict[str, JsonValue]:
    """Read the input `upload` and write bars.bin, which may be a pipe: good bars as `bars/layout.py` says.

    Returns `{"rows", "kept", "bad", "series", "format", "columns"}`: `bad` as `Faults.told`; a series is one
    coin with its interval, bars, first and last time, gaps (the first are named) and summary, in the order of
    bars.bin. Bars that end after `now_s` (seconds since 1970) are not finished yet. Raises InvalidInput for a
    file that is no table of bars.
    """
    interval_s = interval_seconds(interval) if interval else None
    now_us = int((time.time() if now_s is None else now_s) * _US)
    with _work(bench) as work, sql.connect(bench, work, _MEMORY_BYTES) as connection:
        bench.report(0.02, "Reading the file")
        raw = read_raw(connection, bench, filename, expanded_bytes, Asked(coin, time_zone))
        bench.report(0.25, f"Looking at {raw.rows:,} rows")
        path, spacing = raw.path, measure_spacing(stretches(raw.path, measures=False))
        if not spacing.ordered:
            bench.report(0.3, "Putting the rows in order")
            path = in_order(connection, raw.path)
            spacing = measure_spacing(stretches(path, measures=False))
        grids = spacing.grids(interval_s)
        with (bench.output / "bars.bin").open("wb") as target:
            judge = Judge(grids, now_us, Parcels(target))
            judge.judge(
                stretches(path),
                lambda done: bench.report(0.4 + 0.6 * done / raw.rows, f"{done:,} of {raw.rows:,} rows judged"),
            )
    bad = judge.faults.told()
    kept = sum(summary.bars for summary in judge.summaries.values())
    if not kept:
        (bench.output / "bars.bin").unlink()
        why = "; ".join(f"{reason} ({count:,} rows)" for reason, count in judge.faults.ranked()[:3])
        raise InvalidInput("no_good_bars", f"No bar of the file can be used: {why}.", **bad)
    each = max(1, SHOWN_OF_ALL // len(judge.summaries))
    series: list[JsonValue] = [_series(c, s, each) for c, s in judge.summaries.items() if s.bars]
    notes = [*raw.notes, *([_ENDS] if any(grid.looks_like_ends for grid in grids.values()) else [])]
    format_: dict[str, Any] = {**raw.format, "notes": notes}
    return {
        "rows": raw.rows,
        "kept": kept,
        "bad": bad,
        "series": series,
        "format": format_,
        "columns": dict[str, JsonValue](raw.columns),
    }


def frame(bench: Bench, coins: dict[str, str], interval_s: int, wanted_s: int) -> dict[str, JsonValue]:
    """The input `bars` (records in order of series and time) as frame.parquet; see `bars/frame.py`."""
    by_number = {int(number): coin for number, coin in coins.items()}
    with _work(bench) as work, sql.connect(bench, work, _MEMORY_BYTES) as connection:
        return write_frame(connection, bench, by_number, interval_s, wanted_s)


def _series(coin: str, summary: Summary, most_gaps: int) -> dict[str, JsonValue]:
    kept = summary.kept()
    named: list[JsonValue] = [
        {"after": moment(after), "before": moment(before), "missing": lacking}
        for after, before, lacking in summary.gaps(most_gaps)
    ]
    return {
        "coin": coin,
        "interval": interval_name(summary.grid.interval_s),
        "interval_s": summary.grid.interval_s,
        "bars": summary.bars,
        "first_us": summary.first,
        "last_us": summary.last,
        "gaps": named,
        "summary": kept,
    }


@contextmanager
def _work(bench: Bench) -> Iterator[Path]:
    """A folder that is gone afterwards."""
    work = bench.output / ".work"
    work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
