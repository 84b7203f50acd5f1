"""The interface of a session's workspace: named frames and files that tools write and later tools open.

A frame is an artifact of kind `frame`; the newest of a name is used. The locked hold-out has a kind of its own
and cannot be opened here. Frames from before the lock are hidden: they contain its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from app.storage.blobs import Blob


@dataclass(frozen=True)
class FrameRef:
    """A frame. `meta`: rows, columns (`[{"name", "type"}]`) and the recipe that makes it, if any."""

    name: str
    digest: str
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class FileRef:
    """A file written by a program or an agent, with a name and no path."""

    name: str
    digest: str
    size_bytes: int


class Workspace(Protocol):
    async def frame(self, name: str) -> FrameRef:
        """Find a frame. Raises ToolRefused with the nearest names when there is none."""
        ...

    async def frames(self) -> list[FrameRef]: ...

    async def artifact(self, kind: str, name: str) -> FrameRef:
        """Find another artifact of the session (a model, a split). Raises ToolRefused when there is none."""
        ...

    async def artifacts(self, kind: str) -> list[FrameRef]:
        """List artifacts of a kind, the newest of each name, in the order in which the names first occur."""
        ...

    async def files(self) -> list[FileRef]:
        """List the newest file of each name; files from before the lock are hidden, like frames."""
        ...

    async def file(self, name: str) -> FileRef:
        """Find a file. Raises ToolRefused with the nearest names when there is none."""
        ...

    async def read(self, file: FileRef) -> bytes: ...

    async def put(self, data: bytes) -> Blob:
        """Store bytes; the artifact's row is written with the journal's call."""
        ...

    async def is_split(self) -> bool:
        """Check whether the hold-out is locked; from then on only training rows are visible."""
        ...
