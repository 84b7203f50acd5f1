"""Price bars: conversion of any table to Postgres records, and of records to a frame."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.computations.bars.binary_batches import BatchWriter
from app.computations.bars.coin_runs import read_runs
from app.computations.bars.faults import format_time
from app.computations.bars.frame import write_frame
from app.computations.bars.grid import measure_spacing
from app.computations.bars.interval import interval_name, interval_seconds
from app.computations.bars.raw_bars import SourceOptions, read_raw, sort_rows
from app.computations.bars.summary import MAX_TOTAL_GAPS, SeriesSummary
from app.computations.bars.validation import BarValidator
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads import sql
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
    """Convert the input `upload` to bars.bin, which may be a pipe, in the format of `bars/binary_format.py`.

    Returns `{"rows", "kept", "bad", "series", "format", "columns"}`: `bad` as `Faults.to_json`; a series is one
    coin with its interval, bars, first and last time, gaps (the longest are listed) and summary, in the order
    of bars.bin. Bars that end after `now_s` (seconds since 1970) are unfinished and left out. Raises
    InvalidInput for a file that is no table of bars.
    """
    interval_s = interval_seconds(interval) if interval else None
    now_us = int((time.time() if now_s is None else now_s) * _US)
    with _work_folder(workspace) as work, sql.connect(workspace, work, _MEMORY_BYTES) as connection:
        workspace.report(0.02, "Reading the file")
        raw = read_raw(connection, workspace, filename, expanded_bytes, SourceOptions(coin, time_zone))
        workspace.report(0.25, f"Examining {raw.rows:,} rows")
        # Coins and times show the spacing; the prices, most of the bytes, are not read for it.
        path, spacing = raw.path, measure_spacing(read_runs(raw.path, measures=False))
        if not spacing.ordered:
            workspace.report(0.3, "Sorting the rows")
            path = sort_rows(connection, raw.path)
            spacing = measure_spacing(read_runs(path, measures=False))
        # The interval first: a bar is judged by whether it begins on the grid of its coin.
        grids = spacing.infer_grids(interval_s)
        with (workspace.output / "bars.bin").open("wb") as target:
            validator = BarValidator(grids, now_us, BatchWriter(target))
            validator.validate(
                read_runs(path),
                lambda done: workspace.report(
                    0.4 + 0.6 * done / raw.rows, f"{done:,} of {raw.rows:,} rows checked"
                ),
            )
    bad = validator.faults.to_json()
    kept_count = sum(summary.bars for summary in validator.summaries.values())
    if not kept_count:
        (workspace.output / "bars.bin").unlink()
        reasons = "; ".join(f"{reason} ({count:,} rows)" for reason, count in validator.faults.ranked()[:3])
        raise InvalidInput("no_good_bars", f"The file has no usable bar: {reasons}.", **bad)
    # The facts of thousands of coins must stay small, so each lists fewer gaps.
    gaps_per_coin = max(1, MAX_TOTAL_GAPS // len(validator.summaries))
    series: list[JsonValue] = [
        _series_json(c, s, gaps_per_coin) for c, s in validator.summaries.items() if s.bars
    ]
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


def _series_json(coin: str, summary: SeriesSummary, max_gaps: int) -> dict[str, JsonValue]:
    summary_json = summary.to_json()
    gaps: list[JsonValue] = [
        {"after": format_time(after), "before": format_time(before), "missing": missing}
        for after, before, missing in summary.list_gaps(max_gaps)
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
