"""Variables of programs of a conversation: those that a program gets, and those that its snapshot keeps."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from app.errors import ToolRefused
from app.json_types import JsonValue
from app.sandbox.computation_runner import ComputationFailed, ComputationResult
from app.sandbox.exchange.program_variables import (
    MAX_VARIABLES,
    PART,
    STATE_FILE,
    ProgramVariables,
    find_reachable,
)
from app.sessions.step_scope import ArtifactDraft
from app.tools.data.frames import make_artifact
from app.workspaces.file_paths import normalize_path, require_free
from app.workspaces.snapshot import MAX_FILES, VARIABLES_KIND, FileEntry, Snapshot, TableEntry, VariableEntry


def _check_name(name: str) -> str:
    """Refuse names that a program cannot write: the guards of the policy begin with an underscore."""
    if not name.isidentifier() or name.startswith("_"):
        raise ValueError("this is no name of a variable")
    return name


Name = Annotated[str, Field(max_length=200), AfterValidator(_check_name)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Part = Annotated[str, Field(pattern=f"^{PART.pattern}$")]


class KeptVariable(BaseModel):
    """A variable as `ProgramMemory.save` describes it. `table`: the file that SQL reads of a frame."""

    model_config = ConfigDict(extra="forbid")

    type: Annotated[str, Field(max_length=200)]
    text: Annotated[str, Field(max_length=200)]
    group: Digest | None = None
    parts: Sequence[Part] = ()
    source: Annotated[str, Field(max_length=10_000)] | None = None
    frame: Annotated[str, Field(max_length=200)] | None = None
    table: Annotated[str, Field(max_length=250)] | None = None
    no_table: Annotated[str, Field(max_length=200)] | None = None


class KeptVariables(BaseModel):
    """The variables after a program. `not_kept`: the reason for each name that later programs do not have."""

    model_config = ConfigDict(extra="forbid")

    names: Annotated[dict[Name, KeptVariable], Field(max_length=MAX_VARIABLES)]
    not_kept: dict[Name, Annotated[str, Field(max_length=1_000)]]

    def list_files(self) -> set[str]:
        """Return the files that hold variables: they are no output of the program."""
        parts = {part for entry in self.names.values() for part in entry.parts}
        tables = {entry.table for entry in self.names.values() if entry.table}
        return {STATE_FILE, *parts, *tables}


@dataclass(frozen=True)
class ReachedVariables:
    """The variables of a snapshot that a program can reach."""

    names: set[str]
    request: ProgramVariables
    files: dict[str, str]


@dataclass(frozen=True)
class ProgramState:
    """The variables before and after a program, its kept `frames` by digest, and its files."""

    reachable: ReachedVariables
    saved: KeptVariables
    computed: ComputationResult
    frames: Mapping[str, str]
    files: Mapping[str, FileEntry]


def find_reached(snapshot: Snapshot, code: str) -> ReachedVariables:
    """Select the variables that a program can reach, with the files that hold them, `{name: digest}`."""
    entries = snapshot.variables
    sources = {name: entry.source for name, entry in entries.items() if entry.source is not None}
    names = find_reachable(code, {name: entry.group for name, entry in entries.items()}, sources)
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        if (group := entries[name].group) is not None:
            groups.setdefault(group, []).append(name)
    # Groups that the program does not load stay as they are; the cell has to know their names to keep them.
    others = {entry.group for name, entry in entries.items() if name not in names and entry.group is not None}
    definitions = sorted((name for name in names if name in sources), key=lambda name: entries[name].order)
    request = ProgramVariables(
        seed=_make_seed(snapshot, code),
        groups=groups,
        kept_groups=sorted(others),
        definitions=[*dict.fromkeys(sources[name] for name in definitions)],
        frames={name: frame for name in names if (frame := entries[name].frame) is not None},
        other_names=len(entries) - len(names),
    )
    parts = {part for name in names for part in entries[name].parts}
    files = {part: match[1] for part in parts if (match := PART.fullmatch(part))}
    return ReachedVariables(
        names=names, request=request, files=files | ({STATE_FILE: snapshot.state} if snapshot.state else {})
    )


def _make_seed(snapshot: Snapshot, code: str) -> int:
    """Make the seed of a program from its workspace and its code: a branch draws what a straight run draws."""
    digest = hashlib.sha256(f"{snapshot.model_dump_json()}\0{code}".encode())
    # 32 bits, the most that numpy's seed takes.
    return int.from_bytes(digest.digest()[:4])


def keep_variables(
    former: Snapshot, program: ProgramState, tables: Mapping[str, TableEntry]
) -> tuple[Snapshot, list[ArtifactDraft]]:
    """Return the snapshot after a program, and the files of its variables.

    `tables`: what SQL sees new and changed frames as. A frame that is no more takes its table with it.
    """
    reachable, saved, computed = program.reachable, program.saved, program.computed
    _check_left(program)
    # Only variables that the program could reach: others are absent because they were not loaded.
    dropped = {former.variables[name].table: name for name in reachable.names - saved.names.keys()}
    names = {
        name: entry
        for name, entry in former.names.items()
        if not (isinstance(entry, TableEntry) and dropped.get(entry.digest) == name)
    }
    snapshot = former.model_copy(update={"names": names}).with_tables(tables).with_files(program.files)
    variables = {name: entry for name, entry in former.variables.items() if name not in reachable.names}
    next_order = 1 + max((entry.order for entry in former.variables.values()), default=0)
    for place, (name, described) in enumerate(saved.names.items()):
        before = former.variables.get(name)
        is_same = before is not None and before.source == described.source
        table = tables[name].digest if name in tables else None
        if table is None and before is not None and described.frame == before.frame:
            table = before.table
        variables[name] = VariableEntry(
            **described.model_dump(exclude={"table", "no_table"}),
            # Definitions run in the order in which they were written, and an unchanged one keeps its place.
            order=before.order if before and is_same else next_order + place,
            table=table,
        )
    stored = {file.name: file for file in computed.files}
    # Unchanged parts are stored already, under the digest in their name.
    parts = sorted({part for entry in saved.names.values() for part in entry.parts} & stored.keys())
    state = stored.get(STATE_FILE)
    snapshot = snapshot.model_copy(
        update={"variables": variables, "state": state.digest if state else former.state}
    )
    files = [stored[part] for part in parts] + ([state] if state else [])
    return snapshot, [make_artifact(file, VARIABLES_KIND, file.name) for file in files]


def _check_left(program: ProgramState) -> None:
    """Raise ComputationFailed for what only a program that reached its cell's descriptors can leave.

    That is a part that the program neither had nor left under its digest, which may be a file of another owner,
    or more variables than the cell admits.
    """
    digests = program.reachable.files | {file.name: file.digest for file in program.computed.files}
    parts = {part for entry in program.saved.names.values() for part in entry.parts}
    are_own = all(f"part-{digests.get(part)}" == part.partition(".")[0] for part in parts)
    if not are_own or len(program.saved.names) + program.reachable.request.other_names > MAX_VARIABLES:
        raise ComputationFailed(
            "computation_died", "The computation did not finish. It left no variables that can be read."
        )


def list_changed_frames(saved: KeptVariables, computed: ComputationResult) -> dict[str, str]:
    """Return the files of frames that SQL will see, `{name: digest}`, one of each spelling."""
    stored = {file.name: file.digest for file in computed.files}
    frames: dict[str, str] = {}
    spellings: set[str] = set()
    for name, entry in saved.names.items():
        # SQL ignores case: `Sales` and `sales` would be one table.
        if entry.table in stored and name.casefold() not in spellings:
            spellings.add(name.casefold())
            frames[name] = stored[entry.table]
    return frames


def without_variables(computed: ComputationResult, saved: KeptVariables) -> ComputationResult:
    """Return a result without the files that hold variables."""
    hidden = saved.list_files()
    return replace(computed, files=tuple(file for file in computed.files if file.name not in hidden))


def describe_kept(
    saved: KeptVariables, former: Snapshot, drafts: Sequence[ArtifactDraft], files: Mapping[str, FileEntry]
) -> dict[str, JsonValue]:
    """Describe what an answer leaves: variables that are new or changed, and what is not kept, with the reason.

    `drafts`: the files of the program; `files`: those of them that are kept.
    """
    changed: list[JsonValue] = [
        {"name": name, "type": entry.type, "text": entry.text}
        for name, entry in sorted(saved.names.items())
        if _has_changed(entry, former.variables.get(name))
    ]
    missing: list[JsonValue] = [{"name": name, "reason": why} for name, why in sorted(saved.not_kept.items())]
    why = f"a file beyond the {MAX_FILES} that a conversation keeps, or under a name that it does not take"
    digests = {file.digest for file in files.values()}
    missing += [{"name": draft.name, "reason": why} for draft in drafts if draft.digest not in digests]
    return {"variables": changed, "not_kept": missing}


def _has_changed(entry: KeptVariable, before: Any) -> bool:
    return before is None or (entry.group, entry.source) != (before.group, before.source)


def find_plain_names(files: Mapping[str, str]) -> dict[str, str]:
    """Select files that a program finds beside itself: those in no folder."""
    return {name: digest for name, digest in files.items() if "/" not in name}


def select_files(former: Snapshot, drafts: Sequence[ArtifactDraft]) -> dict[str, FileEntry]:
    """Select the files of a program that the conversation keeps: under plain names, up to the limit."""
    files: dict[str, FileEntry] = {}
    for draft in drafts:
        # What is not kept is told to the author by `describe_kept`.
        with suppress(ToolRefused):
            path = normalize_path(draft.name)
            if path not in former.files:
                require_free(path, former.files)
            if len({*former.files, *files, path}) <= MAX_FILES:
                files[path] = FileEntry(
                    digest=draft.digest, size_bytes=draft.size_bytes, media_type=draft.media_type
                )
    return files
