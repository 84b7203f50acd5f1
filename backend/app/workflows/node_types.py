"""Types of nodes: the inputs and the configuration of each.

Operations on tables are the steps of query plans (`app.plans`), so that a workflow has the same language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from app.plans.plan import (
    CorrelateStep,
    DeriveStep,
    DistinctStep,
    FilterStep,
    GroupStep,
    JoinStep,
    LimitStep,
    PivotStep,
    ProfileStep,
    SampleStep,
    SelectStep,
    SortStep,
    TopKStep,
    UnionStep,
    UnpivotStep,
    WindowStep,
)
from app.workflows.document import WorkflowPart
from app.workflows.node_configs import (
    Approve,
    AskAgent,
    Chart,
    FigureCondition,
    ForEach,
    HttpRequest,
    Notify,
    Payload,
    Predict,
    ReadDataset,
    ReadResult,
    RunPlan,
    RunPython,
    RunSql,
    RunStudy,
    Store,
    Trigger,
)

_PLACEHOLDER = {"kind": "dataset", "table": "input"}
"""Stands for the second input of a node while its configuration is checked."""


Gives = Literal["query", "input", "table", "nothing"]
"""Output of a node: a query over its inputs, its first input as it came, a table of its own, or nothing."""


@dataclass(frozen=True)
class NodeType:
    """`model` checks the configuration; of a step, `kind` and `source` come from the node and its edges."""

    name: str
    model: type[Any]
    min_inputs: int
    max_inputs: int
    step: str | None = None
    gives: Gives = "query"

    def parse(self, config: Mapping[str, Any]) -> Any:
        """Check a configuration; return the step of a plan, or the model. Raises ValidationError."""
        if self.step is None:
            return self.model.model_validate(config)
        fields = {key: value for key, value in config.items() if key not in ("kind", "source")}
        if fields.keys() != config.keys():
            # Refused by the model, as a field that it does not have.
            fields["kind or source"] = None
        # A step with one input has no source of its own: it takes the rows before it.
        source = {"source": _PLACEHOLDER} if self.max_inputs > 1 else {}
        return self.model.model_validate({"kind": self.step, **source, **fields})

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the configuration."""
        schema: dict[str, Any] = self.model.model_json_schema()
        if "$ref" in schema:  # the model is recursive, as a join is through its source
            definition = schema["$defs"][schema["$ref"].rpartition("/")[2]]
            schema = {**definition, "$defs": schema["$defs"]}
        if self.step is None:
            return schema
        properties = {key: part for key, part in schema["properties"].items() if key not in ("kind", "source")}
        required = [name for name in schema.get("required", []) if name in properties]
        return {**schema, "properties": properties, "required": required}


def _table(name: str, model: type[Any], step: str | None = None) -> NodeType:
    return NodeType(name, model, 1, 1, step or name)


NODE_TYPES: Mapping[str, NodeType] = {
    node_type.name: node_type
    for node_type in (
        NodeType("read_dataset", ReadDataset, 0, 0),
        NodeType("read_result", ReadResult, 0, 0, gives="table"),
        NodeType("plan", RunPlan, 0, 0),
        NodeType("join", JoinStep, 2, 2, "join"),
        NodeType("union", UnionStep, 2, 20, "union"),
        _table("filter", FilterStep),
        _table("derive", DeriveStep),
        _table("group_by", GroupStep, "group"),
        _table("window", WindowStep),
        _table("sort", SortStep),
        _table("select", SelectStep),
        _table("top_k", TopKStep),
        _table("limit", LimitStep),
        _table("distinct", DistinctStep),
        _table("pivot", PivotStep),
        _table("unpivot", UnpivotStep),
        _table("sample", SampleStep),
        _table("profile", ProfileStep),
        _table("correlate", CorrelateStep),
        NodeType("trigger", Trigger, 0, 0, gives="nothing"),
        NodeType("payload", Payload, 0, 0, gives="table"),
        NodeType("http_request", HttpRequest, 0, 0, gives="table"),
        NodeType("sql", RunSql, 0, 20, gives="table"),
        NodeType("python", RunPython, 0, 20, gives="table"),
        NodeType("predict", Predict, 1, 1, gives="table"),
        NodeType("agent", AskAgent, 1, 20, gives="table"),
        NodeType("for_each", ForEach, 1, 1, gives="table"),
        NodeType("chart", Chart, 1, 1, gives="input"),
        NodeType("study", RunStudy, 1, 20, gives="input"),
        NodeType("store", Store, 1, 1, gives="input"),
        NodeType("condition", FigureCondition, 1, 1, gives="input"),
        NodeType("approve", Approve, 1, 1, gives="input"),
        NodeType("notify", Notify, 0, 20, gives="input"),
    )
}


class NodeTypeView(WorkflowPart):
    """A type of nodes. `config`: JSON Schema of its configuration."""

    type: str
    description: str
    min_inputs: int
    max_inputs: int
    config: dict[str, Any] = Field(description="JSON Schema.")


def describe_node_types() -> list[NodeTypeView]:
    return [
        NodeTypeView(
            type=kind.name,
            description=(kind.model.__doc__ or "").strip(),
            min_inputs=kind.min_inputs,
            max_inputs=kind.max_inputs,
            config=kind.schema(),
        )
        for kind in NODE_TYPES.values()
    ]
