"""Does an answer satisfy what was asked?"""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pydantic import JsonValue

from app.errors import InvalidInput


def check_answer(answer_schema: Mapping[str, Any], answer: JsonValue) -> None:
    """Raises InvalidInput that says where the answer is wrong and shows the schema."""
    error = best_match(Draft202012Validator(answer_schema).iter_errors(answer))
    if error is not None:
        where = error.json_path.replace("$", "answer", 1)
        raise InvalidInput("answer_invalid", f"{where}: {error.message}.", answer_schema=dict(answer_schema))
