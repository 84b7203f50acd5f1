"""Rewording of phrases without a verb to their questions: `fee over 90`, `hours in bands of 2`, `top shop`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.figures import default_function
from app.agents.questions.matching.column_mentions import find_column
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import is_measurable
from app.agents.questions.tables.derived_columns import REVENUES

_NUMBER = r"\d{1,12}(?:[.,]\d{1,6}){0,3}"
_BARE_BOUND = re.compile(
    r"^\W*(?:show (?:me )?|list )?(?:the )?(?P<column>[\w ]{2,40}?) (?P<bound>(?:is |was )?"
    r"(?:above|over|below|under|more than|less than|greater than|at least|at most|between|exceeding|>=?|<=?) ?"
    rf"{_NUMBER}(?: (?:and|to) {_NUMBER})?(?: [a-z%]{{1,10}})?)\W*$",
    re.IGNORECASE,
)
"""A column with a bound and nothing else, which lists rows."""
_BANDS = re.compile(
    r"^\W*(?:the )?(?P<column>[\w ]{2,40}?)(?: (?:grouped|split|counted))?(?P<bands> in(?:to)? "
    rf"(?:bands|bins|steps|buckets|groups|ranges|intervals|classes|brackets) of {_NUMBER}"
    r"(?: [a-z]{1,10})?)\W*$",
    re.IGNORECASE,
)
"""A column with the width of its classes and nothing else, which counts rows."""
_GROWTH = re.compile(
    r"^\W*(?:the |what is the |show (?:me )?(?:the )?)?(?P<measure>[\w ]{2,40}?) (?:growth|increase|change) "
    r"(?:in |over |for )?(?P<which>this|last) (?P<unit>year|quarter|month|week)\W*$",
    re.IGNORECASE,
)
"""Growth of a period over the one before it."""
_PER_FLAG = re.compile(r"\bper (?P<flag>[a-z]{3,20}) (?P<noun>[a-z]{3,20})\b", re.IGNORECASE)
_BEST_RATE = re.compile(
    r"^\W*(?:which|what) (?P<noun>[a-z_]{2,30}) (?P<verb>[a-z]{3,20})s? (?:the )?"
    r"(?P<side>best|most|most often|worst|least|least often)\W*$",
    re.IGNORECASE,
)
"""A verb that a yes/no column stores, with how well: `which device converts best`."""
_DEGREE = re.compile(
    r"\bhow (?P<adjective>warm|hot|cold|cool|deep|high|fast|strong|loud|bright|steep|windy|humid|salty) "
    r"(?:is|was|are|were) (?:the )?",
    re.IGNORECASE,
)
"""How much a measure is."""
_TOP = re.compile(
    r"^\W*(?:(?:the|our|show me the|which is the|what is the|what was the|which was the) )?"
    r"(?P<word>top|best|worst) (?P<noun>[a-z_]{2,30})(?P<rest>(?: (?!by\b|with\b|selling\b)\w{1,20}){0,5})\W*$",
    re.IGNORECASE,
)
_ON_DAY = re.compile(
    r"^\W*(?:the )?(?P<column>[\w ]{2,30}?) (?P<rest>(?:at|in|for|of|on) [^?]{2,80})\W*$", re.IGNORECASE
)
_DAY = re.compile(r"\bon (?:the )?(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4})\b", re.IGNORECASE)
"""A day that is written out, of which the value of a measure is asked for."""
_JUDGED = word_set("rating ratings score scores grade mark marks points stars satisfaction rank place")
"""Names of numbers that say themselves what is best."""


def reword_bare_phrases(question: str, tables: Sequence[TableProfile]) -> str:
    """Say what a phrase without a verb asks for, where its noun is a column."""
    columns = [column for table in tables for column in table.columns]
    if (match := _BARE_BOUND.match(question)) and _measure(match["column"], columns):
        return f"rows with {match['column']} {match['bound']}"
    if (match := _BANDS.match(question)) and _measure(match["column"], columns):
        return f"number of rows by {match['column']}{match['bands']}"
    if (match := _GROWTH.match(question)) and match["measure"].casefold() not in ("a", "the"):
        unit = match["unit"]
        former, later = ("last", "this") if match["which"].casefold() == "this" else ("previous", "last")
        return f"change in {match['measure']} between {former} {unit} and {later} {unit}"
    if (match := _BEST_RATE.match(question)) and (flag := _flag(match["verb"], columns)):
        side = "highest" if match["side"].casefold() in ("best", "most", "most often") else "lowest"
        return f"which {match['noun']} has the {side} {flag.name} rate"
    if (match := _TOP.match(question)) and (revenue := _revenue(match["noun"], columns)):
        side = "lowest" if match["word"].casefold() == "worst" else "highest"
        return f"which {match['noun']} has the {side} total `{revenue.name}`{match['rest']}"
    on_day = _ON_DAY.match(question) if _DAY.search(question) else None
    if on_day and (column := _measure(on_day["column"], columns)):
        function = "total" if default_function(column) == "sum" else "average"
        return f"{function} `{column.name}` {on_day['rest']}"
    question = _DEGREE.sub("what was the average ", question)
    return _PER_FLAG.sub(lambda match: _of_flag(match, columns), question)


def _measure(phrase: str, columns: Sequence[Column]) -> Column | None:
    """The number that a phrase names and nothing else."""
    name = find_column(phrase, [column.name for column in columns])
    column = next((column for column in columns if column.name == name), None)
    return column if column is not None and is_measurable(column) else None


def _flag(word: str, columns: Sequence[Column]) -> Column | None:
    """The yes/no column that a verb or participle names."""
    flags = [c for c in columns if flag_values(c) is not None and [stem(word)] == [*map(stem, words(c.name))]]
    return flags[0] if len(flags) == 1 else None


def _of_flag(match: re.Match[str], columns: Sequence[Column]) -> str:
    """`per converted session` is of each session that converted, and no group."""
    noun = match["noun"]
    if _flag(match["flag"], columns) is None or any(
        stem(noun) in map(stem, words(c.name)) for c in columns if not c.unique
    ):
        return match[0]
    return f"of {match['flag']} {noun if noun.endswith('s') else f'{noun}s'}"


def _revenue(noun: str, columns: Sequence[Column]) -> Column | None:
    """The only amount of money by which things of a text column are best, where none has a mark."""
    labels = [c for c in columns if c.type == "text" and not c.unique and stem(noun) == stem(words(c.name)[-1])]
    revenues = [c for c in columns if is_measurable(c) and REVENUES & {*words(c.name)}]
    is_judged = any(_JUDGED & {*words(column.name)} for column in columns)
    return revenues[0] if labels and len(revenues) == 1 and not is_judged else None
