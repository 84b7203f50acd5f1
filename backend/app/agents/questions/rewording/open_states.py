"""Rewording of states that a missing date of an end tells: `still out`, `unpaid`, `not returned yet`."""

import re
from collections.abc import Iterator, Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

_RETURNS = word_set("returned return back brought")
"""Words of names of the time at which something comes back."""
_ENDS = word_set(
    """
    returned return back brought end ended left closed resolved finished completed delivered collected solved
    exit paid shipped sold picked repaired released discharged
    """
)
"""Words of names of the time at which something is over."""
_THAT = r"(?:(?:that|which|who) )?(?:(?:are|is|were|was|be|have|has|had) )?"
_OUT = re.compile(
    rf"\b{_THAT}(?:(?:still|currently|now) (?:out(?: on loan)?|on loan|away|gone)"
    r"|out(?=\W*$)|not (?:yet )?(?:come |been brought |brought )?back(?: yet)?)\b",
    re.IGNORECASE,
)
"""What has not come back."""
_INSIDE = re.compile(
    rf"\b{_THAT}still (?:in (?:the )?[a-z]{{2,20}}|here|waiting|with us|in progress|to do|going on|on site)\b",
    re.IGNORECASE,
)
"""What is not over yet, by the place where it is."""
_DENIED = re.compile(
    rf"\b{_THAT}(?:un(?P<un>[a-z]{{3,15}})|(?:not|never) (?:yet )?(?:been )?(?:yet )?(?P<not>[a-z]{{3,15}})"
    r"(?: yet| so far)?)\b",
    re.IGNORECASE,
)
"""A participle that is denied: `unpaid`, `not yet returned`."""


def reword_states(question: str, tables: Sequence[TableProfile]) -> str:
    """Say of what is `still out` or `unpaid` that the date of its end is missing, if one column has such dates.

    Words that are a column's or a value's own stay: they say it themselves.
    """
    ends = [
        (column, table.name)
        for table in tables
        for column in table.dates
        if column.missing > 0 and _ENDS & {*words(column.name)}
    ]
    for pattern, own in ((_OUT, _RETURNS), (_INSIDE, _ENDS)):
        fitting = [end for end in ends if own & {*words(end[0].name)}]
        match = pattern.search(question)
        if match and len(fitting) == 1 and not _is_stored(match[0], tables):
            return _where_missing(question, match, *fitting[0])
    for match in _DENIED.finditer(question):
        word = match["un"] or match["not"]
        fitting = [end for end in ends if stem(word) in map(stem, words(end[0].name))]
        if len(fitting) == 1 and not _is_stored(match[0], tables):
            return _where_missing(question, match, *fitting[0])
    return question


def _where_missing(question: str, match: re.Match[str], column: Column, table: str) -> str:
    """Put the state behind the question, where every form of question takes a condition."""
    rest = _STILL.sub(" ", f"{question[: match.start()]} {question[match.end() :]}")
    # Each row is a thing of its own here: two copies of a book are two books that are out.
    rest = _COUNT_PHRASE.sub(lambda count: f"{count[1]} {table}", rest)
    return f"{' '.join(rest.split()).rstrip(' ?.!')} where `{column.name}` is missing"


_STILL = re.compile(r"\bstill\b", re.IGNORECASE)
_COUNT_PHRASE = re.compile(
    r"^(\W*(?:how many|number of|count of)) (?!different |distinct )[a-z]{2,30}\b", re.IGNORECASE
)


def _is_stored(phrase: str, tables: Sequence[TableProfile]) -> bool:
    """Tell if a value or a yes/no column has the last word of a phrase."""
    own = stem(words(phrase)[-1]) if words(phrase) else ""
    return any(
        own in map(stem, words(str(text)))
        for table in tables
        for column in table.columns
        for text in (*(column.values if column.type != "datetime" else ()), *_flag_name(column))
    )


def _flag_name(column: Column) -> Iterator[str]:
    if column.type == "boolean" or column.distinct == len(("no", "yes")):
        yield column.name
