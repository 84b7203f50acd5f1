"""Nodes that run others for each value of a column. All calls of all items belong to one step."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from app.artifacts.workspace import FrameRef
from app.counts import describe_count
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.plans.compiler import compile_plan
from app.plans.expressions import ColumnType
from app.plans.plan import (
    Aggregation,
    DatasetSource,
    DerivedColumn,
    DeriveStep,
    GroupStep,
    LimitStep,
    Plan,
    SelectedColumn,
    SelectStep,
    SortKey,
    SortStep,
)
from app.plans.schema import read_table_schema
from app.sessions.step_scope import Call, CallResult
from app.workflows.document import Node, nodes_by_id
from app.workflows.fusion import make_plans, parse
from app.workflows.item_documents import (
    ITEM,
    make_item_document,
    make_literal,
    name_item,
    select_item,
    select_missing_number,
)
from app.workflows.node_configs import MAX_ITEMS, ForEach
from app.workflows.runs.branches import find_closing
from app.workflows.runs.context import AGENT, Results, RunContext
from app.workflows.runs.node_execution import record, record_node
from app.workflows.runs.schemas import ItemResult, NodeResult
from app.workflows.runs.tables import TableFacts, compute_sql, store_table
from app.workflows.stages import find_table_node, list_item_stages

MAX_ITEM_CHARS = 2_000
"""Characters at which values of results are cut: rows could not be selected by such a one."""
_MISSING_VALUES = 3
"""Values of a column of numbers that come as missing beside null: NaN and two infinities."""


class _Items(NamedTuple):
    """The values of a column, in order. `column`: its name as the table spells it.

    `joins_missing`: numbers that are none (NaN) count as missing. Runs that began without it go on without it.
    """

    column: str
    type: ColumnType
    values: list[Any]
    joins_missing: bool

    def select(self, value: Any) -> dict[str, Any]:
        """Return the condition of the rows of a value."""
        if value is None and self.joins_missing and self.type == "number":
            return select_missing_number(self.column)
        return select_item(self.column, value, self.type)


class _ItemRun(NamedTuple):
    """The result of an item. `table`: the node with its table, None if the item gives none."""

    result: ItemResult
    table: str | None


async def run_items(ctx: RunContext, node: Node, config: ForEach, results: Results) -> NodeResult:
    """Run the nodes of a `for_each` for each item, and record the table of all.

    Each node of an item is a recorded call of its own, so what was done before a crash is not done again.
    """
    try:
        items = await _list_items(ctx, node, config)
    except InvalidInput as error:
        return await record(ctx, node, partial(_refuse, error))
    # One after the other: the calls of a step are recorded in an order that a replay repeats.
    runs = [
        await _run_item(ctx, node, config, results, number, items.select(value))
        for number, value in enumerate(items.values)
    ]
    return await record(ctx, node, partial(_combine, ctx, node, items, runs))


async def _refuse(error: InvalidInput) -> CallResult:
    raise error


async def _list_items(ctx: RunContext, node: Node, config: ForEach) -> _Items:
    """List the items in a recorded call. Raises InvalidInput without the column, or for too many values."""

    async def read() -> CallResult:
        digests, schemas = await ctx.read_tables()
        plan = make_plans(ctx.document, await ctx.dataset_tables())[ctx.document.inputs_of(node.id)[0]]
        try:
            compiled = compile_plan(_plan_items(plan, config), schemas)
        except InvalidInput as error:
            return CallResult({"code": error.code, "error": error.detail}, error.detail, failed=True)
        # One value more than is allowed tells that there are too many.
        computed = await compute_sql(ctx, compiled.sql, digests, MAX_ITEMS + 1 + _MISSING_VALUES)
        name, type_ = next(iter(compiled.columns.items()))
        cells = [row[0] for row in TableFacts.model_validate(computed.value).rows]
        # NaN and infinity come as missing values beside the missing ones.
        values: list[Any] = list(dict.fromkeys(cells))
        items: JsonValue = {"column": name, "type": type_, "values": values, "joins_missing": True}
        return CallResult(items, f"{describe_count(len(values), 'item')}.")

    request: dict[str, JsonValue] = {"node": node.id, "config": node.config}
    call = Call(f"choice:items:{node.id}", "choice", "list_items", AGENT, request)
    value: Any = await ctx.step.call(call, read)
    if "error" in value:
        raise InvalidInput(value["code"], value["error"])
    items = _Items(value["column"], value["type"], value["values"], value.get("joins_missing", False))
    if any(isinstance(item, str) and len(item) >= MAX_ITEM_CHARS for item in items.values):
        raise InvalidInput(
            "item_too_long",
            f"{node.id}: {items.column} has a value of {MAX_ITEM_CHARS:,} characters or more, which stands for "
            "no item. Make a shorter column before.",
        )
    if len(items.values) > config.max_items:
        raise InvalidInput(
            "too_many_items",
            f"{node.id}: {items.column} has more than {config.max_items} values. Filter its rows before, or "
            f"raise `max_items` (at most {MAX_ITEMS}).",
        )
    return items


def _plan_items(plan: Plan, config: ForEach) -> Plan:
    """Return the plan of the values of a column, in order."""
    # The figure of a group may not have the name of its key.
    count = "rows" if config.column.casefold() != "rows" else "row_count"
    steps = [
        GroupStep(kind="group", keys=[config.column], aggregations=[Aggregation(name=count, function="count")]),
        SortStep(kind="sort", keys=[SortKey(column=config.column)]),
        LimitStep(kind="limit", rows=config.max_items + 1 + _MISSING_VALUES),
    ]
    content = plan.model_dump(mode="python")
    return Plan.model_validate({**content, "steps": [*content["steps"], *(s.model_dump() for s in steps)]})


async def _run_item(
    ctx: RunContext, node: Node, config: ForEach, results: Results, number: int, condition: Mapping[str, Any]
) -> _ItemRun:
    """Run the nodes of one item, one after the other. A failure ends the item, not the others."""
    document = make_item_document(ctx.document, node, config, number, condition)
    first = name_item(node.id, number)
    names = {first: ITEM} | {f"{first}-{inner.id}": inner.id for inner in config.nodes}
    item_ctx = replace(ctx, item=document, names=names)
    ended = dict(results)
    for node_id in list_item_stages(document, first, config):
        inner = nodes_by_id(document)[node_id]
        closing = find_closing(item_ctx, inner, ended)
        result = closing or await record_node(item_ctx, inner, parse(inner), ended)
        # By both ids: edges know the long one, and texts in the loop the short one.
        ended |= {node_id: result, names[node_id]: result}
    of_item = {names[node_id]: ended[node_id] for node_id in names if node_id in ended}
    value = _value_of(condition)
    failed = [f"{name}: {result.error}" for name, result in of_item.items() if result.error is not None]
    rows = of_item[ITEM].rows or 0
    if failed:
        return _ItemRun(ItemResult(item=value, rows=rows, status="failed", error=failed[0]), None)
    is_ended_early = any(r.status != "done" or r.passes is False for r in of_item.values())
    if is_ended_early:
        return _ItemRun(ItemResult(item=value, rows=rows, status="skipped"), None)
    table = find_table_node(document, f"{first}-{config.nodes[-1].id}")
    return _ItemRun(ItemResult(item=value, rows=rows, status="done"), table)


def _value_of(condition: Mapping[str, Any]) -> Any:
    return condition["right"]["value"] if condition["kind"] == "compare" else None


async def _combine(ctx: RunContext, node: Node, items: _Items, runs: Sequence[_ItemRun]) -> CallResult:
    """Return the rows of all items as the table of the node, each with the value of its item."""
    frames = {frame.name: frame for frame in await ctx.services.frames.frames()}
    parts = [(run.result.item, frames[run.table]) for run in runs if run.table in frames]
    item_results = {"items": [run.result for run in runs]}
    failed = [run.result for run in runs if run.result.status == "failed"]
    if failed:
        error = f"{len(failed)} of {len(runs)} items failed. {failed[0].item}: {failed[0].error}"
        result = NodeResult(status="failed", error=error, code="item_failed")
        return CallResult(result.model_copy(update=item_results).model_dump(mode="json"), error, failed=True)
    if not parts:
        result = NodeResult(status="done", rows=0, passes=False)
        return CallResult(
            result.model_copy(update=item_results).model_dump(mode="json"), f"{node.id} has no rows."
        )
    queries = [_select_part(items, value, frame, f"t{number}") for number, (value, frame) in enumerate(parts)]
    digests = {f"t{number}": frame.digest for number, (_, frame) in enumerate(parts)}
    stored = store_table(node, await compute_sql(ctx, " UNION ALL BY NAME ".join(queries), digests))
    result = NodeResult.model_validate(stored.value).model_copy(update=item_results)
    return replace(stored, value=result.model_dump(mode="json"))


def _select_part(items: _Items, value: Any, frame: FrameRef, table: str) -> str:
    """Return the query of the rows of an item, with the value of the item where they lack it."""
    schema = read_table_schema(frame.meta.get("columns", []))
    steps: list[Any] = []
    # Nodes of the loop may have left the column out, and rows of several items would not be told apart.
    if items.column.casefold() not in {name.casefold() for name in schema}:
        literal = make_literal(value, items.type)
        expression = {"kind": "cast", "to": items.type, "operand": literal}
        column = DerivedColumn.model_validate({"name": items.column, "expression": expression})
        names = [SelectedColumn(name=name) for name in (items.column, *schema)]
        steps = [DeriveStep(kind="derive", columns=[column]), SelectStep(kind="select", columns=names)]
    plan = Plan(source=DatasetSource(kind="dataset", table=table), steps=steps)
    return f"({compile_plan(plan, {table: schema}).sql})"
