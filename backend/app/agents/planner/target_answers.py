"""Answers to the question of what to predict: a column, a comparison of a column with a number, or words."""

import re
from dataclasses import dataclass, field

from app.agents.goals.conditions.row_conditions import Operator, RowCondition
from app.agents.goals.phrases.thresholds import Threshold

_COMPARISON = re.compile(
    r"(?P<sign>>=|<=|>|<|\b(?:above|over|below|under)\b) {0,3}(?P<value>-?\d[\d,_]{0,30}(?:\.\d{1,20})?)$",
    re.IGNORECASE,
)
_LOWER_SIDES = frozenset({"<", "<=", "below", "under"})
_OPERATORS: dict[str, Operator] = {">=": "at_least", "<=": "at_most"}
"""Operators of signs that include the number."""


@dataclass(frozen=True)
class TargetAnswer:
    """`target_name` and `threshold` of an answer like `arr_delay > 15`; both None for any other answer."""

    target_name: str | None = None
    threshold: Threshold | None = None
    operator: Operator = field(default="above", compare=False)
    """The comparison, if it is one of rows."""

    @property
    def condition(self) -> RowCondition | None:
        """The rows that meet the comparison."""
        if self.target_name is None or self.threshold is None:
            return None
        return RowCondition(column=self.target_name, operator=self.operator, values=[self.threshold.value])


def parse_target_answer(answer: str) -> TargetAnswer:
    """Parse an answer that compares a column with a number."""
    answer = answer.strip()
    comparison = _COMPARISON.search(answer)
    # "> 15" alone names no column.
    if comparison is None or not comparison.start():
        return TargetAnswer()
    value = float(comparison["value"].replace(",", "").replace("_", ""))
    sign = comparison["sign"].casefold()
    is_above = sign not in _LOWER_SIDES
    operator: Operator = _OPERATORS.get(sign, "above" if is_above else "below")
    threshold = Threshold(is_above, value, is_inclusive=sign in _OPERATORS)
    return TargetAnswer(answer[: comparison.start()].strip("` "), threshold, operator)
