"""Validation of answers against the JSON Schema of their question."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from pydantic import JsonValue

from app.errors import InvalidInput
from app.modeling.problem.name_resolution import nearest_names

MAX_SUGGESTIONS = 5
"""Names in one message: more would not be read."""


def check_answer(answer_schema: Mapping[str, Any], answer: JsonValue) -> None:
    """Check an answer. Raises InvalidInput with the place of the fault, similar valid names and the schema."""
    error = best_match(Draft202012Validator(_select_form(answer_schema, answer)).iter_errors(answer))
    if error is not None:
        where = error.json_path.replace("$", "answer", 1)
        raise InvalidInput(
            "answer_invalid",
            f"{where}: {error.message}.{_suggest_names(error)}",
            answer_schema=dict(answer_schema),
        )


def _select_form(schema: Mapping[str, Any], answer: JsonValue) -> Mapping[str, Any]:
    """Return the form with the answer's `decision`, if there is exactly one, else the schema.

    Errors of the other forms would only mislead.
    """
    if not isinstance(answer, dict) or "decision" not in answer:
        return schema
    decided = {"const": answer["decision"]}
    forms = [form for form in schema.get("anyOf", ()) if form.get("properties", {}).get("decision") == decided]
    return {**forms[0], "$defs": schema.get("$defs", {})} if len(forms) == 1 else schema


def _suggest_names(error: ValidationError) -> str:
    """Return a sentence with valid names similar to the invalid ones; empty without any."""
    instance: Any = error.instance
    schema: Any = error.schema
    if error.validator == "enum":
        invalid, valid = [instance], schema["enum"]
    elif error.validator == "additionalProperties":
        valid = schema.get("properties", {})
        invalid = [name for name in instance if name not in valid]
    else:
        return ""
    names = [name for name in valid if isinstance(name, str)]
    similar = dict.fromkeys(
        match for name in invalid if isinstance(name, str) for match in nearest_names(name, names)
    )
    return f" Did you mean {', '.join(list(similar)[:MAX_SUGGESTIONS])}?" if similar else ""
