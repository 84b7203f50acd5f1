"""Answers of statements, and the changes of the workspace that they made, as artifacts of their call."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.computations.table_changes.change import describe_copy
from app.counts import describe_count, describe_size
from app.json_types import JsonValue
from app.modeling.facts.conversion import parse_facts
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import QueryRows, json_object
from app.tools.data.frames import make_artifact
from app.tools.queries.kept_variables import ProgramState, keep_variables, list_changed_frames
from app.workspaces.conversation import ConversationTables
from app.workspaces.snapshot import SNAPSHOT_KIND, SNAPSHOT_NAME, Entry, Snapshot, TableEntry, ViewEntry

TABLE = "table"
"""Name of the artifact that holds all rows of an answer."""


@dataclass(frozen=True)
class WorkspaceFacts:
    """All tables and views after some statements, as `conversation_sql` describes them."""

    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    views: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class StatementFacts:
    """Facts of `conversation_sql.run`. `workspace`: None if nothing was changed."""

    workspace: WorkspaceFacts | None = None
    changes: Sequence[Mapping[str, Any]] = ()


async def record_statements(
    ctx: ToolContext, tables: ConversationTables, computed: ComputationResult, sql: str
) -> CallResult:
    """Return the rows of the last SELECT and the changes of tables, with the artifacts of both."""
    facts = json_object(computed)
    statements = parse_facts(StatementFacts, facts)
    described: dict[str, JsonValue] = {name: part for name, part in facts.items() if name != "workspace"}
    value: dict[str, JsonValue] = {
        "columns": [],
        "rows": [],
        "row_count": 0,
        "truncated": False,
        **described,
        "sql": sql,
    }
    sentences = [str(change["text"]) for change in statements.changes]
    artifacts: list[ArtifactDraft] = []
    if "columns" in facts:
        rows = parse_facts(QueryRows, facts)
        file = computed.file("result.parquet")
        meta = {"rows": rows.row_count, "columns": rows.columns, "source": {"sql": sql}}
        artifacts.append(make_artifact(file, "table", TABLE, meta))
        value["digest"] = file.digest
        sentences.append(f"{describe_size(rows.row_count, len(rows.columns))}.")
    if statements.workspace is not None:
        artifacts += await _snapshot_artifacts(ctx, tables.snapshot, statements.workspace, computed)
    return CallResult(value, " ".join(sentences), artifacts)


async def record_program(
    ctx: ToolContext, tables: ConversationTables, program: ProgramState, limits: Limits
) -> tuple[list[JsonValue], list[ArtifactDraft]]:
    """Return the changes of tables that a program made, and the artifacts of its workspace.

    Frames that it kept must become tables, those of its variables need not.
    """
    frames = program.frames
    variables = list_changed_frames(program.saved, program.computed)
    new: dict[str, TableEntry] = {}
    drafts: list[ArtifactDraft] = []
    if variables or frames:
        # Files of a program may be hostile: they are read in a cell that is isolated as the program was.
        optional: list[JsonValue] = [name for name in variables if name not in frames]
        work = Computation("queries.conversation_sql.describe_tables", {"optional": optional}, trusted=False)
        described = await ctx.computer.run(work, {**variables, **frames}, limits)
        facts = parse_facts(StatementFacts, json_object(described))
        new, drafts = _read_tables(facts.workspace or WorkspaceFacts(), described)
    snapshot, files = keep_variables(tables.snapshot, program, new)
    # Without a change no snapshot is stored, and the turn leaves the workspace of the one before.
    if snapshot == tables.snapshot:
        return [], []
    changes: list[JsonValue] = [_describe_frame(tables, name, entry) for name, entry in new.items()]
    return changes, [*drafts, *files, await save_snapshot(ctx, snapshot)]


async def record_table(
    ctx: ToolContext, tables: ConversationTables, described: ComputationResult
) -> tuple[list[JsonValue], list[ArtifactDraft]]:
    """Return the changes and artifacts of tables that `conversation_sql.describe_tables` has read."""
    facts = parse_facts(StatementFacts, json_object(described))
    new, drafts = _read_tables(facts.workspace or WorkspaceFacts(), described)
    changes: list[JsonValue] = [_describe_frame(tables, name, entry) for name, entry in new.items()]
    names: dict[str, Entry] = {**tables.snapshot.names, **new}
    return changes, [*drafts, await save_snapshot(ctx, tables.snapshot.with_names(names))]


def _describe_frame(tables: ConversationTables, name: str, entry: TableEntry) -> JsonValue:
    former = tables.snapshot.find(name)
    verb = "Replaced" if former else "Created"
    rows = describe_count(entry.rows, "row")
    is_copy = former is None and any(dataset.table == name for dataset in tables.datasets)
    note = describe_copy(name) if is_copy else ""
    text = f"{verb} the table {name}: {rows}. {note}".strip()
    return {"kind": verb.lower(), "name": name, "rows": entry.rows, "text": text, "note": note}


def _read_tables(
    workspace: WorkspaceFacts, computed: ComputationResult
) -> tuple[dict[str, TableEntry], list[ArtifactDraft]]:
    """Read the new tables of a computation, each with the artifact of its rows."""
    entries: dict[str, TableEntry] = {}
    drafts: list[ArtifactDraft] = []
    for name, facts in workspace.tables.items():
        # An unchanged table: its entry is the former one, under a new name perhaps.
        if "input" in facts:
            continue
        file = computed.file(str(facts["file"]))
        entries[name] = TableEntry(
            digest=file.digest, size_bytes=file.size_bytes, rows=facts["rows"], columns=facts["columns"]
        )
        meta = {"rows": facts["rows"], "columns": facts["columns"], "profile": facts["profile"]}
        drafts.append(make_artifact(file, "frame", name, meta))
    return entries, drafts


async def _snapshot_artifacts(
    ctx: ToolContext, former: Snapshot, workspace: WorkspaceFacts, computed: ComputationResult
) -> list[ArtifactDraft]:
    new, drafts = _read_tables(workspace, computed)
    names: dict[str, Entry] = {
        name: former.names[str(facts["input"])] if "input" in facts else new[name]
        for name, facts in workspace.tables.items()
    }
    for name, facts in workspace.views.items():
        names[name] = ViewEntry.model_validate(facts) if "columns" in facts else _former_view(former, facts)
    return [*drafts, await save_snapshot(ctx, former.with_names(names))]


def _former_view(former: Snapshot, facts: Mapping[str, Any]) -> ViewEntry:
    """Find a view that stays, perhaps under another name, by its SELECT."""
    return next(view for view in former.views.values() if view.sql == facts["sql"])


async def save_snapshot(ctx: ToolContext, snapshot: Snapshot) -> ArtifactDraft:
    """Store a snapshot; it is the workspace from this call on."""
    content = snapshot.to_json()
    # Sorted, so that equal workspaces are one stored file.
    blob = await ctx.frames.put(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
    return ArtifactDraft(
        SNAPSHOT_KIND, SNAPSHOT_NAME, "application/json", blob.digest, blob.size_bytes, content
    )
