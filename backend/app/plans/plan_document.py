"""A query plan as a field of a request."""

from typing import Annotated

from pydantic import WithJsonSchema

from app.plans.plan import Plan

PlanDocument = Annotated[
    Plan,
    WithJsonSchema(
        {
            "type": "object",
            "title": "Query plan",
            "description": "The language is described by the JSON Schema of `GET /query-plans/schema`.",
            "required": ["source"],
            "properties": {"source": {"type": "object"}, "steps": {"type": "array"}},
            "examples": [{"source": {"kind": "dataset", "table": "orders"}, "steps": []}],
        }
    ),
]
"""A plan that is validated in full, and described in outline in the OpenAPI document.

The language is recursive: plans are sources of plans, and expressions nest. Generators of clients and of test
cases that unfold schemas take minutes and gigabytes for it, so it is published apart.
"""
