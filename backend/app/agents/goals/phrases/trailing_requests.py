"""Requests whose verb stands last: "defaults among renters since 2021 - predict"."""

import re

from app.agents.goals.phrases.patterns import VERB

_BEFORE = r"(?: ?[,:\u2013\u2014] ?| - )(?:please |then |can you |so )?"
_OBJECT = r"(?:it|this|that|them|which|those|these)\b"
_VERB_LAST = re.compile(
    rf"^(?P<request>[^.;!?]{{3,200}}?)(?:{_BEFORE}(?P<verb>predict|guess|classify)"
    rf"|(?:{_BEFORE}| and )(?P<noun>predict|guess|classify|forecast|estimate|model)(?= {_OBJECT}))"
    rf"(?P<object> {_OBJECT})?(?:,? (?:please|pls))?\W{{0,3}}$",
    re.IGNORECASE,
)
"""A verb at the end. One that is also a noun has an object: "sales by make and model" names columns."""
_ASKING = re.compile(
    r"^\W{0,3}(?:will|would|is|are|was|were|do|does|did|can|could|has|have|had|should|may|might|who|whose|what"
    r"|which|when|where|how|why|tell|say|find|know|whether|if|i|we)\b",
    re.IGNORECASE,
)
"""First words of questions and sentences, which need no other verb."""


def put_verb_first(text: str) -> str:
    """Return a request with its verb of prediction at the beginning; other texts as they are."""
    if _ASKING.search(text):
        return text
    if (match := _VERB_LAST.search(text)) and not VERB.search(match["request"]):
        verb = match["verb"] or match["noun"]
        is_class = (match["object"] or "").strip().casefold() == "which"
        return (
            f"{verb if VERB.fullmatch(verb) else 'predict'} {'whether ' if is_class else ''}{match['request']}"
        )
    return text
