"""Tools of the assistant, who answers messages of a conversation: SQL, query plans and programs."""

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from app.datasets.dataset_source import DatasetRef
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.plans.compiler import compile_plan
from app.plans.plan import Plan
from app.plans.plan_document import PlanDocument
from app.plans.row_counts import make_counting_plans
from app.plans.schema import read_table_schema
from app.sandbox.computation_runner import ComputationFailed, ComputationResult
from app.sandbox.exchange.contract import SINGLE_FRAME, Computation, Limits, QueryMode
from app.sandbox.exchange.program_variables import RESULT_FILE
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.interactive_limits import INTERACTIVE_LIMITS
from app.tools.conversations.workspace_changes import record_program, record_statements
from app.tools.data.sql_tables import find_named_ids
from app.tools.queries.kept_variables import (
    KeptVariables,
    ProgramState,
    describe_kept,
    find_plain_names,
    find_reached,
    select_files,
    without_variables,
)
from app.tools.queries.program_execution import (
    MAX_STDOUT_CHARS,
    Source,
    is_mentioned,
    output_artifacts,
    refuse_with_output,
    run_code,
    success_report,
)
from app.tools.registry import tool
from app.workspaces.conversation import ConversationTables, TableList

ASSISTANT = ("assistant",)
EXECUTIONS = ("execute_sql", "execute_query_plan", "execute_python", "make_chart", "execute_pipeline")
"""Tools whose answers carry the result of a turn; the last successful one counts."""
_QUERY_MEMORY_BYTES = 256 << 20
"""Memory of a query, half of its cell's: larger work spills to disk."""

Readings = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=500)]],
    Field(description="Interpretations of ambiguous words of the message, a sentence each.", max_length=20),
]


@tool(agents=ASSISTANT, name="execute_sql")
async def execute_chat_sql(ctx: ToolContext, sql: Source, readings: Readings = []) -> CallResult:  # noqa: B006 - never changed
    """Run SQL (DuckDB) over the tables of the conversation. The first rows of its last SELECT come back.

    CREATE [OR REPLACE] TABLE or VIEW ... AS, INSERT, UPDATE, DELETE, ALTER TABLE and DROP change tables of the
    conversation, all statements or none; a dataset that is changed becomes a copy, and stays as `dataset.name`.
    Give each column a readable alias. The user sees the rows as a table: do not repeat them in words.
    """
    return await run_chat_sql(ctx, sql)


@tool(agents=ASSISTANT, name="execute_query_plan")
async def execute_chat_plan(ctx: ToolContext, plan: PlanDocument, readings: Readings = []) -> CallResult:  # noqa: B006 - see above
    """Run one query plan over the tables of the conversation; it is compiled to a SELECT."""
    return await run_chat_plan(ctx, plan)


@tool(agents=ASSISTANT, name="execute_python")
async def execute_chat_program(ctx: ToolContext, code: Source) -> CallResult:
    """Run a Python program in which each table of the conversation that it names is a DataFrame by its name.

    pandas, numpy, scipy, sklearn, statsmodels, talib, matplotlib, seaborn and openpyxl are at hand. Set
    `result` to what you want to read, or end with an expression; draw figures or write files to show them. What
    it assigns is there in the next program, also of later messages, and its frames are tables of the
    conversation; `not_kept` says what is not.
    """
    try:
        return await run_chat_program(ctx, code)
    except (ComputationFailed, InvalidInput) as failed:
        raise refuse_with_output(failed) from failed


async def run_chat_sql(ctx: ToolContext, sql: str, limits: Limits = INTERACTIVE_LIMITS) -> CallResult:
    """Run statements over the tables of the conversation, all of them or none.

    Raises LabError that names what is not admitted or does not exist.
    """
    tables = await ctx.conversation.tables_without_profiles()
    return await record_statements(ctx, tables, await compute_sql(ctx, tables, sql, limits), sql)


async def run_chat_plan(ctx: ToolContext, plan: Plan, limits: Limits = INTERACTIVE_LIMITS) -> CallResult:
    """Raises LabError with the place in the plan that does not fit the tables."""
    tables = await ctx.conversation.tables()
    schemas = {ref.table: read_table_schema(ref.columns) for ref in tables.list_refs()}
    sql = compile_plan(plan, schemas).sql
    # Counted with the answer in one cell, so that both are of the same rows.
    used, total = (compile_plan(counting, schemas).sql for counting in make_counting_plans(plan))
    computed = await compute_sql(ctx, tables, sql, limits, [used, total], query_mode="plan")
    return await record_statements(ctx, tables, computed, sql)


async def run_chat_program(ctx: ToolContext, code: str, limits: Limits = INTERACTIVE_LIMITS) -> CallResult:
    """Run a program over the tables that it names and the variables of programs before it.

    Its variables are kept, and its frames become tables of the conversation. Raises ComputationFailed with the
    output of a program that failed.
    """
    tables = await ctx.conversation.tables()
    reachable = find_reached(tables.snapshot, code)
    refs = [await with_rows(ctx, tables, ref, limits) for ref in _select_tables(tables, reachable.names, code)]
    # Only files that the code names: each is copied into the cell. A name that is computed is not found.
    files = {name: entry.digest for name, entry in tables.snapshot.files.items() if name in code}
    # Parts of variables last: no file of the user may take the name of one.
    inputs = replace(reachable, files=find_plain_names(files) | reachable.files)
    computed = await run_code(replace(ctx, datasets=TableList(refs)), "python", code, limits, inputs)
    report = success_report(computed)
    saved = KeptVariables.model_validate(report["variables"])
    value: dict[str, JsonValue] = {
        "result": report.get("result"),
        "frames": sorted(report.get("frames", {})),
        "stdout": computed.stdout[-MAX_STDOUT_CHARS:],
        "stderr": computed.stderr[-MAX_STDOUT_CHARS:],
    }
    outputs = output_artifacts(without_variables(computed, saved))
    drafts = [draft for draft in outputs if draft.kind != "frame"]
    frames = {draft.name: draft.digest for draft in outputs if draft.kind == "frame"}
    # Figures and the result are shown with the answer; other files stay in the conversation.
    of_answer = {*report.get("figures", ()), RESULT_FILE}
    texts = [draft for draft in drafts if draft.name not in of_answer]
    kept_files = select_files(tables.snapshot, texts)
    value |= describe_kept(saved, tables.snapshot, texts, kept_files)
    program = ProgramState(reachable, saved, computed, frames, kept_files)
    changes, artifacts = await record_program(ctx, tables, program, limits)
    if changes:
        value["changes"] = changes
    return CallResult(value, _describe_program(computed, drafts), [*drafts, *artifacts])


def _select_tables(tables: ConversationTables, variables: Container[str], code: str) -> list[DatasetRef]:
    """Select the tables that a program names; the only one may be named `df`."""
    refs = tables.list_refs()
    # A variable `df` of an earlier program goes before the only table, which may be called so, too.
    if len(refs) == 1 and SINGLE_FRAME not in variables and is_mentioned(code, SINGLE_FRAME):
        return refs
    return [ref for ref in refs if ref.table not in variables and is_mentioned(code, ref.table)]


async def compute_sql(
    ctx: ToolContext,
    tables: ConversationTables,
    sql: str,
    limits: Limits,
    counts: Sequence[JsonValue] = (),
    rows: int | None = None,
    query_mode: QueryMode | None = "sql",
) -> ComputationResult:
    """Run statements over the tables of a conversation. `rows`: those of the last SELECT in the facts.

    `query_mode`: None where nobody asked for the query.
    """
    params: dict[str, JsonValue] = {
        "sql": sql,
        "views": {**tables.view_queries()},
        "memory_bytes": _QUERY_MEMORY_BYTES,
        **find_named_ids(tables.datasets, sql, *tables.view_queries().values()),
    }
    if counts:
        params["counts"] = [*counts]
    if rows is not None:
        params["rows"] = rows
    return await ctx.computer.run(
        Computation("queries.conversation_sql.run", params, query_mode=query_mode), tables.cell_inputs(), limits
    )


async def with_rows(
    ctx: ToolContext, tables: ConversationTables, ref: DatasetRef, limits: Limits
) -> DatasetRef:
    """Return a table whose rows are a file: those of a view are computed."""
    if ref.digest:
        return ref
    sql = f'SELECT * FROM "{ref.table}"'  # noqa: S608 - a checked name
    computed = await compute_sql(ctx, tables, sql, limits, query_mode=None)
    return replace(ref, digest=computed.file("result.parquet").digest)


def _describe_program(computed: ComputationResult, outputs: Sequence[ArtifactDraft]) -> str:
    files = ", ".join(draft.name for draft in outputs)
    return f"The program ran for {computed.usage.wall_s:.1f} s" + (f" and saved {files}." if files else ".")
