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


_ADVISED_PRICE = re.compile(
    r"\b(?:how much|what) (?:should|can|could|would|may|might|shall) (?:i|we|you|one|they)"
    r" (?:best |reasonably )?(?:charge|ask|demand|list it for|sell it for|rent it out for)"
    r"(?: per (?P<unit>night|day|week|month|hour))?\b",
    re.IGNORECASE,
)
"""Advice on a price, which is a prediction of it."""


def _name_price(match: re.Match[str]) -> str:
    unit = {"day": "dai", "night": "night"}.get(match["unit"] or "", match["unit"])
    return f"predict the {unit}ly price" if unit else "predict the price"


def spell_out_models(text: str) -> str:
    """Return a text with the verb of what a model does.

    "Predict spam" for "build a spam filter", "forecast sales" for "predict future sales",
    "predict the price" for "how much should we charge".
    """
    text = _ADVISED_PRICE.sub(_name_price, _FUTURE.sub("forecast ", text))
    if VERB.search(text) or (match := _MODEL.search(text)) is None:
        return text
    owner = f" of {match['owner']}" if match["owner"] else ""
    return f"{text[: match.start()]}predict {match['what']}{owner}{text[match.end() :]}"
