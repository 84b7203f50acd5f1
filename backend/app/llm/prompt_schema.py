"""JSON Schemas as a chat model is sent them: without what costs tokens and tells it nothing."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

_SIZES = frozenset({"minLength", "maxLength", "maxItems", "maxProperties"})
"""Bounds that are left out. `minItems` stays: it tells that a list must have something."""


class PromptSchema(GenerateJsonSchema):
    """A generator of shorter schemas, to be passed as `schema_generator` to `model_json_schema`.

    Pydantic titles every field by its own name, and describes an optional one as "this or null, null by
    default". A model that leaves the field out says the same, and what is sent as null is still valid. Bounds
    of sizes guard the service; they are far beyond what a model writes, and a refusal names the one it met.
    """

    def generate(self, schema: Any, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        described = super().generate(schema, mode)
        for definition in described.get("$defs", {}).values():
            # Its key is the same name, and a field that it does not have is refused by its own.
            definition.pop("title", None)
            definition.pop("additionalProperties", None)
        return described

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        return _without_sizes(super().str_schema(schema))

    def list_schema(self, schema: core_schema.ListSchema) -> JsonSchemaValue:
        return _without_sizes(super().list_schema(schema))

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        return _without_sizes(super().dict_schema(schema))

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        # False, zero and emptiness are what anybody takes for the default of what is left out.
        if "default" in described and not described["default"]:
            del described["default"]
        return described


def _without_sizes(described: JsonSchemaValue) -> JsonSchemaValue:
    return {name: value for name, value in described.items() if name not in _SIZES}
