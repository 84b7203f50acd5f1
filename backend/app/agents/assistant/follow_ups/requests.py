"""Messages that change the last result: `only 2024`, `those again, but with the product name`, `by region`.

A message is split into its changes. Each is read as a change of the last plan by what its words name (a
condition, groups, figures, a column, an order, a number of rows), whatever the sentence around them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.agents.assistant.follow_ups.change_phrases import RENAME
from app.agents.assistant.follow_ups.changed_plan import ChangedPlan
from app.agents.assistant.follow_ups.earlier_answers import return_to_answer
from app.agents.assistant.follow_ups.last_answer import LastAnswer, find_last_answer
from app.agents.assistant.follow_ups.plan_changes import ChangeReader
from app.agents.assistant.follow_ups.shifted_periods import read_shifted_period
from app.agents.assistant.follow_ups.shown_columns import names_place
from app.agents.assistant.follow_ups.sorting import orders_by_column
from app.agents.assistant.follow_ups.underlying_rows import read_underlying_rows
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.charts.chart_phrases import ChartPhrase, parse_chart_phrase
from app.agents.questions.matching.column_mentions import find_column
from app.plans.plan import Plan

MAX_CHARS = 300
"""Characters of a follow-up: longer messages say all that they ask for."""
_FILLER = (
    r"(?:please|can you|could you|would you|now|then|ok|okay|and|but|also|so|just|again|show(?: me| us)?"
    r"|give(?: me| us)?|let me see|let's see|i want(?: to see)?|i would like(?: to see)?"
    r"|i'd like(?: to see)?|make"
    r"|do|(?:the )?same(?: thing| query| table| chart| question)?|redo|repeat|what about|how about|instead"
    r"|rather)"
)
_ANAPHOR = (
    r"(?:those|these|them|that|it|this|the (?:result|results|same|table|chart|answer|list|rows|last one"
    r"|last result)"
    r"|same)(?: ones?| rows?| again| too)?"
)
_LEADING = re.compile(rf"^[\s,;:.]*(?:{_FILLER}|{_ANAPHOR})\b[\s,;:]*", re.IGNORECASE)
_TRAILING = re.compile(
    r"[\s,;:.?!]{0,20}\b(?:instead|please|too|also|as well|again|now|rather|then)?[\s?!.,;:]{0,20}$",
    re.IGNORECASE,
)
_REFERS = re.compile(rf"\b(?:{_ANAPHOR}|again)\b", re.IGNORECASE)
_REPLACES = re.compile(r"\b(?:instead|rather|what about|how about)\b", re.IGNORECASE)
_ADDS = re.compile(
    r"\b(?:also|too|as well|additionally|add|plus|within each)\b|^\W*and\b(?! (?:what|how) about)",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"^\W*(?:the )?(?:only|percent|percentages?|share"
    r"|what (?:share|percentage|proportion|fraction)"
    r"|just|now|but|and|also|what about|how about|without|excluding|exclude|except|not|drop"
    r"|remove|hide|leave out|omit|add|include|including|with|plus|by|per|for|in|from|since|before|after"
    r"|until|where"
    r"|sort|sorted|order|ordered|rank|ranked|arrange|reverse|flip|limit|group|grouped|split|break|broken"
    r"|restrict"
    r"|filter|keep|other way|top|bottom|first|last|all|everything|ascending|descending|highest|lowest|biggest"
    r"|smallest|largest|most|least|best|worst|fewest|cheapest|longest|shortest|latest|earliest|newest|oldest"
    r"|greatest|second|third|next|others|remaining|rest|redo|repeat|same|as|use|switch|change|replace|instead)\b|\binstead\b.{0,40}$"
    r"|^\W*(?:put|bring|take|get) .{1,60} back\b"
    r"|^\W*how many(?: \w{1,20})? (?:(?:are|is|were)(?: \w{1,10})? (?:left|remaining)|remain)\b"
    r"|^\W*(?:sum|add) (?:it|them|those|these|that|everything) up\b"
    r"|^\W*(?:call|name|rename|label)\b|\bfirst\W*$"
    r"|^\W*(?:show|give|make)(?: me| us| it)? (?:the )?\d{1,3}\W*$"
    r"|^\W*(?:please )?(?:show|list|give|see)(?: me| us)? (?:only|just)\b"
    r"|^\W*(?:show|list|see)(?: me| us)? (?:all )?(?:the )?(?:others?|remaining|rest)\b"
    r"|^\W*(?:which|who|what)(?: one)? (?:is|was|comes?|came) (?:in )?(?:the )?(?:second|third|next)\b"
    r"|^\W*(?:which|who|what)(?: \w{1,30})? (?:is|has|had|was) (?:the )?(?:highest|most|largest|biggest"
    r"|best|lowest|least|smallest|worst|fewest)(?: one)?\W*$",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(
    r"^\W{0,5}(?:(?:and|now|ok|okay|then|please|show me|what about|how about|what was it|how was it|for|in)"
    r"[\s,]{1,3}){0,3}",
    re.IGNORECASE,
)
_FIRST_ROWS = re.compile(
    r"\W*(?:show|give|list|display|print|let me see)?(?: me| us)? ?(?:the )?(?:first|last) \w{1,10}"
    r" (?:rows|records|lines|entries)"
    r"(?: of .+)?\W*",
    re.IGNORECASE,
)
"""A question for rows of a table: the last result is not meant."""
_SIZE = re.compile(
    r"\W*how many (?:rows|records|lines|entries)"
    r" (?:are there|are in it|does it have|has it|do we have|in total)\W*",
    re.IGNORECASE,
)
"""A question for the size of a table."""
_SPLIT = re.compile(
    r"\s{0,8}(?:;|,? then |,? (?:and |but )(?=(?:only|sort|order|with|by|per|without|top|limit|keep|in (?:a"
    r"|de)scending)\b)"
    r"|, (?:but )?(?=(?:only|sort|order|with|by|without|top|limit|excluding)\b))\s{0,8}",
    re.IGNORECASE,
)
_INSTEAD_OF = re.compile(
    r"\s(?:instead of|rather than) (?:the )?[a-z]{1,30}(?: [a-z]{1,30}){0,2}(?=\W{0,10}$)", re.IGNORECASE
)
"""What a change replaces, which the last result says as well: `average instead of total`."""
_AS_TABLE = re.compile(
    r"\b(?:as|in) an? (?:plain |simple )?table\b|\b(?:just |only )?the numbers(?: only)?\b|\bno chart\b"
    r"|\bwithout (?:the |a )?chart\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class FollowUp:
    """A changed plan. `phrase`: the chart that it is to be drawn as. `readings`: its changes in words."""

    plan: Plan
    readings: Sequence[str]
    phrase: ChartPhrase | None = None
    chart: LastChart | None = None


def read_follow_up(
    message: str, earlier: Sequence[EarlierTurn], tables: Sequence[TableProfile]
) -> FollowUp | None:
    """Read a message as changes of the last result; None where it is none, or some of its words fit nothing.

    Raises UnclearChange for a change whose words leave something open.
    """
    if len(message) > MAX_CHARS:
        return None
    returned = return_to_answer(message, earlier)
    if returned is not None and returned.answer.plan is not None:
        return FollowUp(returned.answer.plan, [returned.reading], chart=returned.answer.chart)
    last = find_last_answer(earlier)
    if last is None:
        return None
    if derived := _read_whole(message, last, tables):
        return FollowUp(derived.plan, derived.readings)
    phrase = parse_chart_phrase(message)
    text = phrase.subject if phrase else " ".join(message.split())
    if (
        (phrase is not None and phrase.shows_last_result)
        or _FIRST_ROWS.fullmatch(text)
        or _SIZE.fullmatch(text)
    ):
        return None
    as_table = _AS_TABLE.search(text)
    text = _AS_TABLE.sub(" ", text).strip() if as_table else text
    if as_table and not _strip(text):
        return FollowUp(last.plan, ["The last result as a table."])
    if not (_CHANGES.search(text) or _REFERS.search(message) or _REPLACES.search(message)):
        return None
    changed = _apply_changes(text, last, tables)
    if changed is None:
        return None
    chart = None if as_table or phrase else last.chart
    return FollowUp(changed.plan, changed.readings, phrase, chart)


def _read_whole(message: str, last: LastAnswer, tables: Sequence[TableProfile]) -> ChangedPlan | None:
    """Read a message as one change of which every word counts: those that others only introduce as well."""
    if rows := read_underlying_rows(message, last.plan, tables):
        return rows
    words = _INTRODUCTION.sub("", message).strip(" ,;:.?!")
    return read_shifted_period(words, last.plan)


def renames_column(message: str, earlier: Sequence[EarlierTurn]) -> bool:
    """Test for a message that gives a column of the last result another name."""
    last = find_last_answer(earlier)
    match = RENAME.fullmatch(_strip(message)) if last and len(message) <= MAX_CHARS else None
    if match is None or last is None:
        return False
    former = match["former"]
    return former is None or names_place(former) or find_column(former, last.columns) is not None


def _apply_changes(text: str, last: LastAnswer, tables: Sequence[TableProfile]) -> ChangedPlan | None:
    """Apply all changes of a message, in their order."""
    plan, readings = last.plan, list[str]()
    is_order_chosen = orders_by_column(last.message, last.columns)
    replaces, adds = bool(_REPLACES.search(text)), bool(_ADDS.search(text))
    for part in _SPLIT.split(_INSTEAD_OF.sub("", text)):
        words = _strip(part)
        if not words:
            continue
        changed = ChangeReader(plan, tuple(tables), replaces, adds, is_order_chosen).read(words)
        # Half of a follow-up would look like an answer to all of it.
        if changed is None:
            return None
        plan = changed.plan
        readings += changed.readings
    return ChangedPlan(plan, readings) if readings else None


def _strip(text: str) -> str:
    """Take the words off a change that only say that there is one."""
    before = None
    while before != text:
        before = text
        text = _LEADING.sub("", text)
    return _TRAILING.sub("", text).strip(" ,;:.?!")
