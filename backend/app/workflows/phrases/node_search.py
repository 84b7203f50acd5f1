"""Nodes that words mean: by id, by type, by place."""

import re

from app.workflows.document import Node, WorkflowDocument
from app.workflows.validation import sort_nodes

_TYPE_WORDS = {
    "filter": "filter",
    "sort": "sort|order",
    "top_k": "top|top k|ranking",
    "limit": "limit",
    "join": "join",
    "union": "union",
    "distinct": "distinct|duplicates?|dedup\\w*",
    "group_by": "group|grouping|totals?|aggregation",
    "select": "select|selection",
    "derive": "derive|column|calculation",
    "pivot": "pivot",
    "read_dataset": "read|dataset|source|import|load|download|input",
    "read_result": "read|result|source|input",
    "http_request": "http|request|fetch|api|download|call",
    "notify": "notify|notification|notifier|e-?mail|mail|message|slack|alert|sms|webhook|warning",
    "condition": "condition|check|test|if",
    "approve": "approv\\w+|confirmation|sign-?off",
    "predict": "predict|predictions?|forecast|scoring",
    "study": "study|training|train",
    "chart": "chart|plot|graph|drawing|histogram",
    "store": "store|stored|save|dataset",
    "for_each": "for each|loop|each",
    "trigger": "trigger|schedule|cron|timer|(?:daily|hourly|nightly|weekly|monthly) run",
    "sql": "sql|query",
    "agent": "agent|analyst|assistant",
    "python": "python|program|script|code|processing",
}
_CHANNEL_WORDS = {"email": "e-?mail|mail", "slack": "slack", "webhook": "webhook"}
_ORDINALS = {"first": 0, "second": 1, "third": 2, "last": -1, "final": -1}
_NUMBER = re.compile(r"\b(?:step|node) (\d{1,3})\b")


def find_nodes(words: str, document: WorkflowDocument) -> list[Node]:
    """Return the nodes that the words mean, in the order in which they run.

    None, one, or several to ask about.
    """
    text = words.lower().strip(" .!?\"'")
    order = {node_id: place for place, node_id in enumerate(sort_nodes(document))}
    nodes = sorted(document.nodes, key=lambda node: order[node.id])
    exact = [node for node in nodes if re.search(rf"(?<![\w-]){re.escape(node.id.lower())}(?![\w-])", text)]
    if not exact:
        spaced = text.replace("_", " ")
        exact = [
            node for node in nodes if re.search(rf"\b{re.escape(node.id.lower().replace('_', ' '))}\b", spaced)
        ]
    # Ids before types: a node named `filter_paid` is meant by its name, not as any filter.
    candidates = exact or [node for node in nodes if has_type_words(node, text)]
    ordinal = next((place for word, place in _ORDINALS.items() if re.search(rf"\b{word}\b", text)), None)
    if ordinal is not None:
        steps = candidates or [node for node in nodes if node.type != "trigger"]
        return [steps[ordinal]] if steps and -len(steps) <= ordinal < len(steps) else []
    number = _NUMBER.search(text)
    # A number counts steps only where nothing else is named: `filter 2` may be an id.
    if number is not None and not candidates:
        place = int(number[1]) - 1
        return [nodes[place]] if place < len(nodes) else []
    return candidates


def has_type_words(node: Node, text: str) -> bool:
    """Check words for one that names the type of a node, and no other channel than that of its messages."""
    words = _TYPE_WORDS.get(node.type, re.escape(node.type))
    channel = node.config.get("channel") if node.type == "notify" else None
    if isinstance(channel, str):
        others = "|".join(words for name, words in _CHANNEL_WORDS.items() if name != channel)
        if re.search(rf"\b(?:{others})s?\b", text) and not re.search(
            rf"\b(?:{_CHANNEL_WORDS[channel]})s?\b", text
        ):
            return False
    return re.search(rf"\b(?:{words})s?\b", text) is not None
