"""Patches of a workflow (RFC 6902), where `/nodes/@id/...` names a node by its id."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import jsonpatch
import jsonpointer
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from app.errors import InvalidInput
from app.plans.plan import require_bounded
from app.workflows.document import WorkflowDocument

MAX_OPERATIONS = 100
"""Operations of a patch: each is applied to the whole document while the service answers nobody else."""
MAX_PATCHED_CHARS = 1_000_000
"""Characters of a document while it is patched: `copy` can double it with each operation."""
_NODE_PREFIX = "/nodes/@"


class PatchOperation(BaseModel):
    """One operation of RFC 6902 on `{"nodes": [...], "edges": [...]}`."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: Annotated[str, Field(max_length=500, examples=["/nodes/@top/config/k", "/edges/-"])]
    source: Annotated[str, Field(max_length=500)] | None = Field(default=None, alias="from")
    value: Any = None

    @field_validator("value", mode="before")
    @classmethod
    def _bound(cls, value: Any) -> Any:
        require_bounded(value)
        return value

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class _StoredOperation(BaseModel):
    """Base of the operations of saved patches."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class ValueOperation(_StoredOperation):
    """Puts `value` at `path`, or checks that it stands there."""

    op: Literal["add", "replace", "test"]
    path: str
    value: Any


class RemoveOperation(_StoredOperation):
    """Removes what stands at `path`."""

    op: Literal["remove"]
    path: str


class MoveOperation(_StoredOperation):
    """Puts what stands at `from` to `path`, and with `move` removes it there."""

    op: Literal["move", "copy"]
    path: str
    source: str = Field(alias="from")


StoredOperation = Annotated[ValueOperation | RemoveOperation | MoveOperation, Field(discriminator="op")]
"""An operation of RFC 6902 as patches of versions and proposals have it: with the members of its kind alone."""
Operations = Annotated[list[PatchOperation], Field(min_length=1, max_length=MAX_OPERATIONS)]


def apply_patch(document: WorkflowDocument, operations: Sequence[PatchOperation]) -> WorkflowDocument:
    """Apply operations in order to a copy; all or nothing.

    Raises InvalidInput that names the operation which fails, or the place that no longer is a workflow.
    """
    content: Any = document.to_json()
    for number, operation in enumerate(operations):
        try:
            # Resolved one by one: the operation before may have moved the nodes.
            for resolved in _resolve(operation, content):
                content = jsonpatch.apply_patch(content, [resolved], in_place=True)
            # Other operations add no more than the patch itself holds, whose size is bounded.
            if operation.op == "copy" and len(json.dumps(content)) > MAX_PATCHED_CHARS:
                raise jsonpatch.JsonPatchConflict("the workflow would be too large")
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, KeyError, TypeError) as error:
            raise InvalidInput(
                "patch_failed",
                f"Operation {number} ({operation.op} {operation.path}) cannot be applied: {error}.",
                operation=number,
            ) from error
    try:
        return WorkflowDocument.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/" + "/".join(str(part) for part in first["loc"])
        raise InvalidInput(
            "patch_breaks_workflow", f"After the patch {place} is wrong: {first['msg']}.", pointer=place
        ) from error


def dump_operations(operations: Sequence[StoredOperation]) -> list[dict[str, Any]]:
    """Return stored operations as JSON."""
    return [operation.model_dump(mode="json", by_alias=True) for operation in operations]


def make_patch(before: WorkflowDocument, after: WorkflowDocument) -> list[dict[str, Any]]:
    """Make the patch of RFC 6902 that turns one document into the other."""
    operations: list[dict[str, Any]] = jsonpatch.make_patch(before.to_json(), after.to_json()).patch
    return operations


def _resolve(operation: PatchOperation, content: Any) -> list[dict[str, Any]]:
    """Turn ids into indices, each behind a `test` that the node there has the id."""
    resolved = operation.to_json()
    tests = []
    for field in ("path", "from"):
        path = resolved.get(field)
        if isinstance(path, str) and path.startswith(_NODE_PREFIX):
            node_id, slash, rest = path.removeprefix(_NODE_PREFIX).partition("/")
            index = _index_of(node_id, content)
            tests.append({"op": "test", "path": f"/nodes/{index}/id", "value": node_id})
            resolved[field] = f"/nodes/{index}{slash}{rest}"
    return [*tests, resolved]


def _index_of(node_id: str, content: Any) -> int:
    # An operation before may have put anything in the place of the document, or of its nodes.
    nodes = content.get("nodes") if isinstance(content, Mapping) else None
    for index, node in enumerate(nodes if isinstance(nodes, list) else ()):
        if isinstance(node, Mapping) and node.get("id") == node_id:
            return index
    raise jsonpatch.JsonPatchConflict(f"there is no node {node_id}")
