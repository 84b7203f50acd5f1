"""Words and phrases by which goals ask for forecasts of series."""

import re

from app.agents.goals.periods.time_axis import PERIODS, PeriodFrequency
from app.agents.goals.words.stemming import stems

_UNITS = "minute|hour|day|week|fortnight|month|quarter(?![ -](?:hour|of an hour))|half[ -]?year|year|decade"
_MULTIPLES = "half(?: an?)?|quarter(?: of an)?|other|second|two|three|four|five|six|ten|twelve|fifteen|thirty"
EVERY = re.compile(
    rf"(?:\b(?:per|each|every|by|(?P<article>an?))[ -]|/ ?)(?P<unit>{_UNITS})\b"
    rf"|\b(?:per|each|every|by(?= (?:half|quarter)))[ -](?P<multiple>{_MULTIPLES}|\d{{1,3}})[ -]"
    rf"(?P<of_unit>{_UNITS})s?\b"
    r"|\b(?P<adverb>(?:half|quarter|bi)[ -]?(?:hour|year|week)ly|semi[ -]?annual(?:ly)?|fortnightly"
    r"|hourly|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?)\b"
    r"|\b(?P<twice>hour|day|week|month|quarter|year)[ -](?:by|for)[ -](?P=twice)\b"
    r"|\b(?:each|every)(?: one)? of the (?:next|coming|following) (?:\w{1,10} )?"
    r"(?P<counted>hour|day|week|month|quarter|year)s\b"
    rf"|\b(?P<width>{_MULTIPLES}|\d{{1,3}})[ -](?P<wide_unit>minute|hour|day|week|month)s?[ -]"
    r"(?:steps?|intervals?|slots?|buckets?|resolution)\b",
    re.IGNORECASE,
)
DISTANCE_BEFORE = re.compile(r"\b(?:in|for|within|over|half|next|of|by) $", re.IGNORECASE)
DISTANCE_AFTER = re.compile(r" (?:ahead|out|on|later|from now|hence|after|in advance)\b", re.IGNORECASE)
FREQUENCIES_BY_ADVERB: dict[str, PeriodFrequency] = {
    "quarterhourly": PeriodFrequency("minute", 15),
    "halfhourly": PeriodFrequency("minute", 30),
    "hourly": PeriodFrequency("hour"),
    "daily": PeriodFrequency("day"),
    "weekly": PeriodFrequency("week"),
    "fortnightly": PeriodFrequency("week", 2),
    "biweekly": PeriodFrequency("week", 2),
    "monthly": PeriodFrequency("month"),
    "quarterly": PeriodFrequency("quarter"),
    "quarteryearly": PeriodFrequency("quarter"),
    "halfyearly": PeriodFrequency("quarter", 2),
    "semiannual": PeriodFrequency("quarter", 2),
    "semiannually": PeriodFrequency("quarter", 2),
    "yearly": PeriodFrequency("year"),
    "annual": PeriodFrequency("year"),
    "annually": PeriodFrequency("year"),
    "biyearly": PeriodFrequency("year", 2),
}
FREQUENCIES_BY_UNIT: dict[str, PeriodFrequency] = {
    **{period: PeriodFrequency(period) for period in PERIODS},
    "fortnight": PeriodFrequency("week", 2),
    "half year": PeriodFrequency("quarter", 2),
    "decade": PeriodFrequency("year", 10),
}
HALVES: dict[str, PeriodFrequency] = {
    "hour": PeriodFrequency("minute", 30),
    "day": PeriodFrequency("hour", 12),
    "year": PeriodFrequency("quarter", 2),
}
QUARTERS: dict[str, PeriodFrequency] = {
    "hour": PeriodFrequency("minute", 15),
    "year": PeriodFrequency("quarter"),
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
COUNT = re.compile(
    r"\bhow many\b|\bnumbers? of\b|\bcounts? of\b|\bvolumes?\b|\bfootfall\b|\bhow busy\b|\bworkload\b"
    r"|\bturnout\b|\btraffic\b",
    re.IGNORECASE,
)
AMOUNT = re.compile(r"\bhow much\b", re.IGNORECASE)
"""Words for an amount, which is no count of rows."""
ROW_NOUNS = re.compile(r"\b(?:transactions?|records?|rows?|entries|events?|cases?)\b", re.IGNORECASE)
"""Nouns for rows of any table."""
TOTAL = re.compile(
    r"\b(?:total|overall|sum|in all|altogether|all together|together|combined|(?:one|single) (?:figure|number)"
    r"|as a whole|(?:whole|entire) \w{2,30})\b",
    re.IGNORECASE,
)
ADDITIVE = re.compile(
    r"\b(?:total|overall|sum|revenue|takings?|takes?|take in|turn ?over|sales|income|spend(?:ing)?|proceeds"
    r"|earnings|sell|earn|sold|value of|invoiced|bill(?:ed|able)?|paid|pay|donations|costs?|expenses|receipts"
    r"|payments?|fees?|cash|money|budget|turn over|come in|bring in|make|worth|value(?! of each))\b",
    re.IGNORECASE,
)
"""Words for what adds up over a period, whatever the column is called: the takings are the sum of prices."""
MEAN = re.compile(r"\b(?:average|mean|typical|on average|how long)\b", re.IGNORECASE)
MAXIMUM = re.compile(r"\b(?:peak|maximum|max)\b", re.IGNORECASE)
MINIMUM = re.compile(r"\b(?:minimum|min|trough)\b", re.IGNORECASE)
LEVELS = frozenset(
    stems(
        "temp temperature price rate percent pct share score rating index level age speed pressure humidity per"
        " ppm ratio stock balance average avg mean median staff employees headcount members subscribers"
        " population inhabitants inventory fleet occupancy backlog capacity"
    )
)
LEVEL_SIGNS = re.compile(r"%|/")
"""Words and signs of names of columns whose values are levels: they are averaged over a period, not added."""
AMOUNTS = frozenset(
    stems(
        "price amount total paid fee fare revenue net gross cost sum takings turnover payment charge income"
        " value sales spend money tip donation gift contribution pledge grant rent bill wage salary expense"
        " proceeds earnings budget premium deposit preis betrag umsatz netto brutto montant importe"
    )
)
"""Words of names of columns of money."""
TOTALS = frozenset(stems("total amount revenue net gross sales sum turnover takings"))
PAID = frozenset(stems("paid"))
PIECE_STEMS = frozenset(stems("unit each price"))
PARTS_OF_AMOUNTS = frozenset(stems("tip tax vat discount price"))
"""Words of totals of a row, of payments (totals where nothing is said of who paid), of amounts of one piece,
and of amounts that are only a part of that of the row."""
REMARK = re.compile(r"[(\[][^)\]]{0,80}[)\]]")
"""Remarks in names of columns: their unit, or how they were measured."""
PIECES = re.compile(r"\b(?:pieces?|units|items|articles|quantit(?:y|ies))\b", re.IGNORECASE)
PEOPLE = re.compile(r"\b(?:people|persons?|heads|visitors|guests|passengers|attendees)\b", re.IGNORECASE)
PERSONS = re.compile(r"people|person|guest|passenger|visitor|injured|attend|adult|pax|head", re.IGNORECASE)
"""Words for people in goals, and in names of columns that count them."""
QUANTITIES = re.compile(r"^(?:qty|units?|pieces|items|menge|anzahl|stk)$|quantity|(?:^|_)qty", re.IGNORECASE)
LATER_DATES = re.compile(
    r"due|fällig|faellig|end|drop|deliver|return|arriv|updat|modif|birth|born|dob|expir|ship|closed|paid|until"
    r"|valid",
    re.IGNORECASE,
)
"""Dates that follow the one by which a row is counted."""
PLANNED_DATES = re.compile(
    r"promis|planned|(?:^|_)plan(?:_|$)|sched|expect|target|(?:^|_)eta(?:$|_)|due|deadline", re.IGNORECASE
)
"""Dates by which something shall happen: those of what happened are better ones to count by."""
EMPTY_STEMS = frozenset(
    stems(
        "total number value of the in a per and price current out on ahead next"
        " minute hour day week month quarter year"
    )
)
"""Stems of names that tell no columns apart in a forecast."""
TIME_STEMS = EMPTY_STEMS | {*stems("date time timestamp dt ts on at when period")}
"""Stems of names of times that do not tell what happened then, as `closed` does."""
GROUPS = re.compile(
    r"\b(?P<marker>(?:per|by)(?: each| every| all)?|(?:for|of|in|at|from) (?:each|every|all)|across(?: all)?"
    r"|each|every|all)[ ](?:the |our )?(?P<phrase>\w{2,40}(?: and \w{2,40})?)",
    re.IGNORECASE,
)
EACH_PERIOD = re.compile(
    r"\b(?:each|every|per|daily|weekly|monthly|hourly|quarterly|yearly)\b|\b(\w{3,7}) by \1\b", re.IGNORECASE
)
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
