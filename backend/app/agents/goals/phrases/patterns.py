"""Tables of the phrases that a goal is parsed by. The first matching row wins."""

import re
from typing import NamedTuple

from app.agents.goals.words.typed_pattern import TypedPattern
from app.agents.goals.words.vocabulary import COUNT_WORDS, ROW_UNITS, SECONDS_BY_UNIT
from app.modeling.problem.kinds import OutlookName, ProblemKindName


class QuantileGroups(NamedTuple):
    """Digits of a requested quantile: of its percentage, or of its decimal fraction."""

    percent: str | None
    decimals: str | None
    median: str | None


QUANTILE = TypedPattern(
    re.compile(
        r"\b(?P<percent1>\d{1,2})(?:st|nd|rd|th)?[- ](?:percentile|percent quantile|% quantile)"
        r"|\bp(?P<percent2>\d{2})\b|\b0?[.,](?P<decimals1>\d{1,2})[- ]quantile"
        r"|\bquantile (?:of )?0?[.,](?P<decimals2>\d{1,2})\b"
        r"|\bpinball(?: loss)?(?: at)? (?:0?[.,])?(?P<decimals3>\d{1,2})\b|\bpredict the (?P<median>median)\b",
        re.IGNORECASE,
    ),
    QuantileGroups,
)
"""Requests for a quantile: the share of rows that should lie below the prediction."""


KINDS: tuple[tuple[str, ProblemKindName], ...] = (
    (
        r"\b(?:which|what) (?:[a-z]{2,20} ){0,2}(?:rate|price|amount|salary|wage|temperature|cost|fee|fare"
        r"|weight|income|revenue|yield|duration)\b(?! (?:group|band|class|categor|range|bracket|tier|plan))",
        "regression",
    ),
    (r"\bclassif(y|ier|ication)\b|\bwhether\b|\bprobability\b|\bodds\b|\byes or no\b", "classification"),
    (r"(^|[.?!]|\b(predict|tell|find|know|say|identify)\w*)\s*(out |me )?(who|which|if)\b", "classification"),
    (r"\b(likely|likelihood|chances?)\b|\brisk of\b|\bdetect\b", "classification"),
    (r"\bhow (much|many|long|old|far|high|tall|heavy|fast|late)\b|\bregress(ion)?\b", "regression"),
    (r"\bestimate (the|its|their)\b|\bnumber of\b|\bforecast(ing)?\b", "regression"),
)
"""Kinds of problems by words. Those of yes and no come first: "how likely is it that ..." asks for a class,
though `how` begins questions about numbers too."""

OUTLOOKS: tuple[tuple[str, OutlookName], ...] = (
    (r"\bdirection\b|\bup or down\b|\brise or fall\b|\b(go|goes|move|moves) (up|down)\b", "direction"),
    (
        r"\b(whether|if|will|does)\b[^.;:!?]{0,300}\b((rise|climb|increase|gain|fall|drop|decrease|decline)s?\b"
        r"|(be|is|ends?|closes?|trades?) (higher|lower)\b)",
        "direction",
    ),
    (r"\b(returns?|change|changes|growth)\b", "change"),
)
"""Outlooks of a price by words: whether it rises, or by how much it changes. "Will the return fall" asks for a
direction, so directions come first."""

VOLATILITY = re.compile(r"\bvolatility\b|\breali[sz]ed (?:vol|variance)\b", re.IGNORECASE)
VOLATILE = re.compile(rf"\bvolatile\b|{VOLATILITY.pattern}", re.IGNORECASE)
"""Volatility in a goal with a horizon. Without one, `volatile` may describe an acid."""
COMPARED = re.compile(r"\b(?:higher|lower)\b", re.IGNORECASE)
"""Comparisons of direction (higher, lower), which do not name the columns of highs and lows."""

_ABBREVIATION = "mins?|hrs?|h|d|w"
"""Short units, which only digits stand before: "in 5 h". `m`, minutes or months, is added where it is safe."""
_COUNT = rf"\d+|{'|'.join(COUNT_WORDS)}"
_UNIT = "|".join([*SECONDS_BY_UNIT, *sorted(ROW_UNITS)])


class HorizonGroups(NamedTuple):
    """A horizon as it is written: `number` is missing in "the next day"."""

    number: str | None
    unit: str | None
    tomorrow: str | None


_CLASSES = r"[- ](?:groups?|bands?|bins?|class(?:es)?|steps?|brackets?|buckets?|intervals?|ranges?)\b"
"""Words behind a width, which make it that of groups: `in 10 year bands`."""
AHEAD = TypedPattern(
    re.compile(
        r"\b(?:next|coming|following)[- ]"
        rf"(?:(?P<number1>{_COUNT})[- ](?P<unit1>{_UNIT})s?|(?P<unit0>{_UNIT}))\b"
        rf"|\b(?P<number2>{_COUNT})[- ](?P<unit2>{_UNIT})s?[- ](?:ahead|later|from now|in advance)\b"
        rf"|\bin (?P<number3>{_COUNT})[- ](?P<unit3>{_UNIT})s?\b(?!{_CLASSES})"
        rf"|\b(?P<number4>{_COUNT})[- ](?P<unit4>{_UNIT})s?[- ](?:forecast|outlook)\b"
        rf"|\b(?:next|coming|following) (?P<number5>\d+) ?(?P<unit5>{_ABBREVIATION}|m)\b"
        rf"|\b(?P<number6>\d+) ?(?P<unit6>{_ABBREVIATION}|m)[- ](?:ahead|later|from now|in advance)\b"
        r"|\bin (?P<number7>\d+) ?(?P<unit7>mins?|hrs?|h)\b"
        r"|\b(?P<tomorrow>tomorrow)\b",
        re.IGNORECASE,
    ),
    HorizonGroups,
)
"""Counted horizons. "The coming months" without a count is none: facts known about these rows may be used."""
EACH_STEP = re.compile(
    rf"\b(?:next|coming|following)[- ](?:(?:{_COUNT})[- ](?:{_UNIT})s?|(?:{_UNIT}))\b|\btomorrow\b"
    rf"|\bup to (?:{_COUNT})[- ](?:{_UNIT})s?\b|\b(?:{_COUNT})[- ](?:{_UNIT})s?[- ](?:forecast|outlook)\b",
    re.IGNORECASE,
)
"""Requests for each step up to the horizon ("the next 14 days"), not for the last alone ("in 14 days")."""
EXCLUSION = re.compile(
    r"\b(?:without(?: using)?|exclud(?:e|ing)|ignor(?:e|ing)|leav(?:e|ing) out|(?:do not|don'?t|never) use"
    r"|not using|w/o|except(?: for)?|drop(?:ping)?(?! out\b| off\b)|other than|ohne|sans)\b"
    r"((?:(?!\b(?:but|while|because|predict|using|with|from|based on|for|since|to|when)\b)[^.;:!?])*)",
    re.IGNORECASE,
)
"""Phrases of columns that must not be used ("without the postcode"), up to the words that begin another clause.

The group is the phrase. `ohne` and `sans` are there since goals in other languages are told apart afterwards.
"""
INPUTS = re.compile(
    r"\b(?:from|using|based on|given|by means of|with the help of|on the basis of|as a function of"
    r"|(?:use|with|by) (?:nothing but|only|just))\b"
    r"([^.;:!?]*)"
    r"|~([^.;:!?]*)",
    re.IGNORECASE,
)
"""The inputs of a model, in words or behind the `~` of a formula: they are cut off before the target is looked
for, or "predict price from area" would name two targets."""
RESTRICTION = re.compile(
    r"[,;:(]\s{0,3}(?:and |but )?(?:[\w'&-]{1,20} ){1,4}only\b|^(?:[\w'&-]{1,20} ){1,4}only(?=[,;:])"
    r"|\bonly (?:for|in|from|on|at|among|with|within|of) (?:the )?(?:[\w'&-]{1,20} ?){1,4}",
    re.IGNORECASE,
)
"""The rows that a goal is about ("casual riders only", "only for the coast"), which name no target."""
QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^“”]+)”|(?<!\w)'([^']+)'(?!\w)")
"""Texts in quotes or backticks, which name columns and values as they are spelled.
An apostrophe is no quote."""
_CAUSES = "|".join(
    rf"(?<=\b{word} )" for word in ("what", "which", "factors", "things", "that", "most", "have", "has")
)
"""Words before the past of a verb whose subject is what a model explains by: `what affected the price`."""
VERB = re.compile(
    r"\b(?:predict(?:ing|s|ion of|or of)?|forecast(?:ing|s)?|estimat(?:e|es|ing)|classify(?:ing)?"
    r"|model(?:ling)?|explain(?:ing)?|detect(?:ing)?|determin(?:e|es|ed)"
    r"|imput(?:e|es|ing)(?: the)?(?: missing| unknown)?(?: values?| cells?| entries)?(?: of| for| in)?"
    r"|(?:fill(?:ing)?(?: in| out)?|complet(?:e|ing)|guess(?:ing)?)(?: the| any| all)?"
    r" (?:missing|blank|empty|unknown|gaps?)(?: values?| cells?| entries)?(?: of| for| in)?"
    r"|drives?|(?<!while )(?<!when )(?<!by )(?<!of )driving"
    r"|affect(?:s|ing)?|influenc(?:e|es|ing)|impact(?:s|ing)?"
    rf"|(?:{_CAUSES})(?:affected|influenced|impacted)"
    r"|vorher\w*|voraus\w*|prognos\w*|bestimm\w*|prédi\w*|prever|predecir)\b",
    re.IGNORECASE,
)
"""Verbs that ask for a model. What stands behind the first one names the target.

Others of their form say what happened: `accidents while driving`, `customers affected per month`.
"""
POSITIVE = re.compile(
    r"\bpositive class (?:is|=|should be)?\s*[`'\"]?([\w-]+)"
    r"|[`'\"]?(?<![\w-])([\w-]++)[`'\"]? (?:is|as) the positive class",
    re.IGNORECASE,
)
"""The class that a goal calls positive, before or behind the words for it.

A word is tried from its beginning only, and never given back in part: else long ones take quadratic time.
"""
GROUPS = re.compile(
    r"\b(?:for|to|on|across) (?:new|unseen|unknown|other|future)\s+(\w+)"
    r"|\b(?:per|for each|for every|by each)\s+(\w+)"
    r"|\b(\w+?)s? (?:that )?(?:we|it|the model) (?:have|has) (?:never|not) seen",
    re.IGNORECASE,
)
"""Entities that predicted rows are new for ("for new patients", "shops that we have never seen"), or that have
a series each ("for each shop"): rows of one entity stay on one side of every split."""
TIME = re.compile(
    r"\b(?:order(?:ed)? by|sorted by|time column (?:is)?|time is in|dated by)\s+[`'\"]?(\w+)",
    re.IGNORECASE,
)
"""The column that orders the rows in time, where a goal says it outright."""
JOIN = re.compile(
    r"\b(?:join(?:ed|ing)?|merg(?:e|ed|ing)|combin(?:e|ed|ing)|enrich(?:ed)?|together with)\b", re.IGNORECASE
)
"""Requests to join tables, for goals whose target and inputs lie in one table."""


COIN_PRICES = re.compile(r"\b(coins?|crypto(?:currency|currencies)?|price_data\w*)\b", re.IGNORECASE)
"""Phrases of goals about stored prices that name no coin."""
