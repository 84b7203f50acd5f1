"""Probabilities that a goal means each column of its tables: a conditional logit over `column_features`.

The weights were fitted to the tuned half of the corpus of goals by `scripts/fit_column_weights.py`. A logit
states how sure it is: of the columns with a probability of 0.8, some 80 % are meant.
"""

import json
from collections.abc import Sequence
from functools import cache
from math import exp
from pathlib import Path

from app.agents.goals.column_features import GoalWords, column_features, name_scores, no_column_features
from app.agents.goals.goal import Goal
from app.agents.goals.tables import Column, TableProfile

_FILE = Path(__file__).with_name("column_weights.json")


@cache
def _weights() -> dict[str, float]:
    weights: dict[str, float] = json.loads(_FILE.read_text(encoding="utf-8"))
    return weights


def rank_columns(goal: Goal, columns: Sequence[tuple[TableProfile, Column]]) -> list[float]:
    """Return the probability of each column that the goal means it as its target.

    They sum to less than 1: the goal may mean none of them.
    """
    if not columns:
        return []
    weights, goal_words = _weights(), GoalWords(goal)
    scores = name_scores(goal, columns)
    best = max(scores)
    rows = [
        column_features(goal_words, table, column, score, best)
        for (table, column), score in zip(columns, scores, strict=True)
    ]
    rows.append(no_column_features(goal_words, [table for table, _ in columns], rows))
    logits = [sum(weights.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    highest = max(logits)
    shares = [exp(logit - highest) for logit in logits]
    return [share / sum(shares) for share in shares[:-1]]
