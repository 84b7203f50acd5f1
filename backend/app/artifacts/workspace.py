"""A session's named frames and files: what a tool made, a later tool opens by name.

A frame is an artifact of kind `frame`; the newest of a name is the one that counts. The locked hold-out has a
kind of its own and cannot be opened here. Once it is locked, frames from before do not count any more: they
hold its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from app.storage.blobs import Blob


@dataclass(frozen=True)
class FrameRef:
    """`meta` carries rows, columns (`[{"name", "type"}]`) and, where it has one, the recipe that makes it."""

    name: str
    digest: str
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class FileRef:
    """A file that a program or an agent left; it has a name, and no path."""

    name: str
    digest: str
    size_bytes: int


class Workspace(Protocol):
    async def frame(self, name: str) -> FrameRef:
        """Raises ToolRefused, naming the nearest names, when there is none."""
        ...

    async def frames(self) -> list[FrameRef]: ...

    async def artifact(self, kind: str, name: str) -> FrameRef:
        """Any other artifact of the session (a model, a split); ToolRefused when there is none."""
        ...

    async def artifacts(self, kind: str) -> list[FrameRef]:
        """All of a kind, the newest of each name, in the order in which the names first came."""
        ...

    async def files(self) -> list[FileRef]:
        """The newest of each name; those from before the hold-out was locked do not count, like frames."""
        ...

    async def file(self, name: str) -> FileRef:
        """Raises ToolRefused, naming the nearest names, when there is none."""
        ...

    async def read(self, file: FileRef) -> bytes: ...

    async def put(self, data: bytes) -> Blob:
        """Store bytes; the artifact that names them is written with the call."""
        ...

    async def is_split(self) -> bool:
        """Is the hold-out locked away? From then on only training rows may be seen."""
        ...
