"""Recorded calls as evidence: every value that is read remembers the call and the place it was read from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Any
"""A JSON value as it was recorded."""


@dataclass(frozen=True)
class RecordedCall:
    """One call of the journal. `seq` and `key` name it; `tool` is the name of what was called."""

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


@dataclass(frozen=True)
class RecordedFact:
    """A value inside a recorded result, and its JSON pointer (RFC 6901)."""

    call: RecordedCall
    pointer: str
    value: Json

    def at(self, *path: str | int) -> "RecordedFact | None":
        """The fact deeper down, or None where nothing (or null) was recorded."""
        value, pointer = self.value, self.pointer
        for part in path:
            child = _child(value, part)
            if child is None:
                return None
            value, pointer = child, f"{pointer}/{_escape(part)}"
        return RecordedFact(self.call, pointer, value)

    def children(self) -> Iterator[tuple[str, "RecordedFact"]]:
        """The members of an object or the items of a list, those that are null left out."""
        value = self.value
        names = value if isinstance(value, Mapping) else range(len(value)) if isinstance(value, list) else ()
        for name in names:
            child = self.at(name)
            if child is not None:
                yield str(name), child

    def items(self) -> list["RecordedFact"]:
        return [child for _, child in self.children()]

    def text(self, *path: str | int) -> str:
        """The string there, or an empty one."""
        fact = self.at(*path)
        return str(fact.value) if fact else ""


def items_at(fact: RecordedFact | None, *path: str | int) -> list[RecordedFact]:
    """The items there; none where nothing was recorded."""
    parent = fact.at(*path) if fact else None
    return parent.items() if parent else []


def successful_calls(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The calls that succeeded, in the order in which they were made; a chat call proves nothing."""
    return [call for call in calls if not call.failed and call.kind != "chat"]


def resolve_pointer(value: Json, pointer: str) -> Json:
    """The value that a JSON pointer names; KeyError when there is none."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise KeyError(pointer)
    return value


def _child(value: Json, part: str | int) -> Json:
    if isinstance(value, Mapping):
        return value.get(str(part))
    if isinstance(value, list) and str(part).isdecimal() and int(part) < len(value):
        return value[int(part)]
    return None


def _escape(part: str | int) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")
