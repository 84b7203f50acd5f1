"""Answers as files of a conversation, which its user downloads: CSV, Excel, JSON or Parquet."""

from pathlib import PurePosixPath
from typing import Any

from app.computations.queries.file_formats import ENDINGS
from app.counts import describe_count
from app.errors import ToolRefused
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.files import FilePath
from app.tools.conversations.interactive_limits import INTERACTIVE_LIMITS, SERVICE_LIMITS
from app.tools.conversations.queries import ASSISTANT, compute_sql
from app.tools.conversations.workspace_changes import save_snapshot
from app.tools.data.computed_facts import json_object
from app.tools.data.frames import make_artifact
from app.tools.queries.program_execution import Source, artifact_kind
from app.tools.registry import tool
from app.workspaces.file_paths import normalize_path, require_free
from app.workspaces.snapshot import MAX_FILES, FileEntry


@tool(agents=ASSISTANT)
async def save_table(ctx: ToolContext, sql: Source, name: FilePath) -> CallResult:
    """Save all rows of a SELECT over the tables of the conversation as a new file, which the user can download.

    The ending of `name` says its format: .csv, .tsv, .xlsx, .json or .parquet.
    """
    path = normalize_path(name)
    ending = PurePosixPath(path).suffix.casefold()
    if ending not in ENDINGS:
        raise ToolRefused(f"The name of the file must end with one of {', '.join(ENDINGS)}.")
    tables = await ctx.conversation.tables()
    require_free(path, tables.snapshot.files)
    if len(tables.snapshot.files) >= MAX_FILES:
        raise ToolRefused(f"The conversation has {MAX_FILES} files, and keeps no more.")
    answer = await compute_sql(ctx, tables, sql, INTERACTIVE_LIMITS)
    facts = json_object(answer)
    # A change would be lost here: only its rows are looked at.
    if "columns" not in facts or "workspace" in facts:
        raise ToolRefused("Only the rows of a SELECT can be saved. Change tables by execute_sql first.")
    rows = answer.file("result.parquet").digest
    work = Computation("queries.table_file.write", {"name": f"rows{ending}"})
    computed = await ctx.computer.run(work, {"rows": rows}, SERVICE_LIMITS)
    file = computed.file(f"rows{ending}")
    entry = FileEntry(digest=file.digest, size_bytes=file.size_bytes, media_type=file.media_type)
    draft = make_artifact(file, artifact_kind(file), path.rpartition("/")[2])
    count = int(str(json_object(computed)["rows"]))
    value: dict[str, Any] = {"name": path, "bytes": file.size_bytes, "rows": count}
    snapshot = tables.snapshot.with_files({path: entry})
    summary = f"{path} has {describe_count(count, 'row')}."
    return CallResult(value, summary, [draft, await save_snapshot(ctx, snapshot)])
