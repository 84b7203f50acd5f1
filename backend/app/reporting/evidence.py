"""Recorded values as evidence: each carries its call and the JSON pointer that it was read from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.modeling.facts.conversion import parse_facts
from app.recorded_call import Json, RecordedCall

Content = TypeVar("Content", covariant=True)


@dataclass(frozen=True)
class RecordedFact:
    """A value inside a recorded result, and its JSON pointer (RFC 6901)."""

    call: RecordedCall
    pointer: str
    value: Json

    def at(self, *path: str | int) -> "RecordedFact | None":
        """Return the fact at a path below, or None if nothing (or null) was recorded there."""
        value, pointer = self.value, self.pointer
        for part in path:
            child = _child(value, part)
            if child is None:
                return None
            value, pointer = child, f"{pointer}/{_escape(part)}"
        return RecordedFact(self.call, pointer, value)

    def children(self) -> Iterator[tuple[str, "RecordedFact"]]:
        """Yield the members of an object or the items of a list, without nulls."""
        value = self.value
        names = value if isinstance(value, Mapping) else range(len(value)) if isinstance(value, list) else ()
        for name in names:
            child = self.at(name)
            if child is not None:
                yield str(name), child

    def items(self) -> list["RecordedFact"]:
        return [child for _, child in self.children()]

    def text(self, *path: str | int) -> str:
        """Return the value at a path as text, or an empty string."""
        fact = self.at(*path)
        return str(fact.value) if fact else ""


@dataclass(frozen=True)
class TypedFact(RecordedFact, Generic[Content]):
    """A recorded fact with its content as a dataclass.

    Decisions are taken by `content`; a shown value is taken by `at`, which knows its source.
    """

    content: Content


def read_as(record: type[Content], fact: RecordedFact) -> TypedFact[Content]:
    """Read a fact as a dataclass. Raises InvalidInput."""
    return TypedFact(fact.call, fact.pointer, fact.value, parse_facts(record, fact.value))


def final_answer(question: RecordedFact) -> RecordedFact | None:
    """Return the answer of a question, else its default; of an approval only its decision."""
    # An answer of false is a fact, and facts are never falsy.
    answer = question.at("answer") or question.at("default")
    # The rest of an approval is arguments of a call, which a table of answers has no room for.
    return answer and (answer.at("decision") or answer)


def items_at(fact: RecordedFact | None, *path: str | int) -> list[RecordedFact]:
    """Return the items at a path; an empty list if nothing was recorded."""
    parent = fact.at(*path) if fact else None
    return parent.items() if parent else []


def typed_items(record: type[Content], fact: RecordedFact | None, *path: str | int) -> list[TypedFact[Content]]:
    """Return the items at a path as dataclasses; an empty list if nothing was recorded."""
    return [read_as(record, item) for item in items_at(fact, *path)]


def successful_calls(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Return the calls that succeeded, in recorded order, without chat calls: they are no evidence."""
    return [call for call in calls if not call.failed and call.kind != "chat"]


def resolve_pointer(value: Json, pointer: str) -> Json:
    """Return the value at a JSON pointer. Raises KeyError if there is none."""
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
