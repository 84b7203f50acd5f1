"""Rewording of questions to the forms that their grammar reads, and sentences that ask for nothing."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.marking.row_nouns import MIN_CLEAR_SCORE
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.tables.derived_columns import has_span, named_dates

_OPEN_NUMBER = re.compile(
    r"\b(\d{1,12}(?:\.\d{1,6})?|an?|one|two|three|four|five|six|ten) ([a-z]{1,40})"
    r" or (more|longer|older|less|fewer|shorter|younger)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"\b(?:from|dated|dating from) (before|after|since)\b", re.IGNORECASE)
_OLDER_DATE = re.compile(
    r"\b(older|earlier|newer|later|younger) than (?=(?:\d{1,2} )?[A-Za-z]{3,9} \d|\d{4}-\d\d)", re.IGNORECASE
)
_TIME_OF_ONE = re.compile(
    r"\bhow many (hours|days|minutes|weeks|months) (?:do|does|did) (?:(?:a|an|one|each|the|our) )?"
    r"(?!it\b)([a-z]{2,40}) (?:usually |typically |normally )?(?:take|last)\b(?: on average)?",
    re.IGNORECASE,
)
"""The time that one of some things takes, which is a mean: `how many days does a repair take`."""
_ELAPSED = re.compile(
    r"\b(?:how long (?:does|did|do) it (?:usually |typically |normally )?take"
    r"|how many (hours|days|minutes|weeks|months) (?:does|did) it (?:usually |typically |normally )?take"
    r"|how long (?:is|are|was|were) the time)\b(?: on average)?",
    re.IGNORECASE,
)
"""The mean time between two dates of the rows: `how long does it take to fix a job`."""
_UNTIL = re.compile(r"\b(?:until|till|before)\b", re.IGNORECASE)
_BETWEEN_TIMES = re.compile(
    r"\b(?<!duration )(?<!\d )(?:time|number of days|days|hours|minutes)"
    r" (?:between|from|until|till|to) (?=[a-z_`])",
    re.IGNORECASE,
)
"""The time between two named dates."""
_LONG_UNITS = (
    (re.compile(r"\b(?:square met(?:re|er)s?|sq\.? ?m(?:et(?:re|er)s?)?)\b", re.IGNORECASE), "m2"),
    (re.compile(r"\bcubic met(?:re|er)s?\b", re.IGNORECASE), "m3"),
    (re.compile(r"\bkilowatt[- ]?hours?\b", re.IGNORECASE), "kwh"),
    (re.compile(r"\b(?:kilomet(?:re|er)s?|km) (?:per|an) hour\b", re.IGNORECASE), "km/h"),
)
"""Units of several words, and their signs in names of columns."""
_PLURAL_NUMBER = re.compile(r"\b(?!\d{3}0s)(\d{3,6})s\b")
"""Numbers that are counted, other than decades: `404s`."""
_SENTENCE_END = re.compile(
    r"(?<!\bvs)(?<!\b[DMS]r)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\bNo)(?<!\bProf)(?<!\b[A-Z])[.?!:;]\s"
)
"""End of a sentence or title. A dot after a form of address or an initial ends none: `Dr. Holm`, `N. Dahl`."""
_FIGURE_WORDS = frozenset(
    {"how", "count", "mean", "average", "avg", "median", "total", "sum", "percentage", "percentages", "percent"}
    | {
        "share",
        "shares",
        "max",
        "min",
        "maximum",
        "minimum",
        "sd",
        "std",
        "correlation",
        "quartiles",
        "compare",
        "number",
        "rank",
    }
    | {"weekend", "weekends", "weekday", "weekdays"}
)
"""Words of sentences that say what is asked for, though they name no column."""


_NOTATION = re.compile(r"\b(?:[A-Za-z_]\w{0,60}\.)?(head|tail)\s?\(\s?(?:n ?= ?)?(\d{0,4})\s?\)")
"""The notation of data frames for their first or last rows: `bills.head(5)`."""
DEFAULT_ROWS = 5
"""Rows of `head()` without a number."""
_SORT = re.compile(r"^(?:please )?(sort|order|rank) (?!by\b)(.{1,60}?) by\b", re.IGNORECASE)
"""A request to sort rows, which lists them: `sort the flights by price`."""


_SEASON = re.compile(r"\b(in|during) (?:the )?(winter|spring|summer|autumn)\b(?! of \d)(?! \d)", re.IGNORECASE)
_SEASONS = {
    "winter": "December to February",
    "spring": "March to May",
    "summer": "June to August",
    "autumn": "September to November",
}
"""Meteorological seasons of the northern hemisphere, whose months the answer says."""


_OCCASIONS = re.compile(
    r"\b(more than|less than|fewer than|at least|at most|exactly|not more than|no more than)"
    r" (once|twice|thrice)\b",
    re.IGNORECASE,
)
_COUNTS_OF_OCCASIONS = {"once": 1, "twice": 2, "thrice": 3}
_SPLIT = re.compile(r"^\W*(\w{2,30}(?: \w{2,30})?) (?:split|breakdown)\W*$", re.IGNORECASE)
"""Rows counted by what stands before: `gender split`."""
_PEAK = re.compile(r"\b(?:peak|rush)(?= (?:hour|day|weekday|week|month|season)s?\b)", re.IGNORECASE)
"""The time with the most rows: `peak hour`."""
_ORDER_VALUE = re.compile(
    r"\b(?:order|basket|cart) (?:value|size)\b(?! (?:above|below|over|under)\b)", re.IGNORECASE
)
"""The term of shops for what an order brings in."""


_PREVIOUS = re.compile(
    r"\b(?P<unit>year|month|quarter|week|day)(?P<between>(?:ly|s)?\b.{0,60}?)"
    r"\b(?:compared (?:to|with)|relative to|against|over|than|from) (?:in )?the"
    r" (?:previous|preceding|prior) (?P=unit)\b",
    re.IGNORECASE,
)
"""Periods that are compared with those before: `which year grew most compared with the previous year`."""


_COUNTED_LAST = re.compile(
    r"^(?!\W*(?:how|what|which)\b)(.{3,200}?)\s*[-\u2013,:;]\s*"
    r"(?:how many(?: (?:are|were|is|was) (?:there|they|that|those))?|count (?:them|these|those)|number|count)"
    r"\W*$",
    re.IGNORECASE,
)
"""Rows of which only the end of a question says that their number is asked for: `late parcels, how many`."""
_RUNNING = re.compile(r"(?:, ?running|,? ?\bcumulatively|,? ?\bas a running total)(?=\W{0,3}$)", re.IGNORECASE)
"""A running total that only the end of a question asks for: `sales by month, running`."""


def reword(question: str) -> str:
    """Bring bounds behind their noun before it (`3 rooms or more`), and drop doubled prepositions."""
    text = _TIME_OF_ONE.sub(r"average \2 \1", _SORT.sub(_list_sorted, question))
    if _ELAPSED.search(text):
        text = _UNTIL.sub("to", _ELAPSED.sub(lambda match: f"average duration {match[1] or ''}".strip(), text))
    for pattern, unit in _LONG_UNITS:
        text = pattern.sub(unit, text)
    text = _NOTATION.sub(_name_rows, text)
    text = _PLURAL_NUMBER.sub(r"\1", text)
    text = _OCCASIONS.sub(lambda match: f"{match[1]} {_COUNTS_OF_OCCASIONS[match[2].lower()]} times", text)
    text = _RUNNING.sub(" cumulative", _COUNTED_LAST.sub(r"how many \1", text))
    text = _PREVIOUS.sub(r"\g<unit>\g<between>over the \g<unit> before", text)
    text = _SPLIT.sub(r"number of rows by \1", text)
    text = _PEAK.sub("busiest", text)
    text = _ORDER_VALUE.sub("revenue per order", text)
    text = _SEASON.sub(lambda match: f"{match[1]} {_SEASONS[match[2].casefold()]}", text)
    text = _OPEN_NUMBER.sub(_put_bound_first, text)
    text = _OLDER_DATE.sub(lambda m: "before " if m[1].lower() in ("older", "earlier") else "after ", text)
    return _DATED.sub(lambda match: match[1], text)


def _list_sorted(match: re.Match[str]) -> str:
    return f"list {match[2]} {'ranked' if match[1].lower() == 'rank' else 'sorted'} by"


_STAY = re.compile(
    r"\b(?:length|time) of (?:(?:a|the|their|each) )?(?:stay|visit|rental|hire|stop|trip)s?\b", re.IGNORECASE
)
"""How long a row lasts: `average length of stay`."""


_SPAN_NOUN = re.compile(r"\b([a-z]{4,20}) (?:time|times|duration|period)\b", re.IGNORECASE)
"""How long it takes, by what happens: `delivery time` of a column `delivered_on`."""
_HOW_LONG = re.compile(
    r"\bhow long (?:do|does|did|are|is|were|was) (?=[a-z])(?!it\b)(.{2,60}?) "
    r"(?:usually |typically )?(?:stay|stayed|last|lasted|take|remain)\b(?: on average)?",
    re.IGNORECASE,
)
_BEFORE_END = re.compile(
    r" (?:before|until) (?:they|he|she|it|being|getting) [a-z]{3,20}\b(?=\W*$)", re.IGNORECASE
)
"""The end of a span, which the time until it needs not to name."""
_WITHIN = re.compile(
    r"\bwithin (?=\S{1,12} (?:seconds|minutes|hours?|days?|weeks?|months?|years?)\b)(?!\d{4}\b)"
    r"((?:\d{1,6}|an?|one|two|three|four|five|six|seven|ten) )",
    re.IGNORECASE,
)
"""A bound of the time between two dates: `sold within 60 days`."""
MIN_SHARED_LETTERS = 5
"""Letters that a noun and the name of a time begin with: `resolution` and `resolved`."""


def _name_durations(question: str, tables: Sequence[TableProfile]) -> str:
    """Call the time between the two dates of a row its duration."""
    dates = {word for table in tables for column in table.dates for word in words(column.name)}

    def name(match: re.Match[str]) -> str:
        beginning = match[1].casefold()[:MIN_SHARED_LETTERS]
        is_known = len(beginning) == MIN_SHARED_LETTERS and any(date.startswith(beginning) for date in dates)
        return "duration" if is_known else match[0]

    text = _WITHIN.sub(r"took at most \1", _SPAN_NOUN.sub(name, _STAY.sub("duration", question)))
    if _HOW_LONG.search(text):
        text = _BEFORE_END.sub("", _HOW_LONG.sub(r"average duration of \1", text))
    return text


def reword_spans(question: str, tables: Sequence[TableProfile]) -> str:
    """Name the time between two dates that the question names: `the days between opened and closed`."""
    question_words = frozenset(map(stem, words(question)))
    text = _name_durations(question, tables) if any(map(has_span, tables)) else question
    names_two = any(len(named_dates(table, question_words)) == 2 for table in tables)
    return _BETWEEN_TIMES.sub("duration to ", text) if names_two else text


_LAST = re.compile(
    r"\b(?:the|our|my|their) last (?=([a-z]{3,40})\b)(?!(?:time|name|row|record|line|entry|column|few|two|three"
    r"|four|five|six|ten|day|week|month|quarter|year|hour|minute|decade)s?\b)",
    re.IGNORECASE,
)
"""The thing with the latest time: `the last fault`, other than a period or a number of rows."""
_TIME_QUESTION = re.compile(r"\bwhen\b|\bhow long\b", re.IGNORECASE)


def reword_last(question: str, tables: Sequence[TableProfile]) -> str:
    """Call the last of some rows with times the latest; a name such as `last_visit` keeps its words."""
    is_name = any("last" in words(column.name) for table in tables for column in table.columns)
    if is_name or _TIME_QUESTION.search(question) or not any(table.dates for table in tables):
        return question

    def name(match: re.Match[str]) -> str:
        is_row = any(item.row_tables for item in mark_items(match[1], tables).items)
        return "the latest " if is_row else match[0]

    return _LAST.sub(name, question)


_EXTREME = re.compile(
    r"\b(highest|lowest|greatest|smallest|worst) ([a-z]{4,40})\b(?! (?:rates?|ratios?|shares?|percentages?)\b)",
    re.IGNORECASE,
)


def reword_rates(question: str, tables: Sequence[TableProfile]) -> str:
    """Call the extreme of a yes/no column that of its rate: `which plan has the highest churn`."""
    flags = [tuple(stems(c.name)) for table in tables for c in table.columns if flag_values(c) is not None]

    def add_rate(match: re.Match[str]) -> str:
        return f"{match[0]} rate" if (stem(match[2].casefold()),) in flags else match[0]

    return _EXTREME.sub(add_rate, question)


def _name_rows(match: re.Match[str]) -> str:
    table = match[0].partition(".")[0] if "." in match[0] else ""
    rows = f"{'first' if match[1] == 'head' else 'last'} {match[2] or DEFAULT_ROWS} rows"
    # `df` is what anyone calls a data frame, and no table.
    return f"{rows} of {table}" if table not in ("", "df") else rows


def _put_bound_first(match: re.Match[str]) -> str:
    bound = "at least" if match[3].lower() in ("more", "longer", "older") else "at most"
    return f"{bound} {match[1]} {match[2]}"


def split_preamble(question: str, tables: Sequence[TableProfile]) -> tuple[str, list[str]]:
    """Part the sentences and titles that name nothing of the tables from a question: `rush hour: ...`.

    Returns the rest of the question, and what was parted. A question of one sentence is returned as it is.
    """
    parts = [part.strip() for part in _SENTENCE_END.split(question) if part.strip()]
    if len(parts) < 2:
        return question, []
    meaningful = [part for n, part in enumerate(parts) if _has_meaning(part, tables) or (n and _asks(part))]
    # Where no part or every part means something, none is a mere title.
    if not meaningful or len(meaningful) == len(parts):
        return question, []
    return ", ".join(meaningful), [part for part in parts if part not in meaningful]


_INTERROGATIVES = frozenset({"where", "when", "who", "whom", "whose", "why"})


def _asks(part: str) -> bool:
    """Tell if the words behind a title ask for further facts: `most expensive repair: when and by whom?`."""
    return not _INTERROGATIVES.isdisjoint(words(part))


def _has_meaning(part: str, tables: Sequence[TableProfile]) -> bool:
    """Tell if a sentence names a column, a value, rows, a number or a figure."""
    return any(_is_meant(item) for item in mark_items(part, tables).items)


def _is_meant(item: QuestionItem) -> bool:
    if item.kind != "word":
        return item.kind != "sign"
    is_named = any(match.score >= MIN_CLEAR_SCORE for match in item.columns) or bool(item.values)
    return is_named or bool(item.row_tables) or item.word in _FIGURE_WORDS
