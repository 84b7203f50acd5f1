"""Costs of prediction errors in the words of a goal."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from app.agents.goals.words.typed_pattern import TypedPattern
from app.agents.goals.words.vocabulary import COUNT_WORDS

_MISS = (
    r"(?:(?:an? |one )?miss(?:ed|es|ing)?(?: an?| one| the)?(?: \w+){0,2}?|(?:an? |one )?false negatives?"
    r"|not (?:finding|catching|detecting)(?: an?| one)?(?: \w+)?)"
)
_ALARM = r"(?:(?:an? |one |the )?(?:false|wrong|needless) (?:alarms?|positives?|alerts?))"
_TIMES = rf"(?P<times>\d+(?:\.\d+)?|{'|'.join(COUNT_WORDS)}|twice|thrice)(?:\s*(?:times|x|-?fold))?"
_AS = r"(?:(?: \w+){0,4}? (?:than|as))?"
_COST = r"(?:is|are|costs?|counts?|weighs?|matters?|hurts?)(?: us| about| roughly)*"
_GAP, _NO_NUMBER = r"[^.;]{0,200}?", r"[^.;\d]{0,100}?"
"""Characters between the parts of a phrase: two short clauses. Unbounded, the search would be quadratic."""
_AMOUNT = r"[$\u20ac\u00a3]?\s*(?P<{}>\d[\d,]*(?:\.\d+)?)"


@dataclass(frozen=True)
class MistakeCosts:
    """Cost of a false alarm and of a missed positive, in the same unit."""

    false_alarm: float
    missed: float


class _CostGroups(NamedTuple):
    """Numbers of a phrase about costs: a ratio, or two amounts."""

    times: str | None = None
    missed: str | None = None
    false_alarm: str | None = None

    @property
    def ratio(self) -> float:
        text = (self.times or "").lower()
        return {"twice": 2.0, "thrice": 3.0}.get(text) or float(COUNT_WORDS.get(text) or text)

    @property
    def amounts(self) -> MistakeCosts:
        return MistakeCosts(
            *(float(text.replace(",", "")) for text in (self.false_alarm or "", self.missed or ""))
        )


def _phrase(pattern: str) -> TypedPattern[_CostGroups]:
    return TypedPattern(re.compile(pattern, re.IGNORECASE), _CostGroups)


_PHRASES: tuple[tuple[TypedPattern[_CostGroups], Callable[[_CostGroups], MistakeCosts]], ...] = (
    (_phrase(rf"\b{_MISS} {_COST} {_TIMES}{_AS} {_ALARM}"), lambda costs: MistakeCosts(1.0, costs.ratio)),
    (_phrase(rf"\b{_ALARM} {_COST} {_TIMES}{_AS} {_MISS}"), lambda costs: MistakeCosts(costs.ratio, 1.0)),
    (
        _phrase(
            rf"\b{_MISS} {_COST} {_AMOUNT.format('missed')}"
            rf"{_GAP}\b{_ALARM}{_NO_NUMBER}{_AMOUNT.format('false_alarm')}"
        ),
        lambda costs: costs.amounts,
    ),
    (
        _phrase(
            rf"\b{_ALARM} {_COST} {_AMOUNT.format('false_alarm')}"
            rf"{_GAP}\b{_MISS}{_NO_NUMBER}{_AMOUNT.format('missed')}"
        ),
        lambda costs: costs.amounts,
    ),
)


def parse_costs(text: str) -> tuple[MistakeCosts | None, str]:
    """Parse the costs that a goal names. Returns them and the goal without that phrase."""
    for pattern, read in _PHRASES:
        if match := pattern.regex.search(text):
            costs = read(pattern.read(match))
            # If one mistake cost nothing, a model that always makes it would be the best.
            if costs.false_alarm > 0 and costs.missed > 0:
                return costs, text[: match.start()] + " " + text[match.end() :]
    return None, text
