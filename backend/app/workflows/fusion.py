"""Fusion of nodes into query plans: a chain of operations on tables is one query.

So nothing between two nodes is written or read, and a node that no output needs costs nothing.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import ValidationError

from app.charts.encoding import choose_encoding
from app.errors import InvalidInput, LabError
from app.modeling.problem.name_resolution import nearest_names
from app.plans.compiler import compile_plan
from app.plans.plan import MAX_STEPS, DatasetSource, JoinStep, Plan, PlanSource, Source, UnionStep
from app.plans.schema import TableSchema
from app.workflows.document import Node, WorkflowDocument, find_ancestors, nodes_by_id
from app.workflows.faults import WorkflowFault
from app.workflows.item_documents import ITEM, make_item_document, name_item, select_item
from app.workflows.named_values import find_inner_value_faults
from app.workflows.node_configs import Chart, FigureCondition, ForEach, ReadDataset, RunPlan
from app.workflows.node_types import NODE_TYPES
from app.workflows.stages import list_stages
from app.workflows.validation import sort_nodes

Tables = Mapping[UUID, str]
"""Table name of each dataset."""


def dataset_ids(document: WorkflowDocument) -> list[UUID]:
    """Return the datasets that the workflow reads, in the order of their nodes."""
    read = [parse(node) for node in document.nodes if node.type == "read_dataset"]
    return list(dict.fromkeys(node.dataset_id for node in read if isinstance(node, ReadDataset)))


def parse(node: Node) -> Any:
    """Return the step of a plan or the configuration of a node of a valid document."""
    return NODE_TYPES[node.type].parse(node.config)


def make_plans(document: WorkflowDocument, tables: Tables) -> dict[str, Plan]:
    """Make the query plan of each node of a valid document that gives a table, keyed by its id, inputs first.

    A node with a table of its own is the source of a plan, named by `name_table`. Raises InvalidInput for a
    node whose plan would be too large.
    """
    nodes, plans = nodes_by_id(document), dict[str, Plan]()
    for node_id in sort_nodes(document):
        inputs = [plans[source] for source in document.inputs_of(node_id) if source in plans]
        gives = NODE_TYPES[nodes[node_id].type].gives
        if gives == "table":
            table = name_table(node_id, tables)
            plans[node_id] = Plan(source=DatasetSource(kind="dataset", table=table))
        elif gives == "input":
            plans |= {node_id: inputs[0]} if inputs else {}
        if gives != "query":
            continue
        try:
            plans[node_id] = _make_plan(nodes[node_id], inputs, tables)
        except ValidationError as error:
            reason = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise InvalidInput("workflow_too_large", f"{node_id}: {reason}", node=node_id) from error
    return plans


def is_query(document: WorkflowDocument, node_id: str) -> bool:
    """Check that a node and all nodes before it are operations on tables, without a condition between them."""
    nodes, ids = nodes_by_id(document), {node_id, *find_ancestors(document, node_id)}
    # A condition needs the rows of the node before it, so that the query cannot be one.
    return all(NODE_TYPES[nodes[ancestor].type].gives == "query" for ancestor in ids) and all(
        edge.condition is None for edge in document.edges if edge.target in ids
    )


def is_plain(document: WorkflowDocument) -> bool:
    """Check that a workflow does nothing but compute tables from datasets, without limits of its nodes."""
    has_branches = any(edge.condition is not None for edge in document.edges)
    return not has_branches and all(
        NODE_TYPES[node.type].gives in ("query", "nothing") and not node.retries and node.timeout_s is None
        for node in document.nodes
    )


def name_table(node_id: str, tables: Tables) -> str:
    """Return the name of the table that a node made, which is the name of no dataset."""
    name = f"node_{node_id}"
    while name in tables.values():
        name = f"_{name}"
    return name


class ColumnJudgement(NamedTuple):
    """`columns`: those of each node whose table is known before a run, passed on or of its own."""

    faults: list[WorkflowFault]
    columns: dict[str, TableSchema]


def judge_columns(
    document: WorkflowDocument, plans: Mapping[str, Plan], schemas: Mapping[str, TableSchema]
) -> ColumnJudgement:
    """Find the nodes that do not fit the columns of their inputs, and queries that are too large.

    Nodes behind a faulty one are not judged, nor are those behind a table whose columns only a run knows.
    """
    faults, columns = list[WorkflowFault](), dict[str, TableSchema]()
    places = {node.id: place for place, node in enumerate(document.nodes)}
    unjudged = {node.id for node in document.nodes if NODE_TYPES[node.type].gives == "table"}
    for node_id, plan in plans.items():
        inputs = document.inputs_of(node_id)
        if node_id in unjudged or unjudged.intersection(inputs):
            unjudged.add(node_id)
            continue
        schemas_of_inputs = [columns[source] for source in inputs if source in columns]
        try:
            columns[node_id] = _judge_node(document.nodes[places[node_id]], plan, schemas_of_inputs, schemas)
        except LabError as error:
            unjudged.add(node_id)
            faults.append(_make_column_fault(places[node_id], error))
    # A query as a whole only where it is run: that of each node would hold those of all nodes before it.
    for node_id in list_stages(document):
        if node_id in columns and NODE_TYPES[document.nodes[places[node_id]].type].gives == "query":
            try:
                compile_plan(plans[node_id], schemas)
            except LabError as error:
                faults.append(_make_column_fault(places[node_id], error))
    return ColumnJudgement(faults, columns)


def _judge_node(
    node: Node, plan: Plan, inputs: Sequence[TableSchema], schemas: Mapping[str, TableSchema]
) -> TableSchema:
    """Return the columns of a node, by those of its inputs alone. Raises LabError where it does not fit."""
    if NODE_TYPES[node.type].gives == "input":
        columns: TableSchema = inputs[0]
    # Over inputs as tables of their own: with all nodes before it, a chain of 240 filters took 4.7 s.
    elif inputs:
        tables = {f"input_{place}": schema for place, schema in enumerate(inputs)}
        sources = [Plan(source=DatasetSource(kind="dataset", table=table)) for table in tables]
        columns = compile_plan(_make_plan(node, sources, {}), tables).columns
    else:
        columns = compile_plan(plan, schemas).columns
    _require_column(node, plan, columns)
    return columns


def _make_column_fault(place: int, error: LabError) -> WorkflowFault:
    nearest = error.facts.get("nearest")
    return WorkflowFault(
        pointer=f"/nodes/{place}/config",
        code=error.code,
        message=_without_place(error),
        nearest=[str(name) for name in nearest] if isinstance(nearest, list | tuple) else [],
    )


def find_item_faults(
    document: WorkflowDocument, tables: Tables, schemas: Mapping[str, TableSchema]
) -> list[WorkflowFault]:
    """Find the nodes in each `for_each`, and values in their texts, that do not fit the columns of an item."""
    faults = []
    for place, node in enumerate(document.nodes):
        config = parse(node)
        if not isinstance(config, ForEach):
            continue
        is_present = {"kind": "not", "operand": select_item(config.column, None, "text")}
        # All items have the same columns, so one of any name stands for them.
        item = make_item_document(document, node, config, "x", is_present)
        first = name_item(node.id, "x")
        pointers = {first: f"/nodes/{place}/config/column"}
        names = {first: ITEM} | {f"{first}-{inner.id}": inner.id for inner in config.nodes}
        for inner_place, inner in enumerate(config.nodes):
            pointers[f"{first}-{inner.id}"] = f"/nodes/{place}/config/nodes/{inner_place}/config"
        judgement = judge_columns(item, make_plans(item, tables), schemas)
        for fault in judgement.faults:
            node_id = item.nodes[int(fault.pointer.split("/")[2])].id
            if node_id in pointers:
                faults.append(fault.model_copy(update={"pointer": pointers[node_id]}))
        columns = {names[key]: schema for key, schema in judgement.columns.items() if key in names}
        faults += find_inner_value_faults(document, place, columns)
    return faults


def _require_column(node: Node, plan: Plan, columns: TableSchema) -> None:
    """Raises InvalidInput if a condition tests a column that its input lacks, or a chart draws one."""
    config = parse(node)
    if isinstance(config, Chart):
        choose_encoding(config.make_request(plan), columns)
    if isinstance(config, FigureCondition) and config.column is not None and config.column not in columns:
        close = nearest_names(config.column, list(columns))
        hint = f" Did you mean {', '.join(close)}?" if close else ""
        raise InvalidInput("unknown_column", f"There is no column {config.column}.{hint}", nearest=close)


def _make_plan(node: Node, inputs: list[Plan], tables: Tables) -> Plan:
    operation = parse(node)
    if isinstance(operation, ReadDataset):
        if operation.dataset_id not in tables:
            raise InvalidInput(
                "dataset_not_found",
                f"{node.id}: there is no dataset {operation.dataset_id} any more.",
            )
        return Plan(source=DatasetSource(kind="dataset", table=tables[operation.dataset_id]))
    if isinstance(operation, RunPlan):
        return operation.plan
    if isinstance(operation, JoinStep):
        return _append(inputs[0], operation.model_copy(update={"source": _as_source(inputs[1])}))
    if isinstance(operation, UnionStep):
        return reduce(
            lambda plan, other: _append(plan, operation.model_copy(update={"source": _as_source(other)})),
            inputs[1:],
            inputs[0],
        )
    return _append(inputs[0], operation)


def _append(plan: Plan, step: Any) -> Plan:
    """Return a plan with one more step; validated again, since its size and depth are bounded."""
    # A longer chain becomes a plan over a plan, since the steps of one are bounded.
    base = plan if len(plan.steps) < MAX_STEPS else Plan(source=PlanSource(kind="plan", plan=plan))
    document = base.model_dump(mode="python")
    return Plan.model_validate({**document, "steps": [*document["steps"], step.model_dump(mode="python")]})


def _as_source(plan: Plan) -> Source:
    return PlanSource(kind="plan", plan=plan) if plan.steps else plan.source


def _without_place(error: LabError) -> str:
    """Return the message of a refused plan without its place there: the pointer names the node."""
    place = f"{error.facts.get('place')}: "
    return error.detail.removeprefix(place)
