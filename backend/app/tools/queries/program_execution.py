"""Programs and queries: their inputs, their output artifacts and their outcome."""

import re
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.errors import InvalidInput, LabError, ToolRefused
from app.json_types import JsonValue
from app.sandbox.computation_runner import ComputationFailed, ComputationResult
from app.sandbox.exchange.answer_limits import MAX_PREVIEW_ROWS
from app.sandbox.exchange.contract import SINGLE_FRAME, Code, Computation, Limits, Usage
from app.sandbox.outputs.storage import StoredFile
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.frames import make_artifact
from app.tools.data.sql_tables import find_named_ids, list_queryable_tables
from app.tools.queries.kept_variables import KeptVariables, ReachedVariables
from app.tools.registry import tool

Language = Literal["python", "sql"]
Source = Annotated[str, Field(min_length=1, max_length=20_000)]

MAX_STDOUT_CHARS = 4_000
"""Last characters of stdout that an agent sees: about a thousand tokens of its context."""

ARTIFACT_KINDS = {
    "image": "figure",
    "text/csv": "table",
    "application/vnd.apache.parquet": "table",
    "application/pdf": "pdf",
    "text": "text",
    "application/json": "text",
}
"""Media type, or its first half -> kind of artifact; anything else is `other`."""


@tool(agents=("data_analyst", "model_trainer", "model_evaluator"))
async def run_python(ctx: ToolContext, code: Source) -> CallResult:
    """Run a Python program over the session's frames, each a DataFrame under its name.

    pandas, numpy, scipy, sklearn, xgboost, statsmodels, talib, matplotlib, seaborn and openpyxl are at hand;
    lightgbm is not. Text columns have pandas' dtype `str`. Set `result` to what you want to read, or end with
    an expression; put a frame into `keep["name"]` to keep it, draw figures or write files to save them.
    Files of the workspace that it names can be opened by their names; there is no other file, and no network.
    A kept frame has no recipe: it can be read, not trained on.
    """
    try:
        computed = await run_code(ctx, "python", code)
    except (ComputationFailed, InvalidInput) as failed:
        raise refuse_with_output(failed) from failed
    value = {**_facts(computed), "stdout": computed.stdout[-MAX_STDOUT_CHARS:]}
    return CallResult(value=value, summary=_summary(computed), artifacts=output_artifacts(computed))


def refuse_with_output(failed: LabError) -> ToolRefused:
    """Make the refusal of a call whose program failed, with the end of what it had printed."""
    stdout = str(failed.facts.get("stdout", ""))[-MAX_STDOUT_CHARS:]
    return ToolRefused(f"{failed.detail}\n{stdout}".strip())


async def run_code(
    ctx: ToolContext,
    language: Language,
    code: str,
    limits: Limits | None = None,
    variables: ReachedVariables | None = None,
) -> ComputationResult:
    """Run code over the tables that are visible now; a program gets those whose names occur in it.

    A single table may also be named `df`. `variables`: those of its conversation, which come before tables.
    Raises LabError when it is refused, ComputationFailed when it fails, Unavailable without isolation.
    """
    tables = await list_queryable_tables(ctx.datasets, ctx.frames)
    if language == "sql":
        schemas = find_named_ids(await ctx.datasets.list(), code)
        params: dict[str, JsonValue] = {"sql": code, "rows": MAX_PREVIEW_ROWS, **schemas}
        work = Computation("queries.query.run_sql", params, query_mode="sql")
        return await ctx.computer.run(work, tables, limits)
    is_single = len(tables) == 1 and is_mentioned(code, SINGLE_FRAME)
    files = {
        f"{name}.parquet": digest for name, digest in tables.items() if is_single or is_mentioned(code, name)
    }
    # Only what is named is copied into the cell: a conversation may have gigabytes of tables.
    files |= {file.name: file.digest for file in await ctx.frames.files() if file.name in code}
    if variables is not None:
        files |= variables.files
    computed = await ctx.computer.run(Code(code, variables.request if variables else None), files, limits)
    answer = _RememberedValue if variables else _ProgramValue
    return replace(computed, value=_program_value(computed.value, answer))


class _KeptFrame(BaseModel):
    """A frame that a program kept, as `sandbox.program` describes it."""

    model_config = ConfigDict(extra="forbid")

    file: str
    rows: int = Field(ge=0)
    columns: list[str]


class _ProgramValue(BaseModel):
    """A program's answer: `result` is any JSON, `figures` are names of files."""

    model_config = ConfigDict(extra="forbid")

    result: Any = None
    frames: dict[Annotated[str, Field(pattern=r"^\w{1,200}$")], _KeptFrame] = {}
    figures: list[str] = []


class _RememberedValue(_ProgramValue):
    variables: KeptVariables


def _program_value(value: JsonValue, answer: type[_ProgramValue]) -> JsonValue:
    """The answer as our own code writes it: a program that reached its cell's descriptors can write another."""
    try:
        return answer.model_validate(value).model_dump()
    except ValidationError as error:
        raise ComputationFailed(
            "computation_died", "The computation did not finish. Its answer is none that a program gives."
        ) from error


def output_artifacts(computed: ComputationResult) -> list[ArtifactDraft]:
    """Return the artifacts of a run: kept frames by name, other files by media type."""
    frames = _frame_outputs(computed)
    return [
        make_artifact(file, "frame", *frames[file.name])
        if file.name in frames
        else make_artifact(file, artifact_kind(file), file.name)
        for file in computed.files
    ]


def success_report(computed: ComputationResult) -> dict[str, Any]:
    """Return the outcome of a successful run as JSON."""
    return {
        "end": "returned",
        **_facts(computed),
        "stdout": computed.stdout,
        "stderr": computed.stderr,
        "usage": asdict(computed.usage),
    }


def failure_report(error: LabError, usage: Usage | None) -> dict[str, Any]:
    """Return the outcome of a failed run as JSON, with its output up to then. `usage`: None if no cell ran."""
    return {
        "end": error.code.removeprefix("computation_"),
        "detail": error.detail,
        "stdout": str(error.facts.get("stdout", "")),
        "stderr": str(error.facts.get("stderr", "")),
        **({"usage": asdict(usage)} if usage else {}),
    }


def artifact_kind(file: StoredFile) -> str:
    # The whole type first: CSV is a table, though its first half is `text`.
    return ARTIFACT_KINDS.get(file.media_type) or ARTIFACT_KINDS.get(file.media_type.split("/")[0]) or "other"


def _facts(computed: ComputationResult) -> dict[str, Any]:
    """`result`, `frames` and `figures` of a program; `columns`, `rows` and their count of a query."""
    return dict(computed.value) if isinstance(computed.value, dict) else {"result": computed.value}


def _frame_outputs(computed: ComputationResult) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the files that are frames: `{file: (name, meta)}`."""
    facts = _facts(computed)
    # A query has one table; a program any number.
    if "row_count" in facts:
        return {"result.parquet": ("result", {"rows": facts["row_count"], "columns": facts["columns"]})}
    return {
        frame["file"]: (name, {"rows": frame["rows"], "columns": [{"name": c} for c in frame["columns"]]})
        for name, frame in facts.get("frames", {}).items()
    }


def _summary(computed: ComputationResult) -> str:
    saved = ", ".join(file.name for file in computed.files)
    return f"The program ran for {computed.usage.wall_s:.1f} s" + (f" and saved {saved}." if saved else ".")


def is_mentioned(code: str, table: str) -> bool:
    """Test if a program names a table."""
    # In any case, and in comments and strings too: a table too many only takes time, one too few is an error.
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(table)}(?![A-Za-z0-9_])", code, re.IGNORECASE) is not None
