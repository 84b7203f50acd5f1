"""Answers to the question of what to predict: a column, a comparison of a column with a number, or words."""

import re
from dataclasses import dataclass

from app.agents.goals.phrases.thresholds import Threshold

_COMPARISON = re.compile(
    r"(?P<sign>>=|<=|>|<|\b(?:above|over|below|under)\b) {0,3}(?P<value>-?\d[\d,_]{0,30}(?:\.\d{1,20})?)$",
    re.IGNORECASE,
)
_LOWER_SIDES = frozenset({"<", "<=", "below", "under"})


@dataclass(frozen=True)
class TargetAnswer:
    """`target_name` and `threshold` of an answer like `arr_delay > 15`; both None for any other answer."""

    target_name: str | None = None
    threshold: Threshold | None = None


def parse_target_answer(answer: str) -> TargetAnswer:
    """Parse an answer that compares a column with a number."""
    answer = answer.strip()
    comparison = _COMPARISON.search(answer)
    # "> 15" alone names no column.
    if comparison is None or not comparison.start():
        return TargetAnswer()
    value = float(comparison["value"].replace(",", "").replace("_", ""))
    is_above = comparison["sign"].casefold() not in _LOWER_SIDES
    return TargetAnswer(answer[: comparison.start()].strip("` "), Threshold(is_above, value))
