"""Schemas of answers in the OpenAPI document: a field with a default is always there, so it is required."""

import re
from collections.abc import Mapping
from typing import Any

_REFERENCE = re.compile(r"'\$ref': '#/components/schemas/([^']+)'")

_SPARSE = frozenset({"ProblemView"})
"""Schemas of answers that are not written by their models, and lack what does not apply."""


def require_fields_of_answers(document: dict[str, Any]) -> None:
    """Mark fields with a default as required in every schema that no request has.

    In a request such a field may be left out, so generated clients must tell the two apart.
    """
    schemas: dict[str, Any] = document["components"]["schemas"]
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    requested = _close([operation.get("requestBody", {}) for operation in operations], schemas)
    for name, schema in schemas.items():
        defaults = [field for field, part in schema.get("properties", {}).items() if "default" in part]
        if name not in requested and name not in _SPARSE and defaults:
            schema["required"] = [*dict.fromkeys([*schema.get("required", []), *defaults])]


def _close(parts: list[Any], schemas: Mapping[str, Any]) -> set[str]:
    """Return the names of all schemas that some parts refer to, directly or through others."""
    names, waiting = set[str](), _REFERENCE.findall(str(parts))
    while waiting:
        name = waiting.pop()
        if name not in names and name in schemas:
            names.add(name)
            waiting += _REFERENCE.findall(str(schemas[name]))
    return names
