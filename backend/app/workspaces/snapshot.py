"""A snapshot: every name of a workspace with its kind, digest and schema. Pure.

The whole map is kept with each turn that changed it, so that no snapshot needs the one before, and a branch
copies no rows.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from app.json_types import JsonValue

SNAPSHOT_KIND = "workspace"
"""Kind of the artifact that holds a snapshot."""
VARIABLES_KIND = "variables"
"""Kind of the artifacts that hold values of variables; only later programs of the conversation read them."""
WORKSPACE_KINDS = frozenset((SNAPSHOT_KIND, VARIABLES_KIND))
"""Kinds of artifacts that are the memory of a conversation, and no files for its user."""
MAX_FILES = 200
"""Files of a conversation: each is a row of every snapshot."""
SNAPSHOT_NAME = "workspace.json"
"""Name of that artifact. Tables have no dot in their names."""


class TableEntry(BaseModel):
    """A table: its rows are a Parquet file. The artifact `frame` of the turn that made it has its profile."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["table"] = "table"
    digest: str
    size_bytes: int
    rows: int
    columns: Sequence[Mapping[str, Any]]


class ViewEntry(BaseModel):
    """A view: its SELECT. `rows`, `columns` and `profile` are those of the time when it was created."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["view"] = "view"
    sql: str
    rows: int
    columns: Sequence[Mapping[str, Any]]
    profile: Mapping[str, Any] = {}


class VariableEntry(BaseModel):
    """A variable of programs: a member of a group of values, or a definition with its source.

    `parts`: files of its group. `frame`: fingerprint of a frame; `table`: digest of the table that SQL sees it
    as, None if it cannot be one. `order`: place of a definition among all.
    """

    model_config = ConfigDict(frozen=True)

    type: str
    text: str
    group: str | None = None
    parts: Sequence[str] = ()
    source: str | None = None
    order: int = 0
    frame: str | None = None
    table: str | None = None


class FileEntry(BaseModel):
    """A file that a program or the assistant wrote."""

    model_config = ConfigDict(frozen=True)

    digest: str
    size_bytes: int
    media_type: str


Entry = Annotated[TableEntry | ViewEntry, Field(discriminator="kind")]


class Snapshot(BaseModel):
    """The names of a workspace after a turn."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    names: Mapping[str, Entry] = {}
    variables: Mapping[str, VariableEntry] = {}
    state: str | None = None
    """Digest of the file with the groups of variables."""
    files: Mapping[str, FileEntry] = {}

    @property
    def tables(self) -> dict[str, TableEntry]:
        return {name: entry for name, entry in self.names.items() if isinstance(entry, TableEntry)}

    @property
    def views(self) -> dict[str, ViewEntry]:
        return {name: entry for name, entry in self.names.items() if isinstance(entry, ViewEntry)}

    def find(self, name: str) -> str | None:
        """Find a name as it is spelled; case is ignored."""
        # SQL takes names that differ in case only for the same.
        return next((other for other in self.names if other.casefold() == name.casefold()), None)

    def with_tables(self, tables: Mapping[str, TableEntry]) -> Self:
        """Return a snapshot with new versions of tables. A name that differs in case only is replaced."""
        folded = {name.casefold() for name in tables}
        others = {name: entry for name, entry in self.names.items() if name.casefold() not in folded}
        return self.with_names(others | dict(tables))

    def with_files(self, files: Mapping[str, FileEntry]) -> Self:
        """Return a snapshot with new and changed files by path."""
        return self.model_copy(update={"files": {**self.files, **files}})

    def with_names(self, names: Mapping[str, Entry]) -> Self:
        """Return a snapshot with these tables and views. Frames of programs go with their tables."""
        snapshot = self.model_copy(update={"names": names})
        variables = {name: entry for name, entry in self.variables.items() if snapshot._is_current(name, entry)}
        return snapshot.model_copy(update={"variables": variables})

    def _is_current(self, name: str, variable: VariableEntry) -> bool:
        table = self.names.get(name)
        return variable.table is None or (isinstance(table, TableEntry) and table.digest == variable.table)

    def to_json(self) -> dict[str, JsonValue]:
        return self.model_dump(mode="json")
