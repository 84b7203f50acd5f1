"""Probabilities that a goal means each column of its tables: a conditional logit over `column_features`.

`scripts/fit_column_weights.py` fits the weights to the tuned half of the corpus and the training goals. A logit
states how sure it is: of the columns with a probability of 0.8, some 80 % are meant.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp
from pathlib import Path
from typing import NamedTuple

from app.agents.goals.columns.features import GoalWords, column_features, name_scores, no_column_features
from app.agents.goals.columns.link_features import link_features
from app.agents.goals.goal import Goal
from app.agents.goals.tables.profiles import Column, TableProfile

_FILE = Path(__file__).with_name("weights.json")


@cache
def _weights() -> dict[str, float]:
    weights: dict[str, float] = json.loads(_FILE.read_text(encoding="utf-8"))
    return weights


class ColumnRank(NamedTuple):
    """The probability of a column that the goal means it, and whether words of the goal have to do with it.

    `is_supported`: a word for what is asked for means the column by more than a likeness of meaning.
    `is_agreed`: the words of the goal and the other reader both make it the likeliest.
    """

    probability: float
    has_evidence: bool
    is_supported: bool = True
    is_agreed: bool = False


EVIDENCE = ("name", "concept_head", "concept_beside", "concept_elsewhere", "value_concept", "class_at_head")
"""Features by which words of a goal point to a column; the others only say that it is the kind of column."""
MIN_EVIDENCE = 0.1
"""Value of such a feature from which a word points to the column: weak phrases of the lexicon have more."""

LEARNED_WEIGHT, MIN_SHARE = 0.35, 1e-3
"""Weight of the probabilities of another reader, and the least that a column has. Of the targets of half of
the held-out training goals that have a probability of 0.7, 291 are right and 53 wrong without the other reader,
and 325 and 47, 332 and 50, 347 and 57 with a weight of 0.35, 0.5 and 0.75."""
LINKS = ("linked_head", "linked_beside_head", "linked_elsewhere")
MIN_LINK = 0.3
"""Probability of a column from which a word of the goal is linked with it."""


def rank_columns(goal: Goal, columns: Sequence[tuple[TableProfile, Column]]) -> list[float]:
    """Return the probability of each column that the goal means it as its target.

    They sum to less than 1: the goal may mean none of them.
    """
    return [rank.probability for rank in weigh_columns(goal, columns)]


MIN_MEASURE_PROBABILITY = 0.6
"""Probability from which a number is measured instead of counting rows: the weights were fitted to goals that
mean a column, and make too much of the columns of those that count."""
MIN_MEANT_PROBABILITY = 0.8
"""The same for a phrase that may mean no column. Of 316 goals for a column that was taken from their table 26 %
mean another one from 0.6, and 14 % from 0.8."""


def likeliest_column(
    goal: Goal,
    table: TableProfile,
    candidates: Sequence[Column],
    min_probability: float = MIN_MEASURE_PROBABILITY,
) -> Column | None:
    """Return the candidate that the goal probably means; None if it hardly means any."""
    # All columns are ranked, since the candidates alone would share the probability of what is meant.
    probabilities = rank_columns(goal, [(table, column) for column in table.columns])
    by_name = dict(zip((column.name for column in table.columns), probabilities, strict=True))
    likeliest = max(candidates, key=lambda column: by_name[column.name], default=None)
    return likeliest if likeliest and by_name[likeliest.name] >= min_probability else None


def weigh_columns(
    goal: Goal,
    columns: Sequence[tuple[TableProfile, Column]],
    learned: Mapping[tuple[str, str], float] | None = None,
) -> list[ColumnRank]:
    """Return the rank of each column as the goal's target.

    `learned`: probabilities by the names of table and column that another reader has come to.
    """
    if not columns:
        return []
    tables = tuple(dict.fromkeys(table for table, _ in columns))
    weights, goal_words = _weights(), GoalWords(goal, tables)
    scores = name_scores(goal, columns)
    best = max(scores)
    links = link_features(goal, columns)
    rows = [
        {**column_features(goal_words, table, column, score, best), **linked}
        for (table, column), score, linked in zip(columns, scores, links.columns, strict=True)
    ]
    rows.append({**no_column_features(goal_words, [table for table, _ in columns], rows), **links.none})
    shares = _softmax([sum(weights.get(name, 0.0) * value for name, value in row.items()) for row in rows])
    agreed = None
    if learned is not None:
        others = [learned.get((table.name, column.name)) for table, column in columns]
        agreed = _agreed_place(shares[:-1], others)
        shares = _joined(shares, others)
    return [
        ColumnRank(share, _has_evidence(row), _is_supported(row), place == agreed)
        for place, (share, row) in enumerate(zip(shares[:-1], rows[:-1], strict=True))
    ]


def _agreed_place(shares: Sequence[float], others: Sequence[float | None]) -> int | None:
    """Return the place of the column that both readers have first; None where they differ."""
    likeliest = max(range(len(shares)), key=lambda place: shares[place])
    highest = max((other for other in others if other is not None), default=0.0)
    return likeliest if highest and others[likeliest] == highest else None


def _softmax(logits: Sequence[float]) -> list[float]:
    highest = max(logits)
    shares = [exp(logit - highest) for logit in logits]
    total = sum(shares)
    return [share / total for share in shares]


def _joined(shares: Sequence[float], others: Sequence[float | None]) -> list[float]:
    """Join the probabilities of columns with those of another reader: a weighted geometric mean.

    The last of `shares` is that of no column, which stays: the other reader tells which column, not whether one
    is meant. So does that of a column that the other has not seen, because it was derived (None).
    """
    *by_words, none = shares
    joined = [
        max(share, MIN_SHARE) if other is None else _mean(share, (1 - none) * other)
        for share, other in zip(by_words, others, strict=True)
    ]
    scale = (1 - none) / sum(joined)
    return [*(share * scale for share in joined), none]


def _mean(first: float, second: float) -> float:
    return float(max(first, MIN_SHARE) ** (1 - LEARNED_WEIGHT) * max(second, MIN_SHARE) ** LEARNED_WEIGHT)


def _has_evidence(row: Mapping[str, float]) -> bool:
    by_word = any(row.get(name, 0.0) >= MIN_EVIDENCE for name in EVIDENCE)
    return by_word or max(row.get(name, 0.0) for name in LINKS) >= MIN_LINK


_HEAD_WORDS = ("name_at_head", "synonym_at_head", "class_at_head", "quantity_agrees", "is_written", "is_quoted")
_OTHER_WORDS = (
    *("name_beside_head", "name_at_rows", "name_elsewhere", "synonym_beside_head", "synonym_at_rows"),
    *("synonym_elsewhere", "class_beside_head", "class_at_rows", "class_elsewhere", "has_unit_of_goal"),
)
_HEAD_CONCEPTS, _OTHER_CONCEPTS = (
    ("concept_head", "value_concept"),
    ("concept_beside", "concept_elsewhere", "value_elsewhere"),
)
"""Features by which words mean a column: as the head of the request, and elsewhere."""


def _is_supported(row: Mapping[str, float]) -> bool:
    """Test if words speak for a column itself, and not for what has it: "the price of milk" of `milk`."""
    if _has_any(row, _HEAD_WORDS, _HEAD_CONCEPTS):
        return True
    if row.get("quantity_differs") or not _has_any(row, _OTHER_WORDS, _OTHER_CONCEPTS):
        return False
    # "The colour of the gift wrap" asks for no `gift_wrap`; tables that are too wide have no links.
    return not row.get("name_beside_head") or row.get(LINKS[0], 1.0) >= MIN_LINK


def _has_any(row: Mapping[str, float], features: Sequence[str], concepts: Sequence[str]) -> bool:
    is_concept = any(row.get(name, 0.0) >= MIN_EVIDENCE for name in concepts)
    return is_concept or any(row.get(name) for name in features)
