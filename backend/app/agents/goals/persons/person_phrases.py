"""Phrases of goals about what single persons will do: the outcome and the horizon that they name."""

import re
from collections.abc import Sequence

from app.agents.goals.goal import Goal
from app.agents.goals.persons.calendar_words import find_calendar_period
from app.agents.goals.persons.person_table import PersonOutcome
from app.agents.goals.persons.transactions import PERSON_STEMS
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import COUNT_WORDS, PERSONS, SECONDS_BY_UNIT, word_set

_DEED = (
    r"(?:buy|order|purchas|shop|book|visit|donat|giv|com|return|rent|play|call|spend|deposit|renew|borrow|pay"
    r"|subscrib|log(?:ging)? in|mak(?:e|ing) (?:a|an|another) (?:purchase|order|visit|booking|donation|gift)"
    r"|be(?:ing)? (?:readmitted|active|back))(?:e|es|s|ing)?"
)
_PERSON = rf"(?:{'|'.join(sorted(PERSONS))})s?"
_NOT = (
    r"(?:(?:wo|do|does|is|are)n['\u2019]?t|(?:will|do|does|is|are) (?:\w+ )?not|never|no longer|nobody"
    r"|unlikely to|fail(?:s|ing)? to|without ever)"
)
_AGAIN = re.compile(
    rf"\b(?:{_DEED} (?:\w+ ){{0,3}}(?:again|back|once more)|{_DEED} another"
    r"|com(?:e|es|ing) back|be back|re-?(?:order|purchas|buy|book)\w{0,4}|readmi(?:t|ssion)\w{0,4}"
    r"|repeat (?:purchas|order|buy|book|visit|customer)\w{0,4}|retention|win back)\b",
    re.IGNORECASE,
)
"""Words for a person who comes back."""
_ABSENT = re.compile(
    rf"\b{_NOT} (?:\w+ ){{0,2}}{_DEED}\b|\b{_NOT} (?:\w+ ){{0,4}}(?:again|back)\b", re.IGNORECASE
)
"""Words for a person who will not come back: the ranking begins with these."""
_WAS_ABSENT = re.compile(r"\b(?:have|has|had|did)(?: not|n['\u2019]?t| never)\b", re.IGNORECASE)
"""Words for a person who was not there."""
_STOP = re.compile(
    rf"\b(?:(?:stop|quit|ceas)\w{{0,4}} {_DEED}|churn\w{{0,4}}|attrition|lapsed?|defect(?:s|ing)?"
    rf"|(?:about|going|likely|risk) (?:to|of) (?:los|leav|laps|quit|stop|cancel)\w{{0,4}}"
    rf"|(?:might|may|could|will) (?:lose|leave|lapse|quit|stop|drop out)"
    rf"|(?:becom\w{{1,3}}|go(?:es|ing)?|turn\w{{0,3}}) inactive"
    rf"|los(?:e|ing) (?:as |a |our |the )?{_PERSON}|{_PERSON} at risk)\b",
    re.IGNORECASE,
)
"""Words for a person who does not come back."""
_VALUE = re.compile(
    rf"\b(?:life-?time value|cltv|clv|ltv|(?:future )?{_PERSON}(?:['\u2019]s)? (?:future )?(?:value|worth))\b",
    re.IGNORECASE,
)
_SPENDING = re.compile(
    rf"\b(?:how much\b.{{0,60}}\b{_PERSON} (?:is |are )?(?:will|going to|spend\w*|pay\w*)"
    rf"|{_PERSON}\b.{{0,30}}\bhow much (?:they|each)\b.{{0,20}}\b(?:spend|pay|order|buy|give|donate)\w*"
    rf"|(?:spend\w{{0,4}}|spent|revenue|sales|turnover|amount|value)\b.{{0,40}}\b(?:of|per|by|for|from) "
    rf"(?:each |every |an? |the )?(?:single )?{_PERSON})\b|\beach {_PERSON}(?:'s|s')? (?:spend|revenue|total)",
    re.IGNORECASE,
)
"""Words for what each person spends."""
_NUMBER = re.compile(
    rf"\b(?:how (?:many|often)|number of)\b.{{1,40}}\b(?:each|every|per|an?|the|by|for) {_PERSON}\b",
    re.IGNORECASE,
)
"""Words for what each person does, counted."""
_DOES = re.compile(
    rf"\b(?:which|what|who|the)(?:'ll)? ?(?:{_PERSON}|of (?:our|the|my) {_PERSON})? ?"
    rf"(?:will|is going to|are going to|(?:is |are )?(?:most )?likely to) (?:\w+ )?{_DEED}\b"
    rf"|\bwill (?:the |an? |each )?{_PERSON} {_DEED}\b"
    rf"|\b(?:likelihood|probability|probabilities|chances?|odds|propensity)\b.{{0,40}}\b{_DEED}\b",
    re.IGNORECASE,
)
"""Words for a person who does something in a time to come."""
_AHEAD = re.compile(r"\b(?:will|going to|coming|next|future|upcoming|expected)\b", re.IGNORECASE)
"""Words for a time to come, where its length is not read."""
_HALF_YEAR = re.compile(r"\b(?:half|six)[- ](?:a )?(?:year|months?)\b", re.IGNORECASE)
HALF_YEAR_DAYS = 183
"""Days of half a year."""
_HOW_MANY_PERSONS = re.compile(rf"\b(?:how many|number of)(?: \w+)? {_PERSON}\b", re.IGNORECASE)
"""Words for a number of persons: one figure of all of them, and no prediction for each."""
_UNITS = "|".join(SECONDS_BY_UNIT)
_COUNTS = rf"\d{{1,4}}|{'|'.join(COUNT_WORDS)}"
_SPAN = re.compile(
    rf"\b(?:within|over|during|inside|for|in)(?: the| a| an)?(?: next| coming| following)?"
    rf" ?(?P<count>{_COUNTS})?[- ](?P<unit>{_UNITS})s?\b"
    r"|(?<!last )(?<!past )(?<!previous )(?<!preceding )"
    rf"\b(?P<days>{_COUNTS})[- ](?P<unit_of_days>{_UNITS})s?\b(?! of| ago| old)",
    re.IGNORECASE,
)
"""A span of time that is not behind `next`: within 30 days, over a year, 30-day readmission, CLV, 12 months."""
_PAST_SPAN = re.compile(r"\b(?:last|past|previous|preceding)\b", re.IGNORECASE)
_OUTCOMES = frozenset(
    stem(word)
    for word in word_set(
        """
        churn cancelled canceled cancellation lapsed renewed renewal repeat repurchase reorder rebooked retained
        retention attrition active inactive left stayed closed lost lifetime ltv clv again unsubscribed
        terminated exited readmitted readmission relapsed relapse recurred revisit dropout resubscribed
        """
    )
)
"""Stems of names and values that tell the outcome."""
_WHOLE_WORDS = {"cust": "customer", "kunde": "customer"}
"""Words of columns that make no English plural."""
MAX_TOLD_VALUES = 30
"""Values of a column that may tell an outcome."""


def find_outcome(goal: Goal, *, has_many: bool) -> PersonOutcome | None:
    """Find the outcome that a goal asks for; None if it asks for something else.

    `has_many`: the table has so many persons that amounts and counts are no series, one for each.
    """
    text = goal.text
    # Who was absent is a question about stored rows.
    if _WAS_ABSENT.search(text) and not goal.lookahead:
        return None
    # Who stops leaves no row that a series could count.
    if _STOP.search(text) or _ABSENT.search(text):
        return "inactive"
    if asks_how_many(goal):
        return None
    if _VALUE.search(text):
        return "sum"
    is_of_each = has_many and bool(goal.lookahead or _AHEAD.search(text))
    if is_of_each and _SPENDING.search(text):
        return "sum"
    if is_of_each and _NUMBER.search(text):
        return "count"
    if _AGAIN.search(text) or (_DOES.search(text) and horizon_days(goal)):
        return "active"
    return None


def asks_how_many(goal: Goal) -> bool:
    """Test for a goal about one figure of all persons together: a series, and no prediction for each."""
    return _HOW_MANY_PERSONS.search(goal.text) is not None


def find_noun(goal: Goal, word: str) -> str:
    """Find the plural that the goal has for persons, else that of the `word` in their column's name."""
    names = [token for token in words(goal.text) if stem(token) in PERSON_STEMS]
    name = _WHOLE_WORDS.get(word, word) if not names else names[0]
    return name if name.endswith("s") else f"{name}s"


def tells_outcome(outcome: PersonOutcome, tables: Sequence[TableProfile]) -> bool:
    """Test for a column that tells the outcome already: `churned`, or a status of who left."""
    for table in tables:
        for column in table.columns:
            if _OUTCOMES & set(map(stem, words(column.name))):
                return True
            # A cancelled order does not tell who orders again; of who leaves it may.
            values = column.values if outcome == "inactive" and column.distinct <= MAX_TOLD_VALUES else ()
            if any(stem(word) in _OUTCOMES for value in values for word in words(str(value))):
                return True
    return False


def horizon_days(goal: Goal) -> int | None:
    """Return the horizon in the goal's words; None if it names none."""
    if goal.lookahead and goal.lookahead.seconds:
        return max(1, round(goal.lookahead.seconds / SECONDS_BY_UNIT["day"]))
    for match in _SPAN.finditer(goal.text):
        if _PAST_SPAN.search(match[0]):
            continue
        count = (match["count"] or match["days"] or "1").lower()
        unit = (match["unit"] or match["unit_of_days"]).lower()
        number = COUNT_WORDS.get(count) or int(count)
        return max(1, round(number * SECONDS_BY_UNIT[unit] / SECONDS_BY_UNIT["day"]))
    if _HALF_YEAR.search(goal.text):
        return HALF_YEAR_DAYS
    period = find_calendar_period(goal.text)
    return period.days if period else None
