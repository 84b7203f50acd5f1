"""Price bars: conversion of any table to Postgres records, and of records to a frame."""

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
from app.computations.uploads import sql
from app.computations.workspace import CellWorkspace
from app.errors import InvalidInput
from app.json_types import JsonValue

_MEMORY_BYTES = 384 << 20
"""Memory of DuckDB; larger work spills to disk."""
_EXPANDED_BYTES = 8 << 30
"""Size of an uncompressed upload, against decompression bombs."""
_US = 1_000_000
_END_TIMES_NOTE = "The times look like the ends of bars; they are used as their beginnings."


def read_bars(
    workspace: CellWorkspace,
    filename: str = "",
    coin: str | None = None,
    interval: str | None = None,
    time_zone: str | None = None,
    now_s: float | None = None,
    expanded_bytes: int = _EXPANDED_BYTES,
) -> dict[str, JsonValue]:
    """Convert the input `upload` to bars.bin, which may be a pipe, in the format of `bars/layout.py`.

    Returns `{"rows", "kept", "bad", "series", "format", "columns"}`: `bad` as `Faults.to_json`; a series is one
    coin with its interval, bars, first and last time, gaps (the longest are listed) and summary, in the order
    of bars.bin. Bars that end after `now_s` (seconds since 1970) are unfinished and left out. Raises
    InvalidInput for a file that is no table of bars.
    """
    interval_s = interval_seconds(interval) if interval else None
    now_us = int((time.time() if now_s is None else now_s) * _US)
    with _work_folder(workspace) as work, sql.connect(workspace, work, _MEMORY_BYTES) as connection:
        workspace.report(0.02, "Reading the file")
        raw = read_raw(connection, workspace, filename, expanded_bytes, Asked(coin, time_zone))
        workspace.report(0.25, f"Examining {raw.rows:,} rows")
        path, spacing = raw.path, measure_spacing(stretches(raw.path, measures=False))
        if not spacing.ordered:
            workspace.report(0.3, "Sorting the rows")
            path = in_order(connection, raw.path)
            spacing = measure_spacing(stretches(path, measures=False))
        grids = spacing.grids(interval_s)
        with (workspace.output / "bars.bin").open("wb") as target:
            judge = Judge(grids, now_us, Parcels(target))
            judge.judge(
                stretches(path),
                lambda done: workspace.report(
                    0.4 + 0.6 * done / raw.rows, f"{done:,} of {raw.rows:,} rows checked"
                ),
            )
    bad = judge.faults.told()
    kept_count = sum(summary.bars for summary in judge.summaries.values())
    if not kept_count:
        (workspace.output / "bars.bin").unlink()
        reasons = "; ".join(f"{reason} ({count:,} rows)" for reason, count in judge.faults.ranked()[:3])
        raise InvalidInput("no_good_bars", f"The file has no usable bar: {reasons}.", **bad)
    gaps_per_coin = max(1, SHOWN_OF_ALL // len(judge.summaries))
    series: list[JsonValue] = [_series_json(c, s, gaps_per_coin) for c, s in judge.summaries.items() if s.bars]
    notes = [*raw.notes, *([_END_TIMES_NOTE] if any(grid.looks_like_ends for grid in grids.values()) else [])]
    format_: dict[str, Any] = {**raw.format, "notes": notes}
    return {
        "rows": raw.rows,
        "kept": kept_count,
        "bad": bad,
        "series": series,
        "format": format_,
        "columns": dict[str, JsonValue](raw.columns),
    }


def frame(
    workspace: CellWorkspace, coins: dict[str, str], interval_s: int, wanted_s: int
) -> dict[str, JsonValue]:
    """Write the input `bars` (records in order of series and time) as frame.parquet; see `bars/frame.py`."""
    by_number = {int(number): coin for number, coin in coins.items()}
    with _work_folder(workspace) as work, sql.connect(workspace, work, _MEMORY_BYTES) as connection:
        return write_frame(connection, workspace, by_number, interval_s, wanted_s)


def _series_json(coin: str, summary: Summary, max_gaps: int) -> dict[str, JsonValue]:
    summary_json = summary.kept()
    gaps: list[JsonValue] = [
        {"after": moment(after), "before": moment(before), "missing": missing}
        for after, before, missing in summary.gaps(max_gaps)
    ]
    return {
        "coin": coin,
        "interval": interval_name(summary.grid.interval_s),
        "interval_s": summary.grid.interval_s,
        "bars": summary.bars,
        "first_us": summary.first,
        "last_us": summary.last,
        "gaps": gaps,
        "summary": summary_json,
    }


@contextmanager
def _work_folder(workspace: CellWorkspace) -> Iterator[Path]:
    """A folder that is deleted afterwards."""
    work = workspace.output / ".work"
    work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
