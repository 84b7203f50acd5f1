"""Spans of the past in a goal: "over the last 3 months", "in the past 4 weeks", "last quarter"."""

import re

from app.agents.goals.words.vocabulary import COUNT_WORDS, SECONDS_BY_UNIT

_COUNT = rf"\d{{1,4}}|{'|'.join(COUNT_WORDS)}|few|couple of"
_UNIT = "|".join(SECONDS_BY_UNIT)
_LEAD = r"(?:in|over|during|for|within|from|of|across|throughout|since)"
_SPAN = re.compile(
    rf"\b(?:{_LEAD} )?(?:the |our |these )?(?:last|previous|preceding|prior) (?:(?:{_COUNT})[ -])?"
    rf"(?:full |whole |calendar )?(?:{_UNIT})s?\b(?! of\b)"
    # "Delays past 30 minutes" are a bound: behind `past` only an article or a preposition makes a span.
    rf"|\b(?:{_LEAD} (?:the |our |these )?|the |these )past (?:(?:{_COUNT})[ -])?(?:{_UNIT})s?\b",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|would|shall|should|next|coming|upcoming|following|forecast\w{0,4}|predict\w{0,5}|expect\w{0,5}"
    r"|project(?:ion|ions|ed)?|tomorrow|future|ahead|likely|going to|estimat\w{0,4}|from now|continue\w{0,2}"
    r"|extrapolat\w{0,4})\b",
    re.IGNORECASE,
)
"""Words by which a goal asks for what is not stored yet."""


def without_past_spans(text: str) -> str:
    """Return the text without its spans of the past, whose numbers bound nothing."""
    return _SPAN.sub(" ", text)


def asks_about_past_span(text: str) -> bool:
    """Test if a goal asks about stored rows of a span of the past, and nothing in it looks ahead."""
    return bool(_SPAN.search(text)) and not _FUTURE.search(text)
