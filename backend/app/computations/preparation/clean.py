"""Extension of a frame's recipe with cleaning operations."""

from typing import Any

from app.computations.cell_files.frames import read_preview, to_json_facts, write_frame
from app.computations.cell_files.workspace import CellWorkspace
from app.json_types import JsonValue
from app.modeling.analysis.cleaning import suggest_cleaning
from app.modeling.analysis.recipe_effects import extend_recipe


def clean_data(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    operations: list[dict[str, Any]] | None = None,
) -> JsonValue:
    """Add cleaning operations to a recipe; return `computation_facts.FrameFacts`.

    Input `frame`: the RAW training frame (`source` of a frame artifact). Adds `operations`, or suggested ones
    if None. Leaves frame.parquet, a preview.
    """
    frame, parsed_problem, rows = read_preview(workspace, problem)
    added = suggest_cleaning(frame, parsed_problem) if operations is None else operations
    transformed, facts = extend_recipe(frame, parsed_problem, recipe or [], added)
    write_frame(workspace, transformed, "frame.parquet")
    return to_json_facts({**facts, "of": rows})
