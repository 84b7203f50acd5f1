"""Lists of inputs in a goal: "predict the price from mileage and age", "from attendance alone"."""

import re
from typing import NamedTuple

from app.agents.goals.phrases.exclusions import split_phrases
from app.agents.goals.phrases.patterns import EXCLUSION, VERB
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

_BEGINNING = re.compile(
    r"\b(?P<only>(?:only|just|solely|purely) )?"
    r"(?:(?<!\bapart )(?<!\bfar )(?<!\bdifferent )(?<!\baway )from|using|based (?:up)?on|given|by means of"
    r"|with the help of|on the basis of|as a function of|(?:use|with|by)(?= (?:nothing but|only|just|solely) ))"
    r" (?P<only_behind>(?:nothing but|only|just|solely) )?"
    r"|(?P<formula>~)",
    re.IGNORECASE,
)
"""Words before a list of inputs, and the sign of a formula."""
_END = re.compile(
    r"[.;:!?()\n]|,? ?\b(?:for|in|on|at|when|where|while|if|whether|who|which|that|because|since|with|over"
    r"|under|above|below|within|between|during|until|till|to|per|each|every|but|please|pls|not|no|how|what"
    rf"|can|could|will|is|are|does|do|i|we|you)\b|,? ?(?:and |then )?{VERB.pattern}",
    re.IGNORECASE,
)
"""Signs and words behind a list of inputs, which begin another part of the goal."""
_RANGE = re.compile(r"^,? ?(?:to|until|till)$", re.IGNORECASE)
"""Words behind which a list was no list: "the time from order to delivery"."""
_DESCRIBED = re.compile(r"(?:,|\band|\bor) ?$", re.IGNORECASE)
"""The end of a list whose next input is described by a clause: "the heat and whether it is a holiday"."""
_CLAUSES = word_set("if whether who which that how what when where")
_ONLY = re.compile(r"\b(?:alone|only|solely|exclusively|nothing else)\b", re.IGNORECASE)
_MORE = re.compile(
    r"\b(?:too|also|as well|especially|including|in particular|such as|like|etc|mainly|mostly|e g|among)\b",
    re.IGNORECASE,
)
"""Words that name some inputs among others."""
_PLUS = re.compile(r"\s?\+\s?")
MAX_INPUTS = 50
"""Inputs of a list that are looked up: more than anybody lists in a sentence."""


class InputList(NamedTuple):
    """The phrases of the inputs that a goal lists. `is_exclusive`: the goal says that it means no others."""

    phrases: tuple[str, ...] = ()
    is_exclusive: bool = False


NO_INPUTS = InputList()


def parse_input_list(text: str) -> InputList:
    """Parse the list of inputs of a goal; empty without one, or where it names some inputs among others."""
    # The mark ends the list: "from the age without the name".
    text = EXCLUSION.sub(" ; ", text)
    match = _BEGINNING.search(text)
    if match is None:
        return NO_INPUTS
    rest = text[match.end() :]
    end = _END.search(rest)
    listing = rest[: end.start()] if end else rest
    # "From mileage, age and others such as colour" gives examples, and no limits.
    if _MORE.search(rest) or (end and _RANGE.match(end[0])):
        return NO_INPUTS
    if end and _CLAUSES & {*words(end[0])} and _DESCRIBED.search(listing):
        return NO_INPUTS
    is_exclusive = bool(match["only"] or match["only_behind"] or _ONLY.search(listing))
    phrases = split_phrases(_PLUS.sub(", ", _ONLY.sub(" ", listing)))
    return InputList(tuple(phrases)[:MAX_INPUTS], is_exclusive)
