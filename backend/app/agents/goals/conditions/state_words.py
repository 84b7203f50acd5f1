"""Words for states of rows that names of columns do not have: `dry` for no rain, `vacant` for not occupied."""

from typing import Literal, NamedTuple

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.vocabulary import word_set

Meaning = Literal["some", "none", "below_zero"]
"""A yes or an amount above zero; a no or a zero; a temperature below zero."""


class StateWord(NamedTuple):
    """Meaning of a word for the columns whose names have one of the stems."""

    meaning: Meaning
    stems: frozenset[str]


_STATES = """
some rain rainfall precip precipitation regen niederschlag pluie lluvia: rainy rain raining rained wet
none rain rainfall precip precipitation regen niederschlag pluie lluvia: dry rainless
some snow snowfall schnee neige: snowy snow snowing
below_zero temp temperature temperatur: frost frosty freezing freeze froze frozen subzero
none occupied occupancy occ guests: empty vacant unoccupied
some kids children child dependents: parents families family kids children
none kids children child dependents: childless
none damage damaged crack cracked broken defect defective: intact undamaged unbroken flawless
none open opened: closed shut
some open opened: open opened
none weekend: weekdays weekday midweek
some weekend: weekends weekend
none holiday: workdays workday
some remote wfh homeoffice telework: remote remotely wfh telework teleworking home
none daylight daytime: night dark darkness
"""
"""Lines: what is said, of which names, by which words."""


def _read_states(text: str) -> dict[str, list[StateWord]]:
    states: dict[str, list[StateWord]] = {}
    for line in text.strip().splitlines():
        (meaning, *names), spellings = (part.split() for part in line.split(":"))
        entry = StateWord(_MEANINGS[meaning], frozenset(map(stem, names)))
        for spelling in spellings:
            states.setdefault(spelling, []).append(entry)
    return states


_MEANINGS: dict[str, Meaning] = {"some": "some", "none": "none", "below_zero": "below_zero"}
STATE_WORDS = _read_states(_STATES)
NOUNS_OF_STATES = word_set("kids children family families parents home night")
"""Words of states that are nouns: "for children not yet seen" is about children, and not about theirs."""
NEGATIONS = word_set(
    "no not non never nobody none without neither nor isn aren wasn weren don doesn didn haven t"
)
"""Words before a state that deny it; of contractions the parts that a tokenizer leaves."""
