"""Settings of nodes in words: `change the threshold to 500`, `use 20 instead of 10`, `set retries to 3`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from app.workflows.document import Node, WorkflowDocument, nodes_by_id
from app.workflows.node_limits import can_have_limit
from app.workflows.phrases.change import Change, ChangedDocument, ChangeQuestion
from app.workflows.phrases.graph_edits import set_config, set_limit
from app.workflows.phrases.node_search import find_nodes

_NUMBER = r"[$€£]?(-?\d[\d,]{0,15}(?:\.\d{1,15})?)%?"
_TO_NUMBER = re.compile(
    rf"\b(?:change|set|raise|lower|increase|decrease|reduce|extend|update|adjust|make|bump|"
    rf"put)\b(?P<noun>.{{0,100}}?)\b(?:to|at|of)\s{{1,8}}{_NUMBER}\b",
    re.IGNORECASE,
)
_SHOULD_BE = re.compile(rf"^(?P<noun>.*?)\b(?:should|must|has to|needs to) be\s+{_NUMBER}\b", re.IGNORECASE)
_INSTEAD = re.compile(
    rf"{_NUMBER}[^\d]{{0,40}}?\b(?:instead of|rather than)\b[^\d]{{0,40}}?{_NUMBER}", re.IGNORECASE
)
_FROM_TO = re.compile(rf"\bfrom\s+{_NUMBER}\s+to\s+{_NUMBER}", re.IGNORECASE)
_TO_TEXT = re.compile(
    r"\b(?:change|set|update|switch)\b(?P<noun>.{0,60}?)\b(?:to|=)\s{1,4}(?=\S)", re.IGNORECASE
)
"""The new text is all that follows, of any length."""
_QUOTES = "\"“”'"
_RETRY = re.compile(
    r"\bretry (?:it |them |the (?:\w+ ){1,4})?(?P<count>once|twice|three|four|five|\d)\b"
    r"|\b(?P<count2>\d) (?:re)?tries\b"
)
_COUNTS = {"once": 1, "twice": 2, "three": 3, "four": 4, "five": 5}

_SYNONYMS = {
    "threshold": ("value",),
    "limit": ("rows", "k", "value"),
    "top": ("k",),
    "number": ("k", "rows"),
    "rows": ("rows", "k"),
    "timeout": ("timeout_s",),
    "time-out": ("timeout_s",),
    "retries": ("retries",),
    "tries": ("retries",),
    "days": ("value",),
    "recipient": ("to",),
    "address": ("to", "url"),
    "url": ("url",),
    "subject": ("subject",),
    "text": ("text",),
    "message": ("text",),
    "body": ("text",),
    "interval": ("every_s",),
    "filter": ("value",),
    "condition": ("value",),
}
"""Words for settings -> names of keys, likeliest first."""

_LIMITS = {"retries": "retries", "tries": "retries", "timeout": "timeout_s", "time-out": "timeout_s"}
"""Words for limits, which any step may have."""


@dataclass(frozen=True)
class _SettingValue:
    """A value inside the configuration of a node, or in the condition of an edge to it, by its place."""

    node: Node
    path: tuple[str | int, ...]
    value: Any
    edge: int | None = None

    @property
    def key(self) -> str:
        return next((part for part in reversed(self.path) if isinstance(part, str)), "")

    def describe(self) -> str:
        place = f"condition of {self.node.id}" if self.edge is not None else self.node.id
        return f"{place} {'.'.join(map(str, self.path))} (now {self.value})"

    def change_to(self, value: float, document: WorkflowDocument) -> WorkflowDocument:
        if self.edge is None:
            return set_config(document, self.node.id, _with_value(self.node.config, self.path, value))
        edges = document.to_json()["edges"]
        edges[self.edge]["condition"] = _with_value(edges[self.edge]["condition"], self.path, value)
        return WorkflowDocument.model_validate({**document.to_json(), "edges": edges})


def change_setting(message: str, document: WorkflowDocument) -> Change | None:
    """Return the change of one setting, a question if several may be meant, None if none is named."""
    retry = _RETRY.search(message.lower())
    if retry is not None:
        word = retry["count"] or retry["count2"]
        return _set_retries(message, document, _COUNTS.get(word) or int(word))
    instead, moved = _INSTEAD.search(message), _FROM_TO.search(message)
    if instead is not None or moved is not None:
        new, old = (
            (instead[1], instead[2]) if instead is not None else (moved[2], moved[1]) if moved else ("", "")
        )
        # The old value names the setting, better than any noun.
        leaves = [leaf for leaf in _numbers(document) if leaf.value == _parse(old)]
        return _replace(leaves or [], _parse(new), document, f"{old} stands nowhere in this workflow.")
    number = _TO_NUMBER.search(message) or _SHOULD_BE.search(message)
    if number is not None:
        return _set_number(number["noun"], _parse(number[2]), document)
    setting = _TO_TEXT.search(message)
    if setting is None:
        return None
    text = message[setting.end() :].rstrip(" .!")
    return _set_text(setting["noun"], text.strip(_QUOTES), document) if text else None


def _set_number(noun: str, value: float, document: WorkflowDocument) -> Change:
    words = re.findall(r"[a-z_][\w-]*", noun.lower())
    nodes = {node.id for node in find_nodes(noun, document)}
    leaves = list(_numbers(document))
    # Nodes that the noun names go first; `the threshold` names none, and may be of any.
    inside = [leaf for leaf in leaves if leaf.node.id in nodes] or leaves
    limit = next((_LIMITS[word] for word in words if word in _LIMITS), None)
    if limit is not None and all(leaf.key != limit for leaf in inside):
        return _set_limit(limit, value, document, nodes)
    # Words as they stand come first: `rows` is a key of its own.
    for word in (*words, *(word.removesuffix("s") for word in words)):
        for key in (word, *_SYNONYMS.get(word, ())):
            matching = [leaf for leaf in inside if leaf.key == key]
            if matching:
                return _replace(matching, value, document, "")
    return _replace(
        inside if nodes else [], value, document, f"No number of this workflow is meant by {noun.strip()!r}."
    )


def _set_text(noun: str, value: str, document: WorkflowDocument) -> Change | None:
    words = re.findall(r"[a-z_][\w-]*", noun.lower())
    keys = [key for word in words for key in (word, *_SYNONYMS.get(word, ()))]
    targets = find_nodes(noun, document) or [
        node for node in document.nodes if node.type in ("notify", "http_request")
    ]
    fitting = {"to": "notify", "subject": "notify", "text": "notify", "url": "http_request"}
    for key in keys:
        nodes = [node for node in targets if key in node.config or fitting.get(key) == node.type]
        if len(nodes) == 1:
            config = {**nodes[0].config, key: value.strip()}
            return ChangedDocument(
                set_config(document, nodes[0].id, config), f"Set {key} of {nodes[0].id} to {value.strip()}."
            )
        if len(nodes) > 1:
            return ChangeQuestion(f"Of which step is {key} to be changed?", tuple(node.id for node in nodes))
    return None


def _set_retries(message: str, document: WorkflowDocument, count: int) -> Change:
    return _set_limit("retries", count, document, {node.id for node in find_nodes(message, document)})


def _set_limit(key: str, value: float, document: WorkflowDocument, ids: set[str]) -> Change:
    """Set retries or a time limit: of requests, messages and studies in their configuration."""
    configured = ("http_request", "notify") if key == "retries" else ("http_request", "study")
    own = [node for node in document.nodes if node.type in configured]
    meant = [node for node in document.nodes if node.id in ids and (node in own or can_have_limit(node, key))]
    nodes = meant or own
    if len(nodes) != 1:
        reason = "Which step?" if nodes else f"Which step is to have {key}?"
        options = nodes or [node for node in document.nodes if can_have_limit(node, key)]
        return ChangeQuestion(reason, tuple(node.id for node in options))
    number = int(value) if float(value).is_integer() else value
    node = nodes[0]
    try:
        changed = (
            set_config(document, node.id, {**node.config, key: number})
            if node in own
            else set_limit(document, node.id, key, number)
        )
    except ValidationError as error:
        reason = error.errors(include_url=False, include_input=False)[0]["msg"]
        return ChangeQuestion(f"{key} of {node.id} cannot be {number}: {reason}. What is it to be?")
    return ChangedDocument(changed, f"Set {key} of {node.id} to {number}.")


def _replace(leaves: list[_SettingValue], value: float, document: WorkflowDocument, reason: str) -> Change:
    if len(leaves) != 1:
        text = "Several numbers may be meant. Which one?" if leaves else f"{reason} Which setting is it?"
        choices = leaves or list(_numbers(document))
        return ChangeQuestion(text, tuple(leaf.describe() for leaf in choices[:20]))
    leaf = leaves[0]
    number = int(value) if float(value).is_integer() else value
    return ChangedDocument(leaf.change_to(number, document), f"Change {leaf.describe()} to {number}.")


def _numbers(document: WorkflowDocument) -> Iterator[_SettingValue]:
    for node in document.nodes:
        for path, value in _leaves(node.config, ()):
            # True and False are numbers to Python, but no setting that `change 1 to 5` means.
            if isinstance(value, int | float) and not isinstance(value, bool):
                yield _SettingValue(node, path, value)
    nodes = nodes_by_id(document)
    for place, edge in enumerate(document.edges):
        value = None if edge.condition is None else edge.condition.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield _SettingValue(nodes[edge.target], ("value",), value, place)


def _leaves(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _leaves(child, (*path, str(key)))
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield from _leaves(child, (*path, place))
    else:
        yield path, value


def _with_value(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_with_value(child, rest, new) if place == first else child for place, child in enumerate(value)]
    return {key: _with_value(child, rest, new) if key == first else child for key, child in value.items()}


def _parse(text: str) -> float:
    return float(text.replace(",", ""))
