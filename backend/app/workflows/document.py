"""The document of a workflow: nodes and the edges between them."""

import json
from collections.abc import Mapping
from sys import float_info
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from app.errors import InvalidInput
from app.plans.plan import require_bounded
from app.sessions.schemas import require_storable

MAX_NODES = 500
"""Nodes of a workflow: a run has a step for each."""
MAX_EDGES = 2_000
"""Edges of a workflow: joins and unions have a few each."""
MAX_NODE_ID_CHARS = 100
"""Characters of the id of a node, which is the name of its table."""

MAX_RETRIES = 5
"""Further attempts of a node: with back-off they take half a minute, of requests about a minute."""
MAX_NODE_TIMEOUT_S = 86_400.0
"""Longest time limit of a node, in seconds: no computation may take a day."""

PASSES = "passes"
"""Name of the outcome of a condition or an approval: an edge that tests it may be open where that is false."""

NodeId = Annotated[str, Field(min_length=1, max_length=MAX_NODE_ID_CHARS, pattern=r"^[A-Za-z0-9_-]+$")]


class WorkflowPart(BaseModel):
    """Base of all parts of a document: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Node(WorkflowPart):
    """One operation. `config` is checked against the schema of its type.

    A node that fails is run again up to `retries` times. `timeout_s`: seconds after which an attempt fails.
    `needs`: all of its inputs, or `any` of them, without those on branches that are closed.
    """

    id: NodeId
    type: Annotated[str, Field(min_length=1, max_length=50)]
    config: dict[str, Any] = Field(default_factory=dict)
    # Left out where they are not set: documents, patches and their tests stay as they were written.
    retries: Annotated[int, Field(ge=0, le=MAX_RETRIES)] = Field(default=0, exclude_if=lambda count: not count)
    timeout_s: Annotated[float, Field(gt=0, le=MAX_NODE_TIMEOUT_S)] | None = Field(
        default=None, exclude_if=lambda seconds: seconds is None
    )
    needs: Literal["all", "any"] = Field(default="all", exclude_if=lambda needs: needs == "all")

    @field_validator("config", mode="before")
    @classmethod
    def _bound(cls, value: Any) -> Any:
        # Before any model reads it: validation and comparison of settings recurse.
        require_bounded(value)
        _require_storable_texts(value)
        return value


def _require_storable_texts(value: object) -> None:
    """Refuse JSON with a text that Postgres cannot hold, which would be saved as another. Raises ValueError."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            waiting += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, str):
            require_storable(part)


class EdgeCondition(WorkflowPart):
    """A test of one value of the result of `from`, by the names that texts use.

    `field`: `rows`, a column of the first row, `figure` of a condition, `passes` of a condition or an approval,
    or a value of a study. A value that is missing passes no test.
    """

    field: Annotated[str, Field(min_length=1, max_length=200, examples=["rows"])]
    op: Literal["=", "!=", "<", "<=", ">", ">="] = ">"
    value: bool | int | float | Annotated[str, Field(max_length=1_000)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        _require_storable_texts([self.field, self.value])
        # Infinity and NaN are no JSON, and greater integers cannot be compared with figures.
        if isinstance(self.value, int | float) and not -float_info.max <= self.value <= float_info.max:
            raise ValueError("`value` is no number that a figure can have")
        if self.op not in ("=", "!=") and isinstance(self.value, bool | str):
            raise ValueError(f"`{self.op}` compares numbers, and {self.value!r} is none")
        return self

    def holds(self, value: object) -> bool:
        """Test a value that is there. Raises InvalidInput for a comparison of what is no number."""
        operand = self.value
        if self.op in ("=", "!="):
            # True is 1 in Python, and in no table.
            is_equal = isinstance(value, bool) == isinstance(operand, bool) and value == operand
            return is_equal == (self.op == "=")
        if isinstance(value, bool | str) or not isinstance(value, int | float) or isinstance(operand, str):
            raise InvalidInput(
                "condition_wrong", f"{self.field} is {value!r}, and `{self.op}` compares numbers."
            )
        return {
            "<": value < operand,
            "<=": value <= operand,
            ">": value > operand,
            ">=": value >= operand,
        }[self.op]

    def describe(self) -> str:
        return f"{self.field} {self.op} {json.dumps(self.value, ensure_ascii=False)}"


class WorkflowEdge(WorkflowPart):
    """The output of one node as an input of another. A node's inputs are in the order of its edges.

    With a `condition` that does not hold, `to` and all nodes behind it are skipped, unless another input is
    enough for `to`.
    """

    source: NodeId = Field(alias="from")
    target: NodeId = Field(alias="to")
    condition: EdgeCondition | None = Field(default=None, exclude_if=lambda condition: condition is None)

    def describe(self) -> str:
        condition = "" if self.condition is None else f" if {self.condition.describe()}"
        return f"{self.source} -> {self.target}{condition}"


class WorkflowDocument(WorkflowPart):
    """A directed graph without circles."""

    nodes: Annotated[list[Node], Field(max_length=MAX_NODES)]
    edges: Annotated[list[WorkflowEdge], Field(max_length=MAX_EDGES)] = Field(default_factory=list)

    def inputs_of(self, node_id: str) -> list[str]:
        return [edge.source for edge in self.edges if edge.target == node_id]

    def edges_to(self, node_id: str) -> list[WorkflowEdge]:
        return [edge for edge in self.edges if edge.target == node_id]

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


def nodes_by_id(document: WorkflowDocument) -> Mapping[str, Node]:
    return {node.id: node for node in document.nodes}


def find_ancestors(document: WorkflowDocument, node_id: str) -> set[str]:
    """Return the nodes whose output a node takes, directly or through others."""
    ancestors, waiting = set[str](), document.inputs_of(node_id)
    while waiting:
        current = waiting.pop()
        if current not in ancestors:
            ancestors.add(current)
            waiting += document.inputs_of(current)
    return ancestors


def computes_alike(first: WorkflowDocument, second: WorkflowDocument, node_id: str) -> bool:
    """Check if a node and all that its table is made of are the same in both documents."""
    return _select_sources(first, node_id) == _select_sources(second, node_id)


def _select_sources(document: WorkflowDocument, node_id: str) -> tuple[dict[str, Node], list[WorkflowEdge]]:
    """Return a node and its ancestors by id, and the edges between them, each target's in their order."""
    ids = find_ancestors(document, node_id) | {node_id}
    # A trigger says when a run begins, and gives no rows.
    nodes = {node.id: node for node in document.nodes if node.id in ids and node.type != "trigger"}
    edges = [edge for edge in document.edges if edge.source in nodes and edge.target in nodes]
    return nodes, sorted(edges, key=lambda edge: edge.target)


def find_descendants(document: WorkflowDocument, node_id: str) -> set[str]:
    """Return a node and all nodes that take its output, directly or through others."""
    descendants, waiting = set[str](), [node_id]
    while waiting:
        current = waiting.pop()
        if current not in descendants:
            descendants.add(current)
            waiting += [edge.target for edge in document.edges if edge.source == current]
    return descendants
