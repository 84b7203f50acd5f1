"""What a goal says that mistakes cost."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.agents.goals.patterns import NUMBERS

_MISS = (
    r"(?:(?:an? |one )?miss(?:ed|es|ing)?(?: an?| one| the)?(?: \w+){0,2}?|(?:an? |one )?false negatives?"
    r"|not (?:finding|catching|detecting)(?: an?| one)?(?: \w+)?)"
)
_ALARM = r"(?:(?:an? |one |the )?(?:false|wrong|needless) (?:alarms?|positives?|alerts?))"
_TIMES = rf"(?P<times>\d+(?:\.\d+)?|{'|'.join(NUMBERS)}|twice|thrice)(?:\s*(?:times|x|-?fold))?"
_AS = r"(?:(?: \w+){0,4}? (?:than|as))?"
_COST = r"(?:is|are|costs?|counts?|weighs?|matters?|hurts?)(?: us| about| roughly)*"
_GAP, _NO_NUMBER = r"[^.;]{0,200}?", r"[^.;\d]{0,100}?"
"""Characters between the parts of a phrase: two short clauses. Unbounded, every part is sought to the end."""
_AMOUNT = r"[$\u20ac\u00a3]?\s*(?P<{}>\d[\d,]*(?:\.\d+)?)"


@dataclass(frozen=True)
class Costs:
    """Of one false alarm and of one missed positive, in the same unit."""

    false_alarm: float
    missed: float

    def to_json(self) -> dict[str, float]:
        return {"false_alarm": self.false_alarm, "missed": self.missed}


def _ratio(found: re.Match[str]) -> float:
    said = found["times"].lower()
    return {"twice": 2.0, "thrice": 3.0}.get(said) or float(NUMBERS.get(said) or said)


def _amount(found: re.Match[str], name: str) -> float:
    return float(found[name].replace(",", ""))


def _phrase(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_PHRASES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Costs]], ...] = (
    (
        _phrase(rf"\b{_MISS} {_COST} {_TIMES}{_AS} {_ALARM}"),
        lambda found: Costs(1.0, _ratio(found)),
    ),
    (
        _phrase(rf"\b{_ALARM} {_COST} {_TIMES}{_AS} {_MISS}"),
        lambda found: Costs(_ratio(found), 1.0),
    ),
    (
        _phrase(
            rf"\b{_MISS} {_COST} {_AMOUNT.format('missed')}"
            rf"{_GAP}\b{_ALARM}{_NO_NUMBER}{_AMOUNT.format('alarm')}"
        ),
        lambda found: Costs(_amount(found, "alarm"), _amount(found, "missed")),
    ),
    (
        _phrase(
            rf"\b{_ALARM} {_COST} {_AMOUNT.format('alarm')}"
            rf"{_GAP}\b{_MISS}{_NO_NUMBER}{_AMOUNT.format('missed')}"
        ),
        lambda found: Costs(_amount(found, "alarm"), _amount(found, "missed")),
    ),
)


def costs_of(text: str) -> tuple[Costs | None, str]:
    """The costs that a goal names, and the goal without the phrase that does."""
    for pattern, read in _PHRASES:
        if found := pattern.search(text):
            costs = read(found)
            if costs.false_alarm > 0 and costs.missed > 0:
                return costs, text[: found.start()] + " " + text[found.end() :]
    return None, text
