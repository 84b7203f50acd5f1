"""Extend a frame's recipe with features."""

from typing import Any

from app.computations.bench import Bench
from app.computations.frames import answer, read_preview, write_frame
from app.json_types import JsonValue
from app.modeling.analysis.preview import apply_recipe, extend_recipe
from app.modeling.analysis.suggested_features import suggest_features


def create_features(
    bench: Bench,
    problem: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    operations: list[dict[str, Any]] | None = None,
    lookback_periods: list[int] | None = None,
) -> JsonValue:
    """Input `frame`: the RAW training frame. Leaves frame.parquet, a preview; answers `results.FrameFacts`.

    Adds `operations`, or where there are none, what the data offers; `lookback_periods` (rows) asks for lags,
    changes and rolling statistics over these, which need a time column.
    """
    frame, whole, rows = read_preview(bench, problem)
    before = recipe or []
    added = operations
    if added is None:
        added = suggest_features(apply_recipe(frame, whole, before), whole, lookback_periods or [])
    made, facts = extend_recipe(frame, whole, before, added)
    write_frame(bench, made, "frame.parquet")
    return answer({**facts, "of": rows})


def technical_indicators(
    bench: Bench,
    problem: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    indicators: list[str] | None = None,
    close: str = "close",
    high: str | None = None,
    low: str | None = None,
    volume: str | None = None,
    opening: str | None = None,
    relative: bool = True,
) -> JsonValue:
    """Input `frame`: the RAW training frame. Answers `results.FrameFacts`.

    `indicators`: as `markets.indicators` names them; the columns they read are named by the others.
    """
    frame, whole, rows = read_preview(bench, problem)
    operation: dict[str, Any] = {"op": "indicators", "close": close, "relative": relative}
    if indicators:
        operation["names"] = indicators
    for key, value in (("open", opening), ("high", high), ("low", low), ("volume", volume)):
        if value:
            operation[key] = value
    made, facts = extend_recipe(frame, whole, recipe or [], [operation])
    write_frame(bench, made, "frame.parquet")
    return answer({**facts, "of": rows})
