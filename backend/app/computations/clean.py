"""Extend a frame's recipe with cleaning."""

from typing import Any

from app.computations.bench import Bench
from app.computations.frames import answer, read_preview, write_frame
from app.json_types import JsonValue
from app.modeling.analysis.cleaning import suggest_cleaning
from app.modeling.analysis.preview import extend_recipe


def clean_data(
    bench: Bench,
    problem: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    operations: list[dict[str, Any]] | None = None,
) -> JsonValue:
    """Input `frame`: the RAW training frame (`source` of a frame artifact). Leaves frame.parquet, a preview.

    Adds `operations`, or where there are none, what the data asks for. Answers `results.FrameFacts`.
    """
    frame, whole, rows = read_preview(bench, problem)
    added = suggest_cleaning(frame, whole) if operations is None else operations
    made, facts = extend_recipe(frame, whole, recipe or [], added)
    write_frame(bench, made, "frame.parquet")
    return answer({**facts, "of": rows})
