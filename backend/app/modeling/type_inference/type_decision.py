"""The inferred type of one column."""

from dataclasses import dataclass, field
from typing import Any

from app.modeling.table.json_values import to_json_value


@dataclass(frozen=True)
class TypeDecision:
    """The inferred type of one column.

    `reads_as`: number, datetime, boolean or text. `way`: the parser as JSON, without its columns.
    """

    column: str
    reads_as: str
    way: dict[str, Any]
    text: str
    confidence: float
    evidence: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = to_json_value(vars(self))
        return document
