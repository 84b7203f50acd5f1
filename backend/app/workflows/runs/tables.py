"""Nodes that compute tables: query plans, SQL, programs and the figures of conditions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.artifacts.workspace import FrameRef
from app.counts import describe_count
from app.errors import InvalidInput, LabError
from app.plans.compiler import compile_plan
from app.plans.plan import Aggregation, DatasetSource, GroupStep, JoinStep, Plan, PlanSource, UnionStep
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Code, Computation
from app.sessions.step_scope import CallResult
from app.tools.data.frames import make_artifact
from app.workflows.document import Node, find_ancestors, nodes_by_id
from app.workflows.fusion import make_plans, name_table
from app.workflows.node_configs import FigureCondition, Payload, RunPython, RunSql
from app.workflows.runs.context import RunContext
from app.workflows.runs.schemas import NodeResult
from app.workflows.stages import find_table_node

MAX_PREVIEW_ROWS = 20
"""Rows of a node's table in the status of a run; all of them are in the stored table."""
_FIGURE = "figure"
_NO_ROWS = "The answer had no rows, so its columns are not known, and neither are those of this table."
_ANSWERS = ("http_request", "payload")
"""Types whose columns are those of the records that came."""


class TableFacts(BaseModel):
    """The answer of a computation that wrote result.parquet."""

    model_config = ConfigDict(extra="ignore")

    columns: list[dict[str, Any]]
    rows: list[list[Any]]
    row_count: int


class _KeptFrames(BaseModel):
    """The frames that a program kept, by name."""

    model_config = ConfigDict(extra="ignore")

    frames: dict[str, dict[str, Any]] = {}


async def run_query(ctx: RunContext, node: Node) -> CallResult:
    """Compute the query of a node with all nodes before it, up to tables that are stored."""
    computed = await _compute(ctx, await _find_plan(ctx, node.id))
    facts = TableFacts.model_validate(computed.value)
    is_unknown = facts.row_count == 0 and await find_unknown_table(ctx, await _find_plan(ctx, node.id))
    return store_table(node, computed, [_NO_ROWS] if is_unknown else [])


async def store_records(ctx: RunContext, node: Node, records: Any, pointer: str = "") -> CallResult:
    """Make a table of JSON. `pointer`: to the list of records in it (RFC 6901)."""
    blob = await ctx.services.frames.put(json.dumps(records).encode())
    work = Computation("queries.records.read", {"pointer": pointer, "rows": MAX_PREVIEW_ROWS})
    return store_table(node, await ctx.services.computer.run(work, {"answer": blob.digest}))


async def read_payload(ctx: RunContext, node: Node, config: Payload) -> CallResult:
    """Make a table of what a webhook brought. Raises InvalidInput in a run that brought nothing."""
    payload = ctx.preferences.payload
    if payload is None:
        raise InvalidInput(
            "payload_missing", f"{node.id}: this run has no payload. A webhook brings one, or `payload`."
        )
    return await store_records(ctx, node, payload, config.records)


async def run_sql(ctx: RunContext, node: Node, config: RunSql) -> CallResult:
    """Run a SELECT over the tables of the node's inputs, each named by its node."""
    work = Computation("queries.query.run_sql", {"sql": config.sql, "rows": MAX_PREVIEW_ROWS}, query_mode="sql")
    return store_table(node, await ctx.services.computer.run(work, await _input_digests(ctx, node)))


async def run_python(ctx: RunContext, node: Node, config: RunPython) -> CallResult:
    """Run a program over the tables of the node's inputs; its table is the frame that it kept, the
    last of several."""
    # Ids of nodes may have hyphens, names of variables may not.
    inputs = {
        f"{name.replace('-', '_')}.parquet": digest
        for name, digest in (await _input_digests(ctx, node)).items()
    }
    computed = await ctx.services.computer.run(Code(config.code), inputs)
    frames = _KeptFrames.model_validate(computed.value if isinstance(computed.value, dict) else {}).frames
    if not frames:
        return CallResult(NodeResult(status="done").model_dump(mode="json"), "The program kept no table.")
    frame = frames[next(reversed(frames))]
    described = Computation("queries.query.run_sql", {"sql": "SELECT * FROM kept", "rows": MAX_PREVIEW_ROWS})
    digest = computed.file(str(frame["file"])).digest
    return store_table(node, await ctx.services.computer.run(described, {"kept": digest}))


async def measure(ctx: RunContext, node: Node, condition: FigureCondition) -> float | None:
    """Compute the figure of a condition over its input."""
    plan = await _find_plan(ctx, node.id)
    if await find_unknown_table(ctx, plan) is not None:
        return 0 if condition.function == "count" else None
    figure = Aggregation(name=_FIGURE, function=condition.function, column=condition.column)
    content = plan.model_dump(mode="python")
    group = GroupStep(kind="group", keys=[], aggregations=[figure]).model_dump(mode="python")
    computed = await _compute(ctx, Plan.model_validate({**content, "steps": [*content["steps"], group]}))
    rows = TableFacts.model_validate(computed.value).rows
    return None if not rows or rows[0][0] is None else float(rows[0][0])


async def find_unknown_table(ctx: RunContext, plan: Plan) -> str | None:
    """Return the table of a plan whose rows all come from an answer without records; None for any other.

    Its steps cannot be checked against columns, but whatever they are, no rows come of none.
    """
    steps, source = [*plan.steps], plan.source
    while isinstance(source, PlanSource):
        steps, source = [*source.plan.steps, *steps], source.plan.source
    # Of no rows these steps make some: a total of groups without keys is one row.
    adds_rows = any(
        isinstance(step, JoinStep | UnionStep) or (isinstance(step, GroupStep) and not step.keys)
        for step in steps
    )
    if adds_rows or not isinstance(source, DatasetSource):
        return None
    tables = await ctx.dataset_tables()
    frames: list[FrameRef] = [*await ctx.services.frames.frames()]
    unknown = (name_table(frame.name, tables) for frame in frames if has_unknown_columns(ctx, frame))
    return next((name for name in unknown if name == source.table), None)


def has_unknown_columns(ctx: RunContext, frame: FrameRef) -> bool:
    """Check for the table of a node that an answer without records leads to."""
    nodes = nodes_by_id(ctx.document)
    if frame.name not in nodes or frame.meta.get("rows") != 0:
        return False
    before = {frame.name, *find_ancestors(ctx.document, frame.name)}
    # `queries.records` gives the table of an answer without records this one column.
    names = [column["name"] for column in frame.meta.get("columns", [])]
    return names == ["value"] and any(nodes[name].type in _ANSWERS for name in before)


async def input_table(ctx: RunContext, node: Node) -> NodeResult | None:
    """Compute the table that reaches a node, for its message; None if no table does."""
    plans = make_plans(ctx.document, await ctx.dataset_tables())
    if node.id not in plans:
        return None
    return _describe(await _compute(ctx, plans[node.id]))


def store_table(
    node: Node, computed: ComputationResult, notes: Sequence[str] = (), needs_review: bool = False
) -> CallResult:
    """Return the result of a node whose table becomes a frame of its name."""
    result = _describe(computed).model_copy(update={"notes": [*notes], "needs_review": needs_review})
    meta = {"rows": result.rows, "columns": result.columns}
    artifact = make_artifact(computed.file("result.parquet"), "frame", node.id, meta)
    return CallResult(
        result.model_dump(mode="json"), f"{node.id} has {describe_count(result.rows or 0, 'row')}.", [artifact]
    )


def _describe(computed: ComputationResult) -> NodeResult:
    facts = TableFacts.model_validate(computed.value)
    return NodeResult(
        status="done", rows=facts.row_count, columns=facts.columns, preview=facts.rows[:MAX_PREVIEW_ROWS]
    )


async def _find_plan(ctx: RunContext, node_id: str) -> Plan:
    return make_plans(ctx.document, await ctx.dataset_tables())[node_id]


async def _compute(ctx: RunContext, plan: Plan) -> ComputationResult:
    digests, schemas = await ctx.read_tables()
    try:
        sql = compile_plan(plan, schemas).sql
    except LabError:
        table = await find_unknown_table(ctx, plan)
        if table is None:
            raise
        sql = f'SELECT * FROM "{table}"'  # noqa: S608 - the name of a node
    return await compute_sql(ctx, sql, digests)


async def compute_sql(
    ctx: RunContext, sql: str, digests: Mapping[str, str], rows: int = MAX_PREVIEW_ROWS
) -> ComputationResult:
    """Run a SELECT over stored tables. `rows`: those of its facts."""
    return await ctx.services.computer.run(
        Computation("queries.query.run_sql", {"sql": sql, "rows": rows}), digests
    )


async def find_input_frame(ctx: RunContext, source: str) -> FrameRef:
    """Find the stored table that a node passes on. Raises InvalidInput if it made none."""
    frames: dict[str, FrameRef] = {frame.name: frame for frame in await ctx.services.frames.frames()}
    name = find_table_node(ctx.document, source)
    if name not in frames:
        raise InvalidInput("table_missing", f"{source} gave no table.")
    return frames[name]


async def list_input_frames(ctx: RunContext, node: Node) -> dict[str, FrameRef]:
    """Return the stored tables of a node's inputs, by the names of their nodes."""
    frames: dict[str, FrameRef] = {frame.name: frame for frame in await ctx.services.frames.frames()}
    tables = {source: find_table_node(ctx.document, source) for source in ctx.document.inputs_of(node.id)}
    return {ctx.names.get(source, source): frames[table] for source, table in tables.items() if table in frames}


async def _input_digests(ctx: RunContext, node: Node) -> Mapping[str, str]:
    return {name: frame.digest for name, frame in (await list_input_frames(ctx, node)).items()}
