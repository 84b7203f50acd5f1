"""A session's named frames: what a tool made, a later tool opens by name.

A frame is an artifact of kind `frame`; the newest of a name is the one that counts. The locked hold-out has a
kind of its own and cannot be opened here. Once it is locked, frames from before do not count any more: they
hold its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class FrameRef:
    """`meta` carries rows, columns (`[{"name", "type"}]`) and, where it has one, the recipe that makes it."""

    name: str
    digest: str
    meta: Mapping[str, Any]


class Workspace(Protocol):
    async def frame(self, name: str) -> FrameRef:
        """Raises ToolRefused, naming the nearest names, when there is none."""
        ...

    async def frames(self) -> list[FrameRef]: ...

    async def artifact(self, kind: str, name: str) -> FrameRef:
        """Any other artifact of the session (a model, a split); ToolRefused when there is none."""
        ...

    async def is_split(self) -> bool:
        """Is the hold-out locked away? From then on only training rows may be seen."""
        ...
