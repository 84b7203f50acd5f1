"""Names where a goal says its target outright: `predict mdvis, the number of visits`, `who will be late`."""

import re
from collections.abc import Collection, Sequence

from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

ARTICLES = ("the ", "a ", "an ", "each ", "every ")
EXPLAINING = frozenset(
    {"the", "a", "an", "which", "that", "i", "meaning", "in", "how", "whether", "where", "who", "our"}
)
"""Words that begin an explanation after a comma; other words there may be a second target."""
MODALS = frozenset({"will", "would", "may", "might", "could"})
COPULAS = frozenset({"be", "get", "become", "turn", "end", "go", "come"})
PARTICLES = frozenset({"out", "up", "to", "be"})
"""Words between such a verb and its predicate: `turn out to be late`."""


def is_explained(after_verb: str, name: str) -> bool:
    """Test if the goal names a column right after its verb and goes on to explain it, or ends there."""
    text = after_verb.strip().casefold()
    for article in ARTICLES:
        text = text.removeprefix(article)
    for spelling in (name.casefold(), name.casefold().replace("_", " ")):
        rest = text.removeprefix(spelling)
        if rest == text:
            continue
        if not rest.strip(" .!?"):
            return True
        mark, explanation = rest.lstrip()[:1], words(rest)
        if mark in ("(", ":", "=") or (mark == "," and explanation[:1] and explanation[0] in EXPLAINING):
            return True
    return False


def is_predicted_state(text: str, name: str) -> bool:
    """Test if the goal says that something will be what a column's name says: `which flights will be late`."""
    own, parts = stems(name), words(text)
    if len(own) != 1:
        return False
    for place, word in enumerate(parts[:-2]):
        if word in MODALS and parts[place + 1] in COPULAS:
            predicate = next((part for part in parts[place + 2 :] if part not in PARTICLES), "")
            if stem(predicate) == own[0]:
                return True
    return False


_ACTIVITY = (
    r"(?!(?:opening|closing|starting|departing|arriving)\b)(?:[a-z]{2,12}(?:ion|ing|ment|ance)|delivery"
    r"|response|reply|travel|lead|cycle|turnaround|service|repair|transit|journey|trip|ride|flight|call|wait"
    r"|dwell)"
)
_DURATION = re.compile(
    r"\bdurations?\b|\bhow long\b.{0,60}\b(?:takes?|lasts?|stays?|waits?)\b" rf"|\b{_ACTIVITY} times?\b",
    re.IGNORECASE,
)
"""Words for the time that something takes: the time of an activity is no time of day."""


def asks_for_duration(text: str) -> bool:
    """Test if a goal asks for the time that something takes: "how long will a trip take" is no distance."""
    return _DURATION.search(text) is not None


_TIMED_ACTIVITY = re.compile(rf"\b({_ACTIVITY}) times?\b", re.IGNORECASE)
_ACTIVITY_WORD = re.compile(rf"{_ACTIVITY}\Z", re.IGNORECASE)


def is_of_other_activity(text: str, name: str) -> bool:
    """Test if a column is named after another activity than the goal asks the time of.

    "Resolution time" is not that of a column `first_response_min`.
    """
    activities = {stem(match[1].casefold()) for match in _TIMED_ACTIVITY.finditer(text)}
    own = {stem(word) for word in words(name) if _ACTIVITY_WORD.match(word)}
    return bool(activities and own) and activities.isdisjoint(own)


_CLASSIFIED = re.compile(
    r"^\W*(?:please )?(?:(?:i|we) (?:want|need|would like) to )?(?:classif(?:y|ying)|categori[sz](?:e|ing))"
    r" (?:all |each |every )?(?:the |these |our |my |this |an? )?(?P<rows>[a-z]{2,30})\W*\Z",
    re.IGNORECASE,
)
"""A goal that only says which things are to be put into classes."""


def classified_rows(text: str) -> str | None:
    """Return the noun of what a goal puts into classes, if it says no more."""
    match = _CLASSIFIED.match(text)
    return match["rows"].casefold() if match else None


_MOMENT = re.compile(
    r"^\W*(?:(?:predict|forecast|estimate) )?when (?:will|is|are|do|does|should|can)\b", re.IGNORECASE
)


def asks_for_moment(text: str) -> bool:
    """Test if a goal asks when something will happen, which no class and no amount tells."""
    return _MOMENT.search(text) is not None


_BEHIND_NAMES = word_set("of for at in by on from with using when where if before after during")
"""Words that end a name. Behind `and` a second one may stand, and which is meant is asked."""
_DETERMINERS = frozenset({*map(str.strip, ARTICLES), "its", "their", "our"})


def is_named_first(after_verb: str, name: str, others: Sequence[str], goal_words: Collection[str]) -> bool:
    """Test if a whole name follows the verb, and no word of the goal makes a longer name of it.

    "Predict score at the end of the year" means `score`, beside a column `score_next_term`.
    """
    text = words(after_verb)
    while text and text[0] in _DETERMINERS:
        text = text[1:]
    own = words(name)
    if not own or text[: len(own)] != own or (text[len(own) :] and text[len(own)] not in _BEHIND_NAMES):
        return False
    longer = [words(other) for other in others if other != name and {*own} < {*words(other)}]
    return all({*other}.difference(own).isdisjoint(goal_words) for other in longer)
