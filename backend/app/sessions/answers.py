"""Does an answer satisfy what was asked?"""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from pydantic import JsonValue

from app.errors import InvalidInput
from app.modeling.problem.names import nearest_names


def check_answer(answer_schema: Mapping[str, Any], answer: JsonValue) -> None:
    """Raises InvalidInput that says where the answer is wrong, names what is nearest, and shows the schema."""
    error = best_match(Draft202012Validator(_meant(answer_schema, answer)).iter_errors(answer))
    if error is not None:
        where = error.json_path.replace("$", "answer", 1)
        raise InvalidInput(
            "answer_invalid", f"{where}: {error.message}.{_hint(error)}", answer_schema=dict(answer_schema)
        )


def _meant(schema: Mapping[str, Any], answer: JsonValue) -> Mapping[str, Any]:
    """Of several forms the one with the answer's `decision`: what is wrong with the others says nothing."""
    if not isinstance(answer, dict) or "decision" not in answer:
        return schema
    decided = {"const": answer["decision"]}
    forms = [form for form in schema.get("anyOf", ()) if form.get("properties", {}).get("decision") == decided]
    return {**forms[0], "$defs": schema.get("$defs", {})} if len(forms) == 1 else schema


def _hint(error: ValidationError) -> str:
    """Names like the one that is not known."""
    instance: Any = error.instance
    schema: Any = error.schema
    if error.validator == "enum":
        wrong, known = [instance], schema["enum"]
    elif error.validator == "additionalProperties":
        known = schema.get("properties", {})
        wrong = [name for name in instance if name not in known]
    else:
        return ""
    names = [name for name in known if isinstance(name, str)]
    close = dict.fromkeys(
        near for name in wrong if isinstance(name, str) for near in nearest_names(name, names)
    )
    return f" Did you mean {', '.join(list(close)[:5])}?" if close else ""
