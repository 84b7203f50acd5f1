"""Differences that a change of a file would make, without making it."""

from dataclasses import dataclass
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.errors import NotFound, ToolRefused
from app.modeling.problem.name_resolution import resolve_name
from app.storage.blobs import BlobStore
from app.workspaces.file_paths import MAX_PATH_CHARS, normalize_path
from app.workspaces.reader import SnapshotReader
from app.workspaces.text_changes import describe_change, replace_text

MAX_TEXT_CHARS = 100_000
"""Characters of a text that a request brings, as the tools of files take them."""
MAX_READ_BYTES = 1_000_000
"""Bytes of a file whose difference is computed, as for the tools of files."""


class DiffRequest(BaseModel):
    """A change of a file of a worldline: `old` by `new`, or its whole `content`."""

    model_config = ConfigDict(extra="forbid")

    worldline_id: UUID
    name: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS)]
    old: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)] | None = None
    new: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] | None = None
    every: bool = Field(default=False, description="Replace `old` wherever it occurs.")
    content: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] | None = None

    @model_validator(mode="after")
    def _check_change(self) -> Self:
        if (self.old is None) != (self.new is None) or (self.old is None) == (self.content is None):
            raise ValueError("Give either `old` and `new`, or `content`.")
        return self


class DiffView(BaseModel):
    """A unified diff. `applies`: the change can be made; otherwise `reason` says why not."""

    name: str
    diff: str = ""
    added: int = Field(default=0, description="Lines that are new.")
    removed: int = Field(default=0, description="Lines that are no more.")
    left_out: int = Field(default=0, description="Characters of the diff beyond those that are shown.")
    applies: bool
    reason: str | None = None


@dataclass(frozen=True)
class FileDiffs:
    """Computes differences in the workspaces of one owner."""

    snapshots: SnapshotReader
    blobs: BlobStore

    async def describe(self, request: DiffRequest) -> DiffView:
        """Raises NotFound for a worldline of another owner."""
        worldline = await self.snapshots.get_worldline(request.worldline_id)
        try:
            path = normalize_path(request.name)
            before, after = await self._read_both(worldline.head_id, path, request)
        # The rules are those of the agents' tools, which refuse in this way.
        except ToolRefused as refused:
            return DiffView(name=request.name, applies=False, reason=str(refused))
        change = describe_change(path, before, after)
        return DiffView(
            name=path,
            diff=change.text,
            added=change.added,
            removed=change.removed,
            left_out=change.left_out,
            applies=True,
        )

    async def _read_both(self, head: UUID | None, path: str, request: DiffRequest) -> tuple[str, str]:
        """Return the text of a file now and after the change."""
        files = (await self.snapshots.read(head)).files
        if request.content is not None and path not in files:
            return "", request.content
        entry = files[resolve_name(path, files, "file")]
        if entry.size_bytes > MAX_READ_BYTES:
            raise ToolRefused(f"{path} has {entry.size_bytes:,} bytes, more than are compared.")
        try:
            before = b"".join([piece async for piece in self.blobs.open(entry.digest)]).decode()
        except (UnicodeDecodeError, NotFound):
            raise ToolRefused(f"{path} is not a text file.") from None
        if request.old is None or request.new is None:
            return before, request.content or ""
        return before, replace_text(path, before, request.old, request.new, request.every)
