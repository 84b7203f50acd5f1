"""What a goal says of the rows that a model will meet: later ones, of entities that are new or known."""

import re

_FUTURE = re.compile(
    r"\b(forecast\w*|future|coming|upcoming|next|tomorrow\w*|ahead|later|from now on|in advance"
    r"|(?:will|going to) (?:\w+ ){0,6}?(?:soon|then|by then)"
    r"|(?:days?|weeks?|months?|quarters?|seasons?|years?) (?:ahead|to come|that follow|after))\b"
    r"|\bto come\b|\bnot happened yet\b",
    re.IGNORECASE,
)
_NEW = re.compile(
    r"\b(?:new|unseen|unknown|other|further|future|unfamiliar|never seen)\s+(?:to us\s+)?(?:\w+\s+)?"
    r"(?:patients?|subjects?|customers?|users?|clients?|accounts?|households?|famil(?:y|ies)|stores?|shops?"
    r"|devices?|machines?|persons?|people|students?|players?|drivers?|sites?|schools?|hospitals?|wom[ae]n|m[ae]n"
    r"|compan(?:y|ies)|firms?|animals?|plants?|speakers?|products?|items?)\b"
    r"|\bnew to us\b|\bnot (?:yet )?(?:in|part of) (?:the|our|this) (?:table|data|study|sample|file)\b"
    r"|\bnever (?:been )?seen\b|\bhave not (?:yet )?(?:seen|met)\b|\b(?:who|that) (?:are|is) new\b",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"\b(?:we|you|they) (?:already )?know\b|\balready (?:in|known|seen|registered)\b|\bexisting\b|\bour own\b"
    r"|\b(?:known|same|current|regular|returning)"
    r" (?:patients?|customers?|users?|clients?|stores?|shops?|players?)\b",
    re.IGNORECASE,
)


def mentions_future(goal: str) -> bool:
    return _FUTURE.search(goal) is not None


def mentions_new_entities(goal: str) -> bool | None:
    """Whether the model will meet entities that no row is about yet; None where the goal does not say."""
    if _NEW.search(goal):
        return True
    return False if _KNOWN.search(goal) else None
