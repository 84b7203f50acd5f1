"""Words and phrases by which goals ask for forecasts of series."""

import re

from app.agents.goals.stemming import stems
from app.agents.goals.time_axis import Period

EVERY = re.compile(
    r"\b(?:per|each|every|by|(?P<article>an?))[ -](?P<unit>minute|hour|day|week|month|quarter|year)\b"
    r"|\b(?P<adverb>hourly|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?)\b"
    r"|\b(?P<twice>hour|day|week|month|quarter|year)[ -](?:by|for)[ -](?P=twice)\b"
    r"|\b(?:each|every)(?: one)? of the (?:next|coming|following) (?:\w{1,10} )?"
    r"(?P<counted>hour|day|week|month|quarter|year)s\b",
    re.IGNORECASE,
)
DISTANCE_BEFORE = re.compile(r"\b(?:in|for|within|over|half|next|of|by) $", re.IGNORECASE)
DISTANCE_AFTER = re.compile(r" (?:ahead|out|on|later|from now|hence|after|in advance)\b", re.IGNORECASE)
PERIODS_BY_ADVERB: dict[str, Period] = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annual": "year",
    "annually": "year",
}
AHEAD = re.compile(
    r"\b(?:forecast|expect|will|going to|coming|upcoming|ahead|next|predict|projecti|extrapolat|continu|outlook"
    r"|future|tomorrow|estimate|need|count on|until|rest of|by the end)\w{0,4}\b|\b(?:out|on)\b[.?!]?$"
    r"|\b(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
    r" (?:minute|hour|day|week|month|quarter|year)s? (?:out|on|later)\b|^\W{0,3}project\b"
    r"|\bin (?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
    r" (?:trading |working |business )?(?:(?:minute|hour|day|week|month|quarter|year)s\b"
    r"|(?:minute|hour|day|week|month|quarter|year)(?:$|[?.!,]))",
    re.IGNORECASE,
)
PAST = re.compile(r"\b(?:was|were|did|had|has been|have been|last|past|previous)\b", re.IGNORECASE)
WILL = re.compile(r"\b(?:will|next|coming|forecast|expect|predict|tomorrow|project)\w{0,3}\b", re.IGNORECASE)
FORECAST = re.compile(r"\b(?:forecast|projecti|extrapolat|continu)\w{0,4}\b|^\W{0,3}project\b", re.IGNORECASE)
COUNT = re.compile(r"\bhow many\b|\bnumbers? of\b|\bcounts? of\b|\bvolumes?\b", re.IGNORECASE)
TOTAL = re.compile(
    r"\b(?:total|overall|sum|in all|altogether|all together|together|combined|one figure|as a whole)\b",
    re.IGNORECASE,
)
ADDITIVE = re.compile(
    r"\b(?:total|overall|sum|revenue|takings?|takes?|take in|turn ?over|sales|income|spend(?:ing)?|proceeds"
    r"|earnings|sell|earn|sold|value of|invoiced|billed|paid|donations|costs?|expenses|receipts)\b",
    re.IGNORECASE,
)
"""Words for what adds up over a period, whatever the column is called: the takings are the sum of prices."""
MEAN = re.compile(r"\b(?:average|mean|typical|on average|how long)\b", re.IGNORECASE)
MAXIMUM = re.compile(r"\b(?:peak|maximum|max)\b", re.IGNORECASE)
MINIMUM = re.compile(r"\b(?:minimum|min|trough)\b", re.IGNORECASE)
LEVELS = re.compile(
    r"temp|price|rate|percent|pct|share|score|rating|index|level|age|speed|pressure|humidity|per[_ ]|ppm|%|/"
    r"|ratio|stock|balance",
    re.IGNORECASE,
)
"""Names of columns whose values are levels: they are averaged over a period, not added."""
MONEY = re.compile(r"\b(?:revenue|takings?|turn ?over|income|money|earnings?|earn|proceeds)\b", re.IGNORECASE)
QUANTITIES = re.compile(r"^(?:qty|units?|pieces|items|menge|anzahl|stk)$|quantity|(?:^|_)qty", re.IGNORECASE)
LATER_DATES = re.compile(
    r"due|fällig|faellig|end|drop|deliver|return|arriv|updat|modif|birth|born|dob|expir|ship|closed|paid|until"
    r"|valid",
    re.IGNORECASE,
)
"""Dates that follow the one by which a row is counted."""
GROUPS = re.compile(
    r"\b(?:per|by|for each|for every|of each|of every|for all|of all|each|every|across(?: all)?)[ ](?:the )?"
    r"(\w{2,40}(?: and \w{2,40})?)",
    re.IGNORECASE,
)
EACH_PERIOD = re.compile(
    r"\b(?:each|every|per|daily|weekly|monthly|hourly|quarterly|yearly)\b|\b(\w{3,7}) by \1\b", re.IGNORECASE
)
HOW_MANY = re.compile(r"\bhow (?:many|much)\b|\bwhat (?:can|will|do)\b", re.IGNORECASE)
CURRENCIES = {
    "dollar": "usd",
    "dollars": "usd",
    "euro": "eur",
    "euros": "eur",
    "pound": "gbp",
    "sterling": "gbp",
    "yen": "jpy",
    "franc": "chf",
}
EMPTY_STEMS = frozenset(
    stems(
        "total number value of the in a per and price current out on ahead next"
        " minute hour day week month quarter year"
    )
)
"""Stems of names that tell no columns apart in a forecast."""
