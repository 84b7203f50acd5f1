"""Patterns of a goal's intent: a model of a target, of any target, an exploration, or no model."""

import re

from app.agents.goals.words.vocabulary import FUNCTION_WORDS, word_set

DENIED = re.compile(
    r"\b(?:(?:do not|don't|never|not|no need to|nicht)(?: want(?: you)?)?(?: to)?"
    r" (?:predict|forecast|estimate|classify|model)(?:ing)?"
    r"|(?:anything|everything|whatever|all) (?:but|except|other than|besides)|but not|rather than|instead of)"
    r"\s+((?:(?!\b(?:but|predict|forecast|estimate|classify|model|because|using|from)\b)[^.,;:!?])*)"
    r"|,\s*not\s+([^.,;:!?]*)",
    re.IGNORECASE,
)
"""Phrases that name what is not to be predicted. It may still be an input."""

NO_MODEL = re.compile(
    r"\b(?:no|without(?: an?| any)?|not .{0,20}\ban?)\s+(?:\w+ )?"
    r"(?:models?|modell?ing|predictions?|training)\b"
    r"|\b(?:do not|don't|never) (?:train|fit|build|model|predict)(?: a| any)?"
    r"(?: models?| anything)?\s*(?:[.,;!?]|$)",
    re.IGNORECASE,
)
LOOKING = re.compile(
    r"\b(?:explor\w*|eda|overview|summar\w*|describe|visuali[sz]\w*|plots?|charts?|compar\w*|correlat\w*"
    r"|relation(?:ship)?s? (?:between|of)|differences? (?:between|in)|more often than|cluster\w*"
    r"|segment(?:s|ation)?|anomal\w*|outliers?|interesting)\b"
    r"|^\W*(?:which|what|who|where|how many)\b.*\b(?:most|least|average|highest|lowest|total|best|worst)\b",
    re.IGNORECASE,
)
"""Requests for an exploration of the data, which a model of one column answers only in part."""

GENERIC = FUNCTION_WORDS | word_set(
    """
    or your them some new unseen possible good best better great accurate simple strong reliable one use run
    apply build make train fit create learn predict predicts prediction predictions predicting forecast
    classify classifier classification regress regression regressor estimate model models modelling modeling
    machine learning ml automl datasets csv row rows target targets label labels class classes outcome
    outcomes response y whatever
    """
)
"""Words of a goal that names no target of its own."""

SIGN = re.compile(
    r"\b(?:is|are|be|becomes?|turns?|goes) (negative|positive)\b"
    r"|\b(?:unprofitable|loss-making|at a loss|los(?:e|es|ing) money)\b",
    re.IGNORECASE,
)
"""Questions about the sign of a number."""
