"""Phrases of follow-ups that change a plan: its order, size, conditions, groups and columns."""

import re

from app.number_words import NUMBER_WORDS
from app.plans.build import ComparisonSign

COUNT = rf"(?:\d{{1,6}}|{'|'.join(NUMBER_WORDS)})"
NOUN = r"(?:rows?|ones?|of them|of those|results?|entries|lines|records|items|groups|bars)"
SIDE = r"(?:top|first|best|highest|biggest|largest|bottom|last|worst|lowest|smallest)"
FIRST = re.compile(
    rf"(?:keep |only |limit(?: it)?(?: to)? "
    rf"|just ){{0,3}}(?:the )?(?:(?P<side>{SIDE}) (?P<first>{COUNT})(?: {NOUN})?"
    rf"|(?P<number>{COUNT}) (?P<behind>{SIDE})(?: {NOUN})?|(?P<plain>{COUNT}) {NOUN})(?: only)?",
    re.IGNORECASE,
)
PLAIN_NUMBER = re.compile(
    rf"(?:only |just |limit(?: it)? to )?(?P<number>\d{{1,3}}|{'|'.join(NUMBER_WORDS)})", re.IGNORECASE
)
LOW = frozenset({"bottom", "last", "worst", "lowest", "smallest"})
ALL = re.compile(
    r"(?:show )?(?:all|everything|every row|the whole list)(?: of (?:them|it|those))?(?: rows?| results?)?",
    re.IGNORECASE,
)
UNFILTERED = re.compile(
    r"(?:without|drop|remove|clear|no)(?: (?:the|any|all))? (?:filters?|conditions?|restrictions?)|unfiltered"
    r"|(?:for |with )?all (?:the )?rows",
    re.IGNORECASE,
)
SORT = re.compile(
    r"(?:sort|order|rank|arrange)(?:ed)?(?: (?:them|it|those|that|the rows))?(?: by| on)? ?(?P<column>.*?)",
    re.IGNORECASE,
)
FROM = r"(?:from )?(?:the )?"
DIRECTION = re.compile(
    rf",? ?\(?\b(?:in )?(?P<way>ascending|descending|asc|desc|alphabetical(?:ly)?"
    rf"|{FROM}(?:highest|largest|biggest|most|high)(?: (?:to (?:the )?(?:low|lowest|smallest)|first))?"
    rf"|{FROM}(?:lowest|smallest|least|low)(?: (?:to (?:the )?(?:high|highest|largest)|first))?"
    r"|(?:newest|latest) first|(?:oldest|earliest) first)(?: order)?\)?$",
    re.IGNORECASE,
)
UPWARDS = re.compile(
    rf"^(?:ascending|asc|alphabetical|{FROM}(?:lowest|smallest|least|low)\b|oldest|earliest)", re.IGNORECASE
)
REVERSE = re.compile(
    r"(?:reverse|flip|invert)(?: (?:the )?(?:order|sort|sorting|it|them))?|(?:in )?(?:the )?(?:reverse"
    r"|opposite) order"
    r"|the other way (?:a)?round",
    re.IGNORECASE,
)
WITHOUT = re.compile(
    r"(?:without|excluding|exclude|except(?: for)?|drop|remove|hide|leave out|omit|not|minus|other than)"
    r"(?: (?:the|any|all))? (?P<words>.+)",
    re.IGNORECASE,
)
BY = re.compile(
    r"(?:(?:group|grouped|split|broken down|break (?:it |them |that )?down|separate|separately)(?: (?:it"
    r"|them|that))?"
    r" (?:by|into|per|for each)|by|per|for (?:each|every)|in each|within each) (?:each |every )?(?P<words>.+)",
    re.IGNORECASE,
)
WITH = re.compile(
    r"(?:with|including|include|add|plus|show|and)(?: (?:the|its|their|a column(?: for)?"
    r"|columns?))* (?P<words>.+)",
    re.IGNORECASE,
)
ONLY = re.compile(
    r"(?:only|just|restrict(?: it)? to|filter(?: it)?(?: (?:to|by|on|for))?|keep|limit(?: it)? to|use|for only)"
    r"(?: (?:the|those|ones))* (?P<words>.+)",
    re.IGNORECASE,
)
PREPOSITIONS = ("", "in", "for", "where", "with", "from", "of")
STARTS_WITH_PREPOSITION = re.compile(
    r"(?:in|for|where|with|from|of|since|before|after|until|between|above|below|over|under|at|on|to|who"
    r"|that|which)\b",
    re.IGNORECASE,
)
SHARES = re.compile(
    r"(?:(?:as|in) )?(?:a )?(?:percent|percentages?|%|shares?|proportions?)"
    r"(?: of (?:the )?(?:total|whole))?(?: each)?",
    re.IGNORECASE,
)
"""Figures as shares of their sum: `in percent`."""
COUNT_OF_THEM = re.compile(
    r"how many(?: of (?:them|those|these|the \w{1,30}))?"
    r" (?:(?:are|were|is|was|have|had|has|did) )?(?P<words>.+)",
    re.IGNORECASE,
)
"""The number of the rows of the last answer that meet a further condition."""
EXTREME_OF_THEM = re.compile(
    r"(?:which|who|what)(?: (?:one|of (?:them|those|these)))? (?:is|has|had|was) (?:the )?"
    r"(?P<side>highest|most|largest|biggest|best|lowest|least|smallest|worst|fewest)(?: one)?",
    re.IGNORECASE,
)
"""The group of the last answer with the most or the least."""
NUMBER_OF_GROUPS = re.compile(
    r"(?:only |just )?(?:keep )?(?:the )?(?:ones|those|groups|bars)(?: (?:that are|which are|with))? "
    r"(?P<sign>above|over|more than|at least|below|under|less than|fewer than|at most) "
    r"(?P<number>\d{1,12}(?:\.\d{1,6})?)",
    re.IGNORECASE,
)
"""A bound of the figure of groups: `just the ones above 900`."""
SIGNS: dict[str, ComparisonSign] = {
    **dict.fromkeys(("above", "over", "more than"), ">"),
    **dict.fromkeys(("below", "under", "less than", "fewer than"), "<"),
    "at least": ">=",
    "at most": "<=",
}
"""Signs of the bounds."""
SPLITS = re.compile(r"\b(?:split|broken|break|separate|separately)\b", re.IGNORECASE)
"""Verbs that part the groups of an answer further."""
