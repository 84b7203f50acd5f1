"""Features of columns by their links with a goal, for `column_ranking`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.columns.links import ColumnLinks, WordLink, link_columns, softmax
from app.agents.goals.goal import Goal
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words

if TYPE_CHECKING:
    import numpy as np

_MIN_LOG_SHARE, _LOG_SCALE = -8.0, 4.0
"""Logarithm of the least share that counts, and what it is divided by: features have about the size of 1."""
_PLACES = {
    Part.HEAD: "head",
    Part.MODIFIER: "beside_head",
    Part.COMPLEMENT: "beside_head",
    Part.ENTITY: "rows",
    Part.CIRCUMSTANCE: "elsewhere",
}


class LinkFeatures(NamedTuple):
    """Features of each column, and of the case that none of them is meant."""

    columns: list[dict[str, float]]
    none: dict[str, float]


def link_features(goal: Goal, columns: Sequence[tuple[TableProfile, Column]]) -> LinkFeatures:
    """Return the features by meaning: none in wide tables."""
    links = link_columns(goal.text, columns)
    if links is None:
        return LinkFeatures([{} for _ in columns], {})
    import numpy as np  # noqa: PLC0415

    # Inputs, causes and exclusions are about other columns than the target: it is read without them.
    request_links = link_columns(goal.request_text, columns) or links
    logs = np.maximum(np.log(softmax(request_links.targets) + 1e-9), _MIN_LOG_SHARE) / _LOG_SCALE
    by_place = _strongest_by_place(goal, links)
    return LinkFeatures(
        [
            {"linked": float(logs[number])}
            | {f"linked_{place}": float(shares[number]) for place, shares in by_place.items()}
            for number in range(len(columns))
        ],
        {"none_linked": float(logs[-1])}
        | {f"none_linked_{place}": float(shares[-1]) for place, shares in by_place.items()},
    )


def _strongest_by_place(goal: Goal, links: ColumnLinks) -> "dict[str, np.ndarray]":
    """Return the highest probability of each column, and the lowest of none, among the words of each part."""
    import numpy as np  # noqa: PLC0415

    parts: dict[str, Part] = {}
    for word in goal_words(goal.target_text):
        if word.word not in parts or parts[word.word].value < word.part.value:
            parts[word.word] = word.part
    inputs = set(words(goal.input_text))
    shares: dict[str, np.ndarray] = {}
    for link in links.words:
        if place := _place(link, parts, inputs):
            own = softmax(link.logits)
            best = shares.get(place)
            if best is None:
                shares[place] = own
            else:
                shares[place] = np.append(np.maximum(best[:-1], own[:-1]), min(best[-1], own[-1]))
    return shares


def _place(link: WordLink, parts: dict[str, Part], inputs: set[str]) -> str | None:
    if link.word in parts:
        return _PLACES[parts[link.word]]
    return "inputs" if link.word in inputs else None
