"""Models that are asked for by what they do: "build a spam filter", "a price calculator for cars"."""

import re

from app.agents.goals.phrases.patterns import VERB

_MODEL = re.compile(
    r"\b(?:build|make|create|train|develop|design|set up|write|fit|learn|(?:i|we) (?:need|want|would like)"
    r"|give me|give us)(?: me| us)? (?:an?|the|some|our)(?: good| simple| new| better| reliable)? "
    r"(?P<what>[^.,;:!?]{2,60}?) (?:predictor|detector|filter|estimator|calculator|forecaster|recogni[sz]er)\b"
    r"(?: (?:for|of) (?P<owner>[^.,;:!?]{2,60}?)(?=$|[.,;:!?]| (?:from|using|with|based)\b))?",
    re.IGNORECASE,
)
"""A model as the object of its making. What it is for comes before its noun, whose rows may come behind it."""


_FUTURE = re.compile(r"\b(?:predict|estimate|model|project)(?:ing)? (?:the |our )?future (?=\w)", re.IGNORECASE)
"""A prediction of what is to come is a forecast."""


def spell_out_models(text: str) -> str:
    """Return a text with the verb of what a model does.

    "Predict spam" for "build a spam filter", "forecast sales" for "predict future sales".
    """
    text = _FUTURE.sub("forecast ", text)
    if VERB.search(text) or (match := _MODEL.search(text)) is None:
        return text
    owner = f" of {match['owner']}" if match["owner"] else ""
    return f"{text[: match.start()]}predict {match['what']}{owner}{text[match.end() :]}"
