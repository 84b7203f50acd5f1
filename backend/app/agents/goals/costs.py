"""Costs of prediction errors in the words of a goal."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.agents.goals.vocabulary import COUNT_WORDS

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


def _ratio(match: re.Match[str]) -> float:
    text = match["times"].lower()
    return {"twice": 2.0, "thrice": 3.0}.get(text) or float(COUNT_WORDS.get(text) or text)


def _amount(match: re.Match[str], name: str) -> float:
    return float(match[name].replace(",", ""))


def _phrase(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_PHRASES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], MistakeCosts]], ...] = (
    (
        _phrase(rf"\b{_MISS} {_COST} {_TIMES}{_AS} {_ALARM}"),
        lambda match: MistakeCosts(1.0, _ratio(match)),
    ),
    (
        _phrase(rf"\b{_ALARM} {_COST} {_TIMES}{_AS} {_MISS}"),
        lambda match: MistakeCosts(_ratio(match), 1.0),
    ),
    (
        _phrase(
            rf"\b{_MISS} {_COST} {_AMOUNT.format('missed')}"
            rf"{_GAP}\b{_ALARM}{_NO_NUMBER}{_AMOUNT.format('alarm')}"
        ),
        lambda match: MistakeCosts(_amount(match, "alarm"), _amount(match, "missed")),
    ),
    (
        _phrase(
            rf"\b{_ALARM} {_COST} {_AMOUNT.format('alarm')}"
            rf"{_GAP}\b{_MISS}{_NO_NUMBER}{_AMOUNT.format('missed')}"
        ),
        lambda match: MistakeCosts(_amount(match, "alarm"), _amount(match, "missed")),
    ),
)


def parse_costs(text: str) -> tuple[MistakeCosts | None, str]:
    """Parse the costs that a goal names. Returns them and the goal without that phrase."""
    for pattern, read in _PHRASES:
        if match := pattern.search(text):
            costs = read(match)
            if costs.false_alarm > 0 and costs.missed > 0:
                return costs, text[: match.start()] + " " + text[match.end() :]
    return None, text
