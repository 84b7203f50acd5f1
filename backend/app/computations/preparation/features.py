"""Extension of a frame's recipe with features."""

from typing import Any

from app.computations.cell_files.frames import read_preview, to_json_facts, write_frame
from app.computations.cell_files.workspace import CellWorkspace
from app.json_types import JsonValue
from app.modeling.analysis.elapsed_time import suggest_elapsed_time
from app.modeling.analysis.recipe_effects import apply_recipe, extend_recipe
from app.modeling.analysis.suggested_features import suggest_features


def create_features(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    operations: list[dict[str, Any]] | None = None,
    lookback_periods: list[int] | None = None,
) -> JsonValue:
    """Add features to a recipe; leaves frame.parquet, a preview; returns `computation_facts.FrameFacts`.

    Input `frame`: the RAW training frame. Adds `operations`, or suggested ones if None; `lookback_periods`
    (rows) adds lags, changes and rolling statistics over these, which need a time column.
    """
    frame, parsed_problem, rows = read_preview(workspace, problem)
    before = recipe or []
    added = operations
    if added is None:
        # From the frame after its recipe, where a cleaned column may be a number or a date by now.
        added = suggest_features(
            apply_recipe(frame, parsed_problem, before), parsed_problem, lookback_periods or []
        )
        added = [*added, *suggest_elapsed_time(frame, parsed_problem, threads=workspace.threads)]
    extended, facts = extend_recipe(frame, parsed_problem, before, added)
    write_frame(workspace, extended, "frame.parquet")
    return to_json_facts({**facts, "of": rows})


def technical_indicators(
    workspace: CellWorkspace,
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
    """Add technical indicators to a recipe; returns `computation_facts.FrameFacts`.

    Input `frame`: the RAW training frame. `indicators`: names of `recipe.indicators`; the other arguments name
    the columns that they read.
    """
    frame, parsed_problem, rows = read_preview(workspace, problem)
    operation: dict[str, Any] = {"op": "indicators", "close": close, "relative": relative}
    if indicators:
        operation["names"] = indicators
    for key, value in (("open", opening), ("high", high), ("low", low), ("volume", volume)):
        if value:
            operation[key] = value
    extended, facts = extend_recipe(frame, parsed_problem, recipe or [], [operation])
    write_frame(workspace, extended, "frame.parquet")
    return to_json_facts({**facts, "of": rows})
