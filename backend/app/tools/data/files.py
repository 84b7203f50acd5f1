"""Tools for text files in the workspace of a session."""

from typing import Annotated, Any

from pydantic import Field

from app.artifacts.file_names import MAX_NAME_CHARS, normalize_file_name
from app.artifacts.workspace import FileRef
from app.counts import describe_count
from app.errors import ToolRefused
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.approval import Preview
from app.tools.context.tool_context import ToolContext
from app.tools.registry import tool
from app.workspaces.text_changes import replace_text, unified_diff

WORKERS = ("data_analyst", "model_trainer", "reporter")

FileName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
Text = Annotated[str, Field(max_length=100_000)]

MAX_LINES = 400
"""Lines of one answer, limited to save an agent's context."""
MAX_READABLE_BYTES = 1_000_000
"""Bytes of a file that tools load; larger files are for programs."""


@tool(agents=WORKERS)
async def list_files(ctx: ToolContext) -> CallResult:
    """List the files of this session's workspace, by programs and by write_file."""
    files = [{"name": file.name, "bytes": file.size_bytes} for file in await ctx.frames.files()]
    return CallResult(value={"files": files}, summary=f"{describe_count(len(files), 'file')}.")  # type: ignore[dict-item]


@tool(agents=WORKERS)
async def read_file(
    ctx: ToolContext,
    name: FileName,
    first_line: Annotated[int, Field(ge=1)] = 1,
    lines: Annotated[int, Field(ge=1, le=MAX_LINES)] = MAX_LINES,
) -> CallResult:
    """Read a text file of the workspace, `lines` of it from `first_line` on."""
    return select_lines(name, await _read_text(ctx, name), first_line, lines)


@tool(agents=WORKERS)
async def write_file(ctx: ToolContext, name: FileName, text: Text) -> CallResult:
    """Write a new text file into the workspace. To change an existing one, call edit_file."""
    file_name = normalize_file_name(name)
    # Writing over it would go around the approval of edit_file.
    if any(file.name == file_name for file in await ctx.frames.files()):
        raise ToolRefused(f"The file {file_name!r} exists. Change it by edit_file, or choose another name.")
    return CallResult(
        value={"name": file_name, "bytes": len(text.encode())},
        summary=f"{file_name} is written.",
        artifacts=[await _store_text(ctx, file_name, text)],
    )


async def _preview_edit(ctx: ToolContext, name: str, old: str, new: str, every: bool = False) -> Preview:
    before = await _read_text(ctx, name)
    after = replace_text(name, before, old, new, every)
    risk = f"{name} is changed for the rest of this session."
    return Preview(unified_diff(name, before, after), risk, f"edit {name}")


@tool(agents=WORKERS, preview=_preview_edit)
async def edit_file(
    ctx: ToolContext,
    name: FileName,
    old: Annotated[Text, Field(min_length=1)],
    new: Text,
    every: bool = False,
) -> CallResult:
    """Replace `old` by `new` in a text file of the workspace; `old` must occur exactly once, unless `every`.

    The user sees the change and approves it first, unless they allowed it for this session.
    """
    before = await _read_text(ctx, name)
    after = replace_text(name, before, old, new, every)
    return CallResult(
        value={"name": name, "replaced": before.count(old) if every else 1},
        summary=f"{name} is changed.",
        artifacts=[await _store_text(ctx, name, after)],
    )


async def _find_file(ctx: ToolContext, name: str) -> FileRef:
    return await ctx.frames.file(normalize_file_name(name))


async def _read_text(ctx: ToolContext, name: str) -> str:
    return await decode_text(ctx, await _find_file(ctx, name))


async def decode_text(ctx: ToolContext, file: FileRef) -> str:
    """Read a text file. Raises ToolRefused for a large one, and for one that is no text."""
    if file.size_bytes > MAX_READABLE_BYTES:
        raise ToolRefused(f"{file.name} has {file.size_bytes:,} bytes. Read it in a program instead.")
    try:
        return (await ctx.frames.read(file)).decode("utf-8")
    except UnicodeDecodeError:
        raise ToolRefused(f"{file.name} is not a text file. Open it in a program instead.") from None


def select_lines(name: str, text: str, first_line: int, lines: int) -> CallResult:
    """Return `lines` lines of a text from `first_line` on."""
    all_lines = text.splitlines(keepends=True)
    selected = all_lines[first_line - 1 : first_line - 1 + lines]
    value: dict[str, Any] = {
        "name": name,
        "lines": len(all_lines),
        "first_line": first_line,
        "text": "".join(selected),
    }
    return CallResult(
        value=value, summary=f"{len(selected):,} of {describe_count(len(all_lines), 'line')} of {name}."
    )


async def _store_text(ctx: ToolContext, name: str, text: str) -> ArtifactDraft:
    blob = await ctx.frames.put(text.encode())
    return ArtifactDraft("text", name, "text/plain; charset=utf-8", blob.digest, blob.size_bytes)
