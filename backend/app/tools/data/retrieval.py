"""Tools of data retrieval: list datasets, query and join them, and fetch the session's table."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from app.counts import describe_count, describe_size
from app.datasets.dataset_source import DatasetRef
from app.json_types import JsonValue
from app.modeling.facts.column_units import find_unit
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.readings import FileReading, merge_parsers
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.stage_limits import MEASUREMENT_SHARE, remaining_s, share_of
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import JoinDescriptions, QueryRows, SplitRows, json_object
from app.tools.data.frames import RETRIEVED, TRAIN, make_artifact
from app.tools.data.sql_tables import list_queryable_tables
from app.tools.registry import tool

RETRIEVAL = ("data_retrieval",)
READERS = ("planner", "data_retrieval", "assistant")
MAX_PREVIEW_ROWS = 20
"""Rows of a query that an agent sees, limited to save its context."""

DatasetName = Annotated[str, Field(description="A dataset's table name, name or id.", max_length=300)]


@tool(agents=READERS)
async def list_datasets(ctx: ToolContext) -> CallResult:
    """List the datasets of this session: table name, rows and column names."""
    datasets = await ctx.datasets.list()
    names = ", ".join(f"{dataset.table} ({describe_count(dataset.rows, 'row')})" for dataset in datasets)
    return CallResult(value=describe_datasets(datasets), summary=names or "The session has no dataset.")


def describe_datasets(datasets: Sequence[DatasetRef]) -> dict[str, JsonValue]:
    entries: list[JsonValue] = [
        {
            "table": dataset.table,
            "name": dataset.name,
            "rows": dataset.rows,
            "columns": [str(column["name"]) for column in dataset.columns],
        }
        for dataset in datasets
    ]
    return {"datasets": entries}


@tool(agents=READERS)
async def get_dataset_schema(ctx: ToolContext, dataset: DatasetName) -> CallResult:
    """Describe a dataset's columns: types, missing values, distinct values, ranges and examples."""
    ref = await ctx.datasets.get(dataset)
    schema = describe_schema(ref)
    return CallResult(value=schema, summary=f"{ref.table}: {describe_size(ref.rows, len(ref.columns))}.")


def describe_schema(ref: DatasetRef) -> dict[str, JsonValue]:
    columns: list[JsonValue] = [
        _with_unit(column, ref.reading) for column in ref.profile.get("columns") or ref.columns
    ]
    return {"table": ref.table, "rows": ref.rows, "columns": columns}


def _with_unit(column: Mapping[str, JsonValue], reading: FileReading) -> dict[str, JsonValue]:
    """Return a column's description with its unit, if it is a number that has one."""
    unit = find_unit(str(column["name"]), reading)
    # A text column called `price_eur` has no amounts; one whose cells are read as numbers has.
    is_amount = column.get("type") in ("integer", "number") or reading.find(str(column["name"]))
    return {**column, "unit": unit.text} if unit and is_amount else dict(column)


@tool(agents=RETRIEVAL)
async def fetch_dataset(ctx: ToolContext, dataset: DatasetName) -> CallResult:
    """Take a whole dataset as the session's table."""
    ref = await ctx.datasets.get(dataset)
    columns: list[JsonValue] = [dict(column) for column in ref.columns]
    meta = {"rows": ref.rows, "columns": columns, "source": {"dataset": str(ref.id)}}
    media_type = "application/vnd.apache.parquet"
    return CallResult(
        value={"frame": RETRIEVED, "rows": ref.rows, "columns": columns},
        summary=f"{ref.table}: {describe_size(ref.rows, len(columns))}.",
        # By its digest: the bytes of the dataset are stored already, and are not copied.
        artifacts=[ArtifactDraft("frame", RETRIEVED, media_type, ref.digest, ref.size_bytes, meta)],
    )


@tool(agents=RETRIEVAL)
async def execute_sql(
    ctx: ToolContext,
    sql: Annotated[str, Field(min_length=1, max_length=20_000)],
    keep: Annotated[bool, Field(description="Keep the result as the session's table.")] = False,
) -> CallResult:
    """Run one SELECT (DuckDB) over the session's tables; the first rows come back."""
    tables = await list_queryable_tables(ctx.datasets, ctx.frames)
    computed = await ctx.computer.run(
        Computation("queries.query.run_sql", {"sql": sql, "rows": MAX_PREVIEW_ROWS}, query_mode="sql"), tables
    )
    query = parse_facts(QueryRows, computed.value)
    meta = {"rows": query.row_count, "columns": query.columns, "source": {"sql": sql}}
    artifacts = [make_artifact(computed.file("result.parquet"), "frame", RETRIEVED, meta)] if keep else []
    return CallResult(
        value={**json_object(computed), "frame": RETRIEVED if keep else None},
        summary=f"{describe_size(query.row_count, len(query.columns))}.",
        artifacts=artifacts,
    )


@tool(agents=RETRIEVAL)
async def relate_tables(
    ctx: ToolContext,
    base: DatasetName,
    target: Annotated[str, Field(description="The column to predict, in `base`.", max_length=300)],
    tables: Annotated[list[DatasetName], Field(min_length=1, max_length=20)],
) -> CallResult:
    """Find joins between tables, by names and values of keys, and the SELECT that joins them.

    Each row of `base` remains one row: tables with several rows per key are aggregated. Tables that cannot be
    joined are listed with the reason.
    """
    base_ref = await ctx.datasets.get(base)
    refs = [base_ref, *[await ctx.datasets.get(table) for table in tables]]
    computation = Computation("join_discovery.relate_tables.relate", {"base": base_ref.table, "target": target})
    computed = await ctx.computer.run(computation, {ref.table: ref.digest for ref in refs})
    joins = parse_facts(JoinDescriptions, computed.value).joins
    sentences = [join.text for join in joins] or ["No table is joined."]
    return CallResult(value=computed.value, summary=" ".join(sentences))


@tool(agents=())
async def lock_holdout(
    ctx: ToolContext,
    problem: dict[str, Any],
    assumptions: list[dict[str, Any]] | None = None,
    joined: list[dict[str, Any]] | None = None,
    construction: list[str] | None = None,
    row_noun: str | None = None,
) -> CallResult:
    """Split the session's table once, before any analysis, into training rows and a locked hold-out.

    `assumptions`: those of the first call, with the sides that the user chose. `joined`: tables that were
    joined in, with their columns. `construction`: how the table was made of rows of the datasets, in sentences.
    `row_noun`: plural word for its rows.
    """
    table = await ctx.frames.frame(RETRIEVED)
    datasets = await ctx.datasets.list()
    # Of all datasets: the table may be joined of several, whose columns keep their names.
    readings = merge_parsers([dataset.reading for dataset in datasets])
    params: dict[str, Any] = {"problem": problem, "seed": ctx.session.seed, "readings": readings}
    params |= {"measure_s": share_of(await remaining_s(ctx), MEASUREMENT_SHARE)}
    params |= {"assumptions": assumptions} if assumptions is not None else {}
    params |= {"joined": joined} if joined else {}
    params |= {"construction": construction} if construction else {}
    params |= {"row_noun": row_noun} if row_noun else {}
    computed = await ctx.computer.run(
        Computation("preparation.split.split_table", params), {"table": table.digest}
    )
    split = parse_facts(SplitRows, computed.value)
    # An empty recipe, not none: the raw rows can be trained on as they are.
    train = {"rows": split.train_rows, "columns": split.columns, "recipe": [], "source": TRAIN}
    training = describe_count(split.train_rows, "training row")
    return CallResult(
        value=computed.value,
        summary=f"{training}, {split.holdout_rows:,} locked ({split.kind}).",
        artifacts=[
            make_artifact(computed.file("train.parquet"), "frame", TRAIN, train),
            make_artifact(computed.file("holdout.parquet"), "holdout", "holdout", {"rows": split.holdout_rows}),
        ],
    )
