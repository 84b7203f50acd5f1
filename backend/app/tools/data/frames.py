"""Frames and files of computations as artifacts that later calls open by name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from app.errors import ToolRefused
from app.modeling.facts.computation_facts import RecipeJson
from app.modeling.facts.conversion import parse_facts
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.outputs.storage import StoredFile
from app.sessions.step_scope import ArtifactDraft
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import ColumnName, FigureTitle, RecipeFrame

RETRIEVED = "data"
TRAIN = "train"


@dataclass(frozen=True)
class TrainingFrame:
    """A frame to train on: digest of the raw training rows, recipe of the features, and column names."""

    digest: str
    recipe: RecipeJson
    columns: list[str]


@dataclass(frozen=True)
class FrameMeta:
    """The meta data of a frame's artifact; frames that were not made from the training rows have no recipe."""

    recipe: RecipeJson | None = None
    columns: Sequence[ColumnName] = ()


async def find_training_frame(ctx: ToolContext, frame: str) -> TrainingFrame:
    """Find a frame to train on. Raises ToolRefused if it does not exist or has no recipe."""
    ref = await ctx.frames.frame(frame)
    meta = parse_facts(FrameMeta, ref.meta)
    if meta.recipe is None:
        raise ToolRefused(
            f"The frame {frame!r} has no recipe for its features, so nothing can be trained on it."
        )
    # Models learn from raw rows and the recipe, which is fitted in each fold; the frame itself is a preview.
    raw = ref if frame == TRAIN else await ctx.frames.frame(TRAIN)
    return TrainingFrame(raw.digest, meta.recipe, [column.name for column in meta.columns])


def check_allowed_columns(ctx: ToolContext, names: Iterable[str]) -> None:
    """Raise ToolRefused for columns that features must not be made of: the target and what is left out."""
    problem = ctx.training.problem
    if problem.target in names and problem.horizon is None:  # with a horizon, its past values are known
        raise ToolRefused(f"Features must not be made of the target {problem.target!r}: it would leak.")
    forbidden = [name for name in dict.fromkeys(names) if name in problem.exclude]
    if forbidden:
        columns = ", ".join(map(repr, forbidden))
        raise ToolRefused(
            f"Features must not be made of {columns}: left out of this study, by the user or because it gives "
            "the target away.",
            kind="refused_by_policy",
            field="columns",
        )


def make_artifact(
    file: StoredFile, kind: str, name: str, meta: Mapping[str, Any] | None = None
) -> ArtifactDraft:
    return ArtifactDraft(kind, name, file.media_type, file.digest, file.size_bytes, dict(meta or {}))


def figure_artifacts(computed: ComputationResult, titles: Iterable[FigureTitle]) -> list[ArtifactDraft]:
    """Return the figures of a computation in every format, with the titles of its facts."""
    # By the stem: a figure has a file for each format, and the facts name the first.
    title_of = {PurePath(figure.file).stem: figure.title for figure in titles}
    return [
        make_artifact(file, "figure", file.name, {"title": title_of[PurePath(file.name).stem]})
        for file in computed.files
        if PurePath(file.name).stem in title_of
    ]


def frame_artifact(computed: ComputationResult, name: str) -> ArtifactDraft:
    """Return the artifact of a prepared frame: a preview of the rows that its recipe makes.

    Raises ToolRefused for the names of the raw frames.
    """
    if name in (TRAIN, RETRIEVED):
        raise ToolRefused(f"{name!r} holds the raw rows: give the new frame another name.")
    frame = parse_facts(RecipeFrame, computed.value)
    meta = {"rows": frame.rows, "columns": frame.columns, "recipe": frame.recipe, "source": TRAIN}
    return make_artifact(computed.file("frame.parquet"), "frame", name, meta)
