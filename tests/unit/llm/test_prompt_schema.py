"""Schemas for chat models: shorter than Pydantic's, and true to what validates."""

import json

from pydantic import BaseModel, Field
from pydantic.json_schema import GenerateJsonSchema

from app.agents.planner.output import Plan
from app.llm.prompt_schema import PromptSchema


class _Step(BaseModel):
    name: str


class _Request(BaseModel):
    count: int = Field(ge=1)
    note: str | None = Field(default=None, max_length=5)
    step: _Step | None = None
    kind: str = "plain"
    is_urgent: bool = False


def test_fields_have_no_titles_and_sizes_and_optional_ones_are_left_out_rather_than_null() -> None:
    schema = _Request.model_json_schema(schema_generator=PromptSchema)
    assert schema["properties"] == {
        "count": {"type": "integer", "minimum": 1},
        "note": {"type": "string"},
        "step": {"$ref": "#/$defs/_Step"},
        "kind": {"type": "string", "default": "plain"},
        "is_urgent": {"type": "boolean"},
    }
    assert schema["required"] == ["count"]
    assert _Request.model_validate({"count": 1, "note": None}) == _Request(count=1)


def test_a_chat_model_is_sent_the_short_schema_of_a_plan() -> None:
    short, whole = Plan.model_json_schema(), Plan.model_json_schema(schema_generator=GenerateJsonSchema)
    assert short["properties"].keys() == whole["properties"].keys()
    assert short["properties"]["metric"] == {"type": "string"}
    assert len(json.dumps(short)) < 0.8 * len(json.dumps(whole))
