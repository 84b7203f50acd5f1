"""Analyses that are not done: what would happen if something were different."""

import re
from typing import NamedTuple

_SIMULATION = re.compile(
    r"^\W*(?:and |so |but )?(?:what (?:if|happens (?:if|when)|would happen)|suppose|assuming|simulate)\b"
    r"|^\W*if (?:we|i|they|you|our|the)\b[^.;:!?]{2,120}\bwould\b"
    r"|^\W*(?:what|how(?: much| many)?) would\b[^.;:!?]{2,120}\bif (?:we|i|they|you|our|the)\b",
    re.IGNORECASE,
)


class UndoneAnalysis(NamedTuple):
    """An analysis that is not done: what it does, and what can be asked for instead."""

    what: str
    instead: str


SIMULATION = UndoneAnalysis(
    "compute what would happen under other circumstances: rows tell what goes together, not what a change would"
    " cause",
    'Ask what a column goes with ("what drives sales?"), or let a model of it predict rows with other values.',
)


def asks_for_simulation(text: str) -> bool:
    """Test if a goal asks what would happen if something were different from what the rows tell."""
    return bool(_SIMULATION.search(text))
