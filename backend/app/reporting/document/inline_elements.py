"""Inline pieces of a document.

There are three kinds. Prose (`str`) is part of the program and holds no numeral. A claim shows a recorded
value. A name quotes data or a person: it is untrusted, escaped by every renderer, and checked to occur in the
journal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema

from app.reporting.claims import Claim


@dataclass(frozen=True)
class Name:
    """Quoted text: a column, a file, a model, a metric (`code`), or a person's words."""

    text: str
    code: bool = True


def _resolve(value: Any, validation: ValidationInfo) -> Any:
    """Return a piece of stored JSON as its object; a claim is looked up in the list of claims."""
    if isinstance(value, Mapping) and "claim" in value:
        claims: Mapping[str, Claim] = (validation.context or {}).get("claims", {})
        # A claim that is not listed could not be checked, so that such a report is no report.
        if str(value["claim"]) not in claims:
            raise ValueError(f"The list of claims has no {value['claim']}.")
        return claims[str(value["claim"])]
    return Name(str(value["name"]), bool(value.get("code", True))) if isinstance(value, Mapping) else value


_CLAIM_JSON: dict[str, Any] = {
    "type": "object",
    "description": "A shown value, by its id in the list of claims.",
    "properties": {"claim": {"type": "string", "examples": ["c12"]}},
    "required": ["claim"],
}
_NAME_JSON: dict[str, Any] = {
    "type": "object",
    "description": "Quoted text of data or of a person: escape it. `code`: a name of a column, file or model.",
    "properties": {"name": {"type": "string"}, "code": {"type": "boolean"}},
    "required": ["name", "code"],
}
_PROSE_JSON: dict[str, Any] = {"type": "string", "description": "Prose of the program, without numerals."}

ClaimReference = Annotated[Claim, BeforeValidator(_resolve), WithJsonSchema(_CLAIM_JSON)]
NameReference = Annotated[Name, BeforeValidator(_resolve), WithJsonSchema(_NAME_JSON)]
Piece = Annotated[
    str | Claim | Name,
    BeforeValidator(_resolve),
    WithJsonSchema({"anyOf": [_PROSE_JSON, _CLAIM_JSON, _NAME_JSON]}),
]
Text = Sequence[Piece]


def plain_text(text: Text) -> str:
    """Return the text without markup, for a window title or a log line."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in text)
