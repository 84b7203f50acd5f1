"""Tools for text files of a conversation, which its branches, later turns and programs find."""

from typing import Annotated, Any

from pydantic import Field

from app.artifacts.workspace import FileRef
from app.counts import describe_count
from app.errors import ToolRefused
from app.modeling.problem.name_resolution import resolve_name
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.approval import Preview
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.workspace_changes import save_snapshot
from app.tools.data.files import MAX_LINES, Text, decode_text, select_lines
from app.tools.registry import tool
from app.workspaces.file_paths import MAX_PATH_CHARS, normalize_path, require_free
from app.workspaces.snapshot import MAX_FILES, FileEntry, Snapshot
from app.workspaces.text_changes import replace_text, unified_diff

ASSISTANT = ("assistant",)
FilePath = Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS)]


@tool(agents=ASSISTANT, name="list_files")
async def list_chat_files(ctx: ToolContext) -> CallResult:
    """List the files of the conversation, by programs and by write_file."""
    files = (await ctx.conversation.read_snapshot()).files
    described: list[Any] = [{"name": name, "bytes": entry.size_bytes} for name, entry in sorted(files.items())]
    return CallResult(value={"files": described}, summary=f"{describe_count(len(described), 'file')}.")


@tool(agents=ASSISTANT, name="read_file")
async def read_chat_file(
    ctx: ToolContext,
    name: FilePath,
    first_line: Annotated[int, Field(ge=1)] = 1,
    lines: Annotated[int, Field(ge=1, le=MAX_LINES)] = MAX_LINES,
) -> CallResult:
    """Read a text file of the conversation, `lines` of it from `first_line` on."""
    path, text = await _read_text(ctx, await ctx.conversation.read_snapshot(), name)
    return select_lines(path, text, first_line, lines)


@tool(agents=ASSISTANT, name="write_file")
async def write_chat_file(ctx: ToolContext, name: FilePath, text: Text) -> CallResult:
    """Write a new text file of the conversation; its name may have folders. To change one, call edit_file."""
    path = normalize_path(name)
    snapshot = await ctx.conversation.read_snapshot()
    # An existing file is changed by edit_file only, which the user approves.
    require_free(path, snapshot.files)
    if len(snapshot.files) >= MAX_FILES:
        raise ToolRefused(f"The conversation has {MAX_FILES} files, and keeps no more.")
    artifacts = await _store(ctx, snapshot, path, text)
    value: dict[str, Any] = {"name": path, "bytes": len(text.encode())}
    return CallResult(value=value, summary=f"{path} is written.", artifacts=artifacts)


async def _preview_edit(ctx: ToolContext, name: str, old: str, new: str, every: bool = False) -> Preview:
    path, before = await _read_text(ctx, await ctx.conversation.read_snapshot(), name)
    after = replace_text(path, before, old, new, every)
    return Preview(
        unified_diff(path, before, after), f"{path} is changed from this message on.", f"edit {path}"
    )


@tool(agents=ASSISTANT, preview=_preview_edit, name="edit_file")
async def edit_chat_file(
    ctx: ToolContext,
    name: FilePath,
    old: Annotated[Text, Field(min_length=1)],
    new: Text,
    every: bool = False,
) -> CallResult:
    """Replace `old` by `new` in a text file of the conversation; `old` must occur once, unless `every`.

    The user sees the change and approves it first.
    """
    snapshot = await ctx.conversation.read_snapshot()
    path, before = await _read_text(ctx, snapshot, name)
    # Done anew instead of taken from the preview: the user may have changed the arguments.
    after = replace_text(path, before, old, new, every)
    value: dict[str, Any] = {"name": path, "replaced": before.count(old) if every else 1}
    artifacts = await _store(ctx, snapshot, path, after)
    return CallResult(value=value, summary=f"{path} is changed.", artifacts=artifacts)


async def _read_text(ctx: ToolContext, snapshot: Snapshot, name: str) -> tuple[str, str]:
    """Return the path of a file as it is spelled, and its text. Raises ToolRefused with the nearest names."""
    path = resolve_name(normalize_path(name), snapshot.files, "file")
    entry = snapshot.files[path]
    return path, await decode_text(ctx, FileRef(path, entry.digest, entry.size_bytes))


async def _store(ctx: ToolContext, snapshot: Snapshot, path: str, text: str) -> list[ArtifactDraft]:
    blob = await ctx.frames.put(text.encode())
    media_type = "text/plain; charset=utf-8"
    entry = FileEntry(digest=blob.digest, size_bytes=blob.size_bytes, media_type=media_type)
    draft = ArtifactDraft("text", path.rpartition("/")[2], media_type, blob.digest, blob.size_bytes)
    return [draft, await save_snapshot(ctx, snapshot.with_files({path: entry}))]
