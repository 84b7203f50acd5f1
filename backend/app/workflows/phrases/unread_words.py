"""Words of a request that carry meaning and that a change of a workflow does not account for.

The readers of single changes search for phrases, so they pass over words between them. Most words may be
passed over; a negation, a limit, a number, a day, a name or a second step may not.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from app.agents.goals.words.stemming import stem
from app.number_words import ABOVE_ONE
from app.workflows.differences import WorkflowDifference, compare_documents
from app.workflows.document import Node, WorkflowDocument
from app.workflows.phrases.change import ChangedDocument
from app.workflows.phrases.node_search import has_type_words

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019]t\b)?|(?<!\w)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|%")
_ADDRESS = re.compile(r"https?://[^\s\"'<>]{1,2000}|[\w.+-]{1,64}@[\w.-]{1,255}")
_CARRIERS: Mapping[str, str] = {
    "negation": "not no never none nothing nobody neither nor without don't doesn't isn't aren't won't can't "
    "cannot didn't hasn't",
    "exception": "except excepting excluding besides apart unless",
    "condition": "if unless otherwise else provided",
    "limit": "only maximum minimum most least",
    "end": "until till",
    "time": "sunday monday tuesday wednesday thursday friday saturday sundays mondays tuesdays wednesdays "
    "thursdays fridays saturdays january february march april june july august september october november "
    "december daily hourly nightly weekly monthly yearly quarterly day days weekday weekdays workday workdays "
    "weekend weekends week weeks month months quarter quarters year years hour hours minute minutes morning "
    "mornings noon afternoon evening evenings night nights midnight holiday holidays today tomorrow yesterday "
    "twice",
    "exchange": "instead rather",
    "distinct": "duplicate duplicates dedup deduplicate",
    "filter": "filter",
    "sort": "sort",
    "chart": "chart plot",
    "predict": "predict forecast",
    "notify": "email mail slack notify alert",
    "approve": "approval",
}
"""Kinds of words that carry meaning, and names of steps by the type of node.

`may` is left out of the months: it is a verb more often."""
_KINDS = frozenset(word for words in _CARRIERS.values() for word in words.split())
_ACCOUNTS: Mapping[str, Collection[str]] = {
    "test": ("negation", "exception", "condition", "limit"),
    "failed": ("condition",),
    "filter": ("negation", "exception", "limit"),
    "trigger": ("time", "limit"),
    "stopped": ("negation", "time"),
    "removed": ("negation", "exchange"),
    "renamed": ("exchange",),
    "changed": ("exchange", "limit"),
    "moved": ("exchange",),
    "top_k": ("limit",),
    "limit": ("limit",),
    "select": ("limit",),
    "group_by": ("limit",),
    "distinct": ("limit",),
}
"""Type of a changed node, or what was done to the graph -> the kinds of words that it may account for."""
_COUNTS = {**ABOVE_ONE, "zero": 0, "twice": 2}
_SECONDS = (60, 3_600, 86_400, 604_800)
"""Units of an interval or a time limit, in seconds: `every 15 minutes` is 900."""


def find_unread_words(
    words: str, before: WorkflowDocument, change: ChangedDocument, columns: Collection[str]
) -> list[str]:
    """Return the words that a change does not account for, neighbours together; none if nothing changes."""
    difference = compare_documents(before, change.document)
    if not difference.text:
        return []
    nodes = [*_list_changed_nodes(difference)]
    # What a change shows to its author accounts for a word: the difference, the summary and the new settings.
    text = " ".join((difference.text, change.summary, *(json.dumps(node.config) for node in nodes))).lower()
    tokens = set(_WORD.findall(text))
    stems = {stem(token) for token in tokens}
    numbers = {value for token in tokens for value in _list_equal_numbers(token)}
    ids = _list_ids(difference)
    changed_nodes = [node for node in (*before.nodes, *change.document.nodes) if node.id in ids]
    others = [node for node in before.nodes if node.id not in ids]
    aspects = {*_list_aspects(difference), *(node.type for node in nodes)}
    kinds = {kind for aspect in aspects for kind in (aspect, *_ACCOUNTS.get(aspect, ())) if kind in _CARRIERS}
    accountable = {word for kind in kinds for word in _CARRIERS[kind].split()}
    column_words = {word for column in columns for word in _WORD.findall(column.lower())}

    def is_read(match: re.Match[str]) -> bool:
        word = match[0].lower().replace("\u2019", "'")
        if word in tokens or stem(word) in stems:
            return True
        number = _read_number(word)
        if number is not None and number in numbers:
            return True
        if any(has_type_words(node, word) for node in changed_nodes):
            return True
        # Only a change of its kind accounts for such a word: a filter does for `not`, a new time does not.
        if word in _KINDS:
            return word in accountable
        if number is not None:
            return False
        # A capital within a sentence: the first word has one anyway, and abbreviations are mostly units.
        is_name = match[0][0].isupper() and match.start() > 0 and len(word) > 2 and not match[0].isupper()
        return not (is_name or word in column_words or any(has_type_words(node, word) for node in others))

    # Addresses first and as a whole: their parts would be judged as words.
    unread = [match[0] for match in _ADDRESS.finditer(words) if match[0].lower().rstrip(".,;") not in text]
    return unread or _join_unread(words, is_read)


def _join_unread(words: str, is_read: Callable[[re.Match[str]], bool]) -> list[str]:
    """Return the stretches of words that are not read, as they stand."""
    spans: list[tuple[int, int]] = []
    is_open = False
    for match in _WORD.finditer(words):
        if is_read(match):
            is_open = False
        elif is_open:
            spans[-1] = (spans[-1][0], match.end())
        else:
            spans.append(match.span())
            is_open = True
    return [words[slice(*span)] for span in spans]


def _read_number(word: str) -> float | None:
    return float(word.replace(",", "")) if word[0].isdigit() else _COUNTS.get(word)


def _list_equal_numbers(token: str) -> Iterator[float]:
    """List a number in each unit of time, and an hour of the afternoon as clocks show it."""
    value = _read_number(token)
    if value is not None:
        yield value
        yield from (value / seconds for seconds in _SECONDS if value >= seconds)
        if 12 < value < 24:
            yield value - 12


def _list_changed_nodes(difference: WorkflowDifference) -> Iterator[Node]:
    """List the nodes that were added, removed or changed, with those inside of loops."""
    yield from (*difference.nodes_added, *difference.nodes_removed)
    for changed in difference.nodes_changed:
        yield from (changed.before, changed.after)
    for node in difference.nodes_added:
        if node.type == "for_each":
            yield from (Node.model_validate(inner) for inner in node.config.get("nodes", []))


def _list_aspects(difference: WorkflowDifference) -> Iterator[str]:
    """List what a change does to the graph, for the words that it may account for."""
    added, removed = difference.nodes_added, difference.nodes_removed
    edges = (*difference.edges_added, *difference.edges_removed)
    if removed:
        yield "renamed" if added else "removed"
    elif not added and difference.edges_added:
        yield "moved"
    if difference.nodes_changed or difference.edges_changed:
        yield "changed"
    has_test = any(edge.condition for edge in edges) or difference.edges_changed
    if has_test or any(node.type == "condition" for node in (*added, *removed)):
        yield "test"
    retries = any(
        _count_retries(changed.before) != _count_retries(changed.after) for changed in difference.nodes_changed
    )
    if retries or any(node.config.get("when") == "failed" for node in added):
        yield "failed"
    if any(changed.after.config.get("enabled") is False for changed in difference.nodes_changed):
        yield "stopped"


def _count_retries(node: Node) -> Any:
    return node.retries or node.config.get("retries")


def _list_ids(difference: WorkflowDifference) -> set[str]:
    placed = {(edge.source, edge.target) for edge in (*difference.edges_added, *difference.edges_removed)}
    placed |= {(edge.source, edge.target) for edge in difference.edges_changed}
    ends = {end for pair in placed for end in pair}
    return ends | {node.id for node in _list_changed_nodes(difference)}
