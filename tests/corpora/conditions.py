"""Phrases that make steps of a workflow depend on its rows, with the steps that run for each of some tables."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.corpora.tables import Half

from app.workflows.document import WorkflowDocument

_DIRECTORY = Path(__file__).parent / "conditions"
COLUMNS = {"city": "text", "price": "number", "quantity": "integer", "status": "text"}
"""Columns of the dataset `orders`, which all of the workflows read, with their types."""
ORDERS = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True)
class ConditionPhrase:
    """`runs`: name of a table of `TABLES` -> effects of its run, as `email`, `slack:ops` or `store:name`."""

    workflow: str
    phrase: str
    runs: Mapping[str, Sequence[str]]


def load_condition_phrases(half: Half) -> list[ConditionPhrase]:
    """Load the phrases of a half. Raises ValueError for one that belongs to the other."""
    phrases = []
    for line in (_DIRECTORY / half / "phrases.jsonl").read_text("utf-8").splitlines():
        phrase = ConditionPhrase(**json.loads(line))
        if half_of(phrase) != half or not phrase.runs.keys() <= TABLES.keys():
            raise ValueError(f"{line} does not belong to the {half} half")
        phrases.append(phrase)
    return phrases


def half_of(phrase: ConditionPhrase) -> Half:
    digest = int(hashlib.sha256(f"{phrase.workflow}: {phrase.phrase}".encode()).hexdigest(), 16)
    return "untuned" if digest % 2 else "tuned"


def _make_rows(prices: Sequence[float], quantity: int, states: Sequence[str]) -> list[tuple[Any, ...]]:
    return [
        (f"City {number}", price, quantity, state)
        for number, (price, state) in enumerate(zip(prices, states, strict=True))
    ]


TABLES: Mapping[str, Sequence[tuple[Any, ...]]] = {
    "none": [],
    "three": _make_rows([20, 50, 90], 2, ["paid", "paid", "open"]),
    "twelve": _make_rows([15 + 5 * number for number in range(12)], 3, ["paid"] * 12),
    "bargain": _make_rows([4, 30, 60, 80, 90], 1, ["paid"] * 5),
    "dear": _make_rows([120, 200, 300, 450], 2, ["paid"] * 4),
}
"""Rows of `orders`, by name."""


def _make_document(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> WorkflowDocument:
    orders = {"id": "orders", "type": "read_dataset", "config": {"dataset_id": ORDERS}}
    return WorkflowDocument.model_validate({"nodes": [orders, *nodes], "edges": [*edges]})


_CHEAP = {
    "id": "cheap",
    "type": "filter",
    "config": {
        "condition": {
            "kind": "compare",
            "op": "<",
            "left": {"kind": "column", "name": "price"},
            "right": {"kind": "literal", "value": 100},
        }
    },
}
_SORTED = {"id": "sorted", "type": "sort", "config": {"keys": [{"column": "price"}]}}
_EMAIL = {"id": "email", "type": "notify", "config": {"channel": "email"}}
_LOW = {
    "id": "low",
    "type": "condition",
    "config": {"function": "min", "column": "price", "op": "<", "value": 50},
}
_MANY = {"field": "rows", "op": ">", "value": 4}

WORKFLOWS: Mapping[str, WorkflowDocument] = {
    "plain": _make_document([_SORTED], [{"from": "orders", "to": "sorted"}]),
    "mail": _make_document(
        [_CHEAP, _EMAIL], [{"from": "orders", "to": "cheap"}, {"from": "cheap", "to": "email"}]
    ),
    "branch": _make_document(
        [_CHEAP, _EMAIL],
        [{"from": "orders", "to": "cheap"}, {"from": "cheap", "to": "email", "condition": _MANY}],
    ),
    "figure": _make_document([_LOW, _EMAIL], [{"from": "orders", "to": "low"}, {"from": "low", "to": "email"}]),
}
"""Workflows that the phrases change, by name."""
