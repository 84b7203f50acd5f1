"""A row of a session's journal, as the layers that write, export and report it share it."""

from dataclasses import dataclass
from typing import Any

Json = Any
"""A JSON value as it was recorded."""


@dataclass(frozen=True)
class RecordedCall:
    """One call of the journal. `seq` and `key` identify it; `tool` is the name of the called tool or model."""

    seq: int
    node: str
    key: str
    tool: str
    agent: str
    request: Json
    result: Json
    kind: str = "tool"
    failed: bool = False
    duration_ms: float = 0.0
