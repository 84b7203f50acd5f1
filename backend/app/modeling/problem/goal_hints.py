"""Phrases of a goal that describe the rows to predict: later in time, of new or of known entities."""

import re

_FUTURE = re.compile(
    r"\b(forecast\w*|future|coming|upcoming|next|tomorrow\w*|ahead|later|from now on|in advance"
    r"|(?:will|going to) (?:\w+ ){0,6}?(?:soon|then|by then)"
    r"|(?:days?|weeks?|months?|quarters?|seasons?|years?) (?:ahead|to come|that follow|after))\b"
    r"|\bto come\b|\bnot happened yet\b",
    re.IGNORECASE,
)
_NEW_ENTITIES = re.compile(
    r"\b(?:new|unseen|unknown|other|further|future|unfamiliar|never seen)\s+(?:to us\s+)?(?:\w+\s+)?"
    r"(?:patients?|subjects?|customers?|users?|clients?|accounts?|households?|famil(?:y|ies)|stores?|shops?"
    r"|devices?|machines?|persons?|people|students?|players?|drivers?|sites?|schools?|hospitals?|wom[ae]n|m[ae]n"
    r"|compan(?:y|ies)|firms?|animals?|plants?|speakers?|products?|items?)\b"
    r"|\bnew to us\b|\bnot (?:yet )?(?:in|part of) (?:the|our|this) (?:table|data|study|sample|file)\b"
    r"|\bnever (?:been )?seen\b|\bhave not (?:yet )?(?:seen|met)\b|\b(?:who|that) (?:are|is) new\b",
    re.IGNORECASE,
)
_KNOWN_ENTITIES = re.compile(
    r"\b(?:we|you|they) (?:already )?know\b|\balready (?:in|known|seen|registered)\b|\bexisting\b|\bour own\b"
    r"|\b(?:known|same|current|regular|returning)"
    r" (?:patients?|customers?|users?|clients?|stores?|shops?|players?)\b",
    re.IGNORECASE,
)


def mentions_future(goal: str) -> bool:
    """Test whether a goal asks for a prediction of later rows."""
    return _FUTURE.search(goal) is not None


def mentions_new_entities(goal: str) -> bool | None:
    """True for a goal about entities without rows in the data, False for known ones, None if it does not
    say."""
    if _NEW_ENTITIES.search(goal):
        return True
    return False if _KNOWN_ENTITIES.search(goal) else None
