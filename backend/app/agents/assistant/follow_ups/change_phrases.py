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
_SHARE = r"(?:percent|percentages?|%|shares?|proportions?|fractions?)"
SHARES = re.compile(
    rf"(?:(?:as|in|what|which|how (?:much|many)|and|the|an?|is|are|of the total) ){{0,4}}{_SHARE}"
    r"(?: (?:is|are|do|does) (?:that|this|it|each|they|those|these)(?: make(?: up)?| have| of them| one){0,2})?"
    r"(?: of (?:the )?(?:total|whole|all|sum))?(?: each)?",
    re.IGNORECASE,
)
"""Figures as shares of their sum: `in percent`, `what share is that`."""
SHARES_WITHIN = re.compile(
    rf"(?:(?:as|in|what|which|and|the|an?|is|are|that) ){{0,4}}{_SHARE}(?: (?:is|are) (?:that|it|they))?"
    r" (?:of|in|within|for) (?:each|every|its|their)(?: own)? (?P<words>.+)",
    re.IGNORECASE,
)
"""Counted rows as shares of all rows of each group: `as percentages of each band`."""
OF_EACH_GROUP = re.compile(r" (?:(?:of|for|in) (?:each|every)|per) (?P<words>[\w` ]{1,60})$", re.IGNORECASE)
"""The groups of the answer, said again: `with the head of each ward`."""
GROUP_NOUNS = frozenset(
    {"group", "band", "bin", "class", "bucket", "bracket", "range", "one", "bar", "row", "category"}
)
"""Nouns for the groups of any answer."""
VAGUE_SIZE = re.compile(
    r"(?:only |just |keep |show ){0,2}(?:the |those )?(?:really |very )?"
    r"(?P<size>big|large|small|high|low|important|main|major|minor|tiny|huge|relevant|significant|interesting|good|bad)"
    r" (?:ones?|groups?|values?|numbers?|bars?|rows?)",
    re.IGNORECASE,
)
"""Groups of a size that says no bound: `just the big ones`."""
RENAME = re.compile(
    r"(?:call|name|rename|label)(?: the column| that column| this column| the)? (?P<former>.{1,60}?)"
    r" (?:to|as|into) [\"'`]?(?P<new>[\w %()-]{1,60}?)[\"'`]?"
    r"|(?:call|name|rename|label) (?:it|that|this|the (?:new|last))(?: column| figure| one)?"
    r"(?: (?:to|as|into))?"
    r" [\"'`]?(?P<last>[\w %()-]{1,60}?)[\"'`]?"
    r"|(?:call|name|rename|label) (?:the )?(?P<place>(?:\w{1,10} column|column \d{1,2}))(?: (?:to|as|into))?"
    r" [\"'`]?(?P<other>[\w %()-]{1,60}?)[\"'`]?",
    re.IGNORECASE,
)
"""A new name of a column of the answer."""
COUNT_OF_THEM = re.compile(
    r"how many(?: of (?:them|those|these|the \w{1,30}))?"
    r" (?:(?:are|were|is|was|have|had|has|did) )?(?P<words>.+)",
    re.IGNORECASE,
)
"""The number of the rows of the last answer that meet a further condition."""
EXTREME_OF_THEM = re.compile(
    r"(?:which|who|what)(?: (?:one|of (?:them|those|these)|(?P<noun>(?!one\b)[a-z]{1,30})))?"
    r" (?:is|has|had|was) (?:the )?"
    r"(?P<side>highest|most|largest|biggest|best|lowest|least|smallest|worst|fewest)(?: one)?",
    re.IGNORECASE,
)
"""The group of the last answer with the most or the least."""
COUNT_OF_ROWS = re.compile(
    r"how many(?: \w{1,20})? (?:are|is|were|does that make)(?: (?:that|those|these|they|it|there))?"
    r"(?: in total| left| remaining)?|how many(?: \w{1,20})? (?:remain|remained)",
    re.IGNORECASE,
)
"""A count of the rows that the last answer lists."""
PUT_BACK = re.compile(r"(?:put|bring|add|take|get) (?:the )?(?P<words>.{1,60}?) back(?: in)?", re.IGNORECASE)
"""Rows that were left out before."""
BOUND = re.compile(
    r"(?:(?:only |just |keep ){0,2}(?:the )?(?!(?:with|where|whose|having|that|which) )(?P<noun>\w{1,30}) )?"
    r"(?:(?:that (?:are|have)|which (?:are|have)|with|where|whose|having) )?"
    r"(?:(?:an?|the|its|their) )?(?:(?P<measure>[\w ]{1,40}?) )?(?:(?:is|are|was|were|of) )?"
    r"(?P<sign>above|over|more than|greater than|at least|below|under|less than|fewer than|at most) "
    r"(?P<number>\d{1,3}(?:,\d{3}){1,3}|\d{1,12}(?:\.\d{1,6})?)(?: (?P<unit>[\w ]{1,40}))?",
    re.IGNORECASE,
)
"""A bound of the figure of groups: `just the ones above 900`."""
GROUPS_OF_ANSWER = frozenset({"ones", "those", "these", "groups", "bars", "rows"})
"""Nouns for the groups of an answer, whatever they are."""
SIGNS: dict[str, ComparisonSign] = {
    **dict.fromkeys(("above", "over", "more than", "greater than"), ">"),
    **dict.fromkeys(("below", "under", "less than", "fewer than"), "<"),
    "at least": ">=",
    "at most": "<=",
}
"""Signs of the bounds."""
SPLITS = re.compile(r"\b(?:split|broken|break|separate|separately)\b", re.IGNORECASE)
"""Verbs that part the groups of an answer further."""
