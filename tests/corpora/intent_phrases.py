"""Phrases of users with the lane that each asks for."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tests.corpora.tables import Half

Lane = Literal["execute", "patch", "unclear"]

_DIRECTORY = Path(__file__).parent / "intent"


@dataclass(frozen=True)
class IntentPhrase:
    """`lanes`: acceptable verdicts. A phrase without `patch` among them must never change a workflow."""

    text: str
    lanes: frozenset[str]


def load_phrases(half: Half) -> list[IntentPhrase]:
    """Load the phrases of a half. Raises ValueError for an unknown lane or a phrase of the other half."""
    phrases = []
    for line in (_DIRECTORY / half / "phrases.tsv").read_text("utf-8").splitlines():
        lanes, text = line.split("\t")
        phrase = IntentPhrase(text, frozenset(lanes.split("|")))
        if phrase.lanes - set(get_args(Lane)) or half_of(text) != half:
            raise ValueError(f"{line!r} does not belong to the {half} half")
        phrases.append(phrase)
    return phrases


def half_of(text: str) -> Half:
    digest = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    return "untuned" if digest % 2 else "tuned"
