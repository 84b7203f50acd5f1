"""Frames and files of computations as artifacts that later calls open by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from app.errors import ToolRefused
from app.json_types import JsonValue
from app.sandbox.computer import ComputationResult
from app.sandbox.storing import StoredFile
from app.sessions.step_scope import ArtifactDraft
from app.tools.context import ToolContext

RETRIEVED = "data"
TRAIN = "train"


@dataclass(frozen=True)
class TrainingFrame:
    """A frame to train on: digest of the raw training rows, recipe of the features, and column names."""

    digest: str
    recipe: list[Any]
    columns: list[str]


async def find_training_frame(ctx: ToolContext, frame: str) -> TrainingFrame:
    """Find a frame to train on. Raises ToolRefused if it does not exist or has no recipe."""
    ref = await ctx.frames.frame(frame)
    recipe = ref.meta.get("recipe")
    if recipe is None:
        raise ToolRefused(
            f"The frame {frame!r} has no recipe for its features, so nothing can be trained on it."
        )
    raw = ref if frame == TRAIN else await ctx.frames.frame(TRAIN)
    return TrainingFrame(raw.digest, list(recipe), [column["name"] for column in ref.meta.get("columns", ())])


def make_artifact(
    file: StoredFile, kind: str, name: str, meta: Mapping[str, Any] | None = None
) -> ArtifactDraft:
    return ArtifactDraft(kind, name, file.media_type, file.digest, file.size_bytes, dict(meta or {}))


def figure_artifacts(computed: ComputationResult, titles: Iterable[Mapping[str, str]]) -> list[ArtifactDraft]:
    """Return the figures of a computation in every format, with the titles of its facts."""
    title_of = {PurePath(entry["file"]).stem: entry["title"] for entry in titles}
    return [
        make_artifact(file, "figure", file.name, {"title": title_of[PurePath(file.name).stem]})
        for file in computed.files
        if PurePath(file.name).stem in title_of
    ]


def frame_artifact(computed: ComputationResult, name: str, facts: Mapping[str, JsonValue]) -> ArtifactDraft:
    """Return the artifact of a prepared frame: a preview of the rows that its recipe makes.

    Raises ToolRefused for the names of the raw frames.
    """
    if name in (TRAIN, RETRIEVED):
        raise ToolRefused(f"{name!r} holds the raw rows: give the new frame another name.")
    meta = {"rows": facts["rows"], "columns": facts["columns"], "recipe": facts["recipe"], "source": TRAIN}
    return make_artifact(computed.file("frame.parquet"), "frame", name, meta)
