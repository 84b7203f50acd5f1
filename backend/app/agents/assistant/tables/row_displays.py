"""Messages that ask for rows of a table as they are: `show orders`, `5 random rows of orders`."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.number_words import NUMBER_WORDS, read_number_words
from app.plans.plan import DatasetSource, LimitStep, Plan, SampleStep, SortStep

MAX_CHARS = 200
"""Characters of a message: longer ones ask for more than rows."""
SAMPLE_ROWS = 10
"""Rows of a sample that says no number."""
_COUNT = rf"(?P<count>\d{{1,5}}|{'|'.join(NUMBER_WORDS)})"
_RANDOM = re.compile(
    rf"(?:an? )?(?:small )?(?:random(?:ly)?(?: (?:chosen|selected|picked))? )?sample (?:of )?(?:{_COUNT} )?"
    rf"|{_COUNT.replace('count', 'number')} random(?:ly)? (?:chosen |selected |picked )?"
    rf"|random(?:ly)? (?:chosen |selected |picked )?(?:{_COUNT.replace('count', 'behind')} )?"
    r"|,? at random\b",
    re.IGNORECASE,
)
_PLAIN_COUNT = re.compile(rf"\b{_COUNT}\b ?", re.IGNORECASE)
_SHOW = re.compile(
    r"\W{0,5}(?:(?:please|can you|could you|now|i want to|let me|let us|let's) ){0,3}"
    r"(?:show|list|display|print|view|see|open|give|look at|what (?:does|do)|browse)(?: me| us)?"
    r"(?: (?:all|every|the|whole|full|entire|rows|records|data|table|of|in|from|dataset|everything)){0,6}"
    r" [`\"']?(?P<table>[^\W\d]\w{0,62})[`\"']?"
    r"(?: (?:table|dataset|rows|records|data|look like|please)){0,2}\W{0,5}",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:show|list|display|print|give|view|see|pick|choose|select|draw|take|get)\b", re.IGNORECASE
)


class RowDisplay(NamedTuple):
    """A plan of rows, and how it was read."""

    plan: Plan
    readings: Sequence[str] = ()


def plan_row_display(
    message: str,
    tables: Sequence[TableProfile],
    parse_question: Callable[[str], ParsedQuestion | UnparsedQuestion],
) -> RowDisplay | None:
    """Plan the rows of a table that a message names, all or some by chance; None for another message."""
    if len(message) > MAX_CHARS:
        return None
    if match := _SHOW.fullmatch(message):
        table = _find_table(match["table"], tables)
        return RowDisplay(_make_rows(table)) if table else None
    return _plan_sample(message, tables, parse_question)


def _find_table(name: str, tables: Sequence[TableProfile]) -> TableProfile | None:
    exact = next((table for table in tables if table.name.casefold() == name.casefold()), None)
    return exact or next(
        (table for table in tables if stem(table.name.casefold()) == stem(name.casefold())), None
    )


def _make_rows(table: TableProfile) -> Plan:
    return Plan(source=DatasetSource(kind="dataset", table=table.name), steps=[])


def _plan_sample(
    message: str,
    tables: Sequence[TableProfile],
    parse_question: Callable[[str], ParsedQuestion | UnparsedQuestion],
) -> RowDisplay | None:
    """Plan rows by chance. The rest of the message is read as a question for rows, with its conditions."""
    match = _RANDOM.search(message)
    if match is None or not (_VERB.search(message) or match.start() < _MAX_START):
        return None
    rest = message[: match.start()] + message[match.end() :]
    number = match["count"] or match["number"] or match["behind"]
    if number is None and (plain := _PLAIN_COUNT.search(rest)):
        number, rest = plain["count"], rest[: plain.start()] + rest[plain.end() :]
    count = read_number_words(number) if number else SAMPLE_ROWS
    if not count:
        return None
    source = _read_source(rest, tables, parse_question)
    if source is None:
        return None
    steps = [step for step in source.plan.steps if not isinstance(step, LimitStep | SortStep)]
    sample = SampleStep(kind="sample", rows=count)
    return RowDisplay(source.plan.model_copy(update={"steps": [*steps, sample]}), source.readings)


_MAX_START = 3
"""Characters before the words of a sample that has no verb: `a random sample of 20 orders`."""
_ROW_WORDS = re.compile(
    r"\b(?:show|list|display|print|give|view|see|pick|choose|select|draw|take|get|me|us|please|rows?|records?"
    r"|lines|entries|the|of|from|in|some|any|table|data|dataset|sample|an?)\b|\W",
    re.IGNORECASE,
)


def _read_source(
    rest: str,
    tables: Sequence[TableProfile],
    parse_question: Callable[[str], ParsedQuestion | UnparsedQuestion],
) -> RowDisplay | None:
    """Read what a sample is taken of: a table, or rows that meet conditions."""
    noun = _ROW_WORDS.sub(" ", rest).strip()
    if not noun:
        # Of several tables none is meant more than the others.
        return RowDisplay(_make_rows(tables[0])) if len(tables) == 1 else None
    if table := _find_table(noun, tables):
        return RowDisplay(_make_rows(table))
    parsed = parse_question(f"show the rows {rest.strip()}" if not _VERB.search(rest) else rest)
    if not isinstance(parsed, ParsedQuestion):
        return None
    has_groups = any(step.kind in ("group", "profile", "correlate", "pivot") for step in parsed.plan.steps)
    return None if has_groups else RowDisplay(parsed.plan, parsed.interpretations)
