"""The datasets that one session may see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID


@dataclass(frozen=True)
class DatasetRef:
    """`table` is its name in SQL, unique in the session; `columns` are `[{"name", "type", ...}]`."""

    id: UUID
    name: str
    table: str
    digest: str
    rows: int
    columns: Sequence[Mapping[str, Any]]
    profile: Mapping[str, Any]
    size_bytes: int = 0


class DatasetSource(Protocol):
    async def list(self) -> Sequence[DatasetRef]: ...

    async def get(self, name: str) -> DatasetRef:
        """By table name, name or id; raises ToolRefused, naming the nearest, when there is none."""
        ...
