"""The datasets of a session: their references and the source that lists them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from app.modeling.facts.readings import PLAIN_READING, FileReading


@dataclass(frozen=True)
class DatasetRef:
    """A dataset. `table`: its name in SQL, unique in the session. `columns`: `[{"name", "type", ...}]`.

    `notes`: sentences on what was repaired and left out when the file was read, with the numbers of rows.
    """

    id: UUID
    name: str
    table: str
    digest: str
    rows: int
    columns: Sequence[Mapping[str, Any]]
    profile: Mapping[str, Any]
    size_bytes: int = 0
    reading: FileReading = PLAIN_READING
    notes: Sequence[str] = ()


class DatasetSource(Protocol):
    async def list(self) -> Sequence[DatasetRef]: ...

    async def get(self, name: str) -> DatasetRef:
        """Find a dataset by table name, name or id. Raises ToolRefused with the nearest names."""
        ...
