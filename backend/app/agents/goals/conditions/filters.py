"""The rows that a goal is about: "only for the coast", "colour bookings per day", "since 2019".

A word of a goal may be a value of a column and still restrict nothing: "which passengers survived" names a
class of the target, "compare men and women" two groups. So a value is a condition only behind or before words
that restrict, and never for the target.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.agents.goals.conditions.date_filters import date_conditions
from app.agents.goals.conditions.row_conditions import Operator, RowCondition
from app.agents.goals.conditions.shared_values import SettledMentions, ValueMention, settle_mentions
from app.agents.goals.tables.column_roles import ENTITIES
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import convert
from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.signed_values import find_twins, is_meant, is_spelled
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import without_accents, words
from app.agents.goals.words.vocabulary import (
    COUNT_WORDS,
    FUNCTION_WORDS,
    IDENTIFIER_WORDS,
    SECONDS_BY_UNIT,
    word_set,
)

_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W_]+(?:_[^\W_]+)*|[<>]=?|[.;:!?,]")
_RESTRICTING = word_set("only just solely exclusively restrict restricted limit limited focus focusing")
_PLACING = word_set("for in on at from of to with among within inside where by line whose")
_SELECTING = word_set("for in among within")
"""Prepositions behind which even the head of a request is a value."""
_SKIPPED = word_set(
    "the a an our my all any those these their type kind class category region line named called"
)
"""Words between a preposition and its value: "for the coast", "of type A"."""
CLASS_NOUNS = frozenset(stems("type kind class category grade group level tier stage series"))
"""Stems of nouns that a letter names one of: "quality class L"."""
_EXCLUDING = word_set(
    "except excluding without exclude ignore ignoring besides not no skip skipping outside omit omitting"
)
_DENYING = word_set("not no")
"""Words that deny the preposition behind them: "not in Rome"."""
_EXCLUDING_PAIRS = frozenset(
    {
        ("leave", "out"),
        ("leaving", "out"),
        ("other", "than"),
        ("apart", "from"),
        ("w", "o"),
        ("all", "but"),
        ("everything", "but"),
        ("anything", "but"),
    }
)
_LISTING = word_set("and or nor ,")
"""Words between the values of a list, which share what restricts the first one: "excluding BMW and Audi"."""
_EVERYDAY = word_set(
    """
    yes no other others none unknown home high low medium good bad new old open closed first last one two three
    work day night morning evening week month year time total free paid left right up down single general basic
    standard normal active may march us it all any small large big male female
    """
)
"""Values that are everyday words of requests too: alone they restrict nothing."""
_SPANS = frozenset(map(stem, SECONDS_BY_UNIT))
_BEFORE_SPANS = word_set("next last past coming following previous per each every")
"""Stems of units of time, and words before them that make a span of time."""
_AHEAD = word_set("ahead out later hence on from")
"""Words behind a horizon."""
_COMPARING = word_set("and or vs versus than compare compared between against")
"""Words beside a value that compare it with another one, in a goal that compares."""
COMPARISON_GOAL = re.compile(
    r"\b(?:vs|versus|compar\w{0,6}|differ\w{0,7}|[a-z]{2,15}er than|(?:more|less) [a-z]{1,15} than)\b",
    re.IGNORECASE,
)
MAX_TOKENS = 300
"""Tokens of a goal that are searched for conditions: several sentences."""
MAX_VALUES = 50
"""Values of a column that are looked for: profiles list fewer."""
MAX_DISTINCT = 2_000
"""Distinct values up to which a column of texts has groups of rows and not names of single rows."""
MAX_NUMBERED = 1_000
"""Distinct values up to which whole numbers may number groups: lines, stores, sectors."""
_MIN_VALUE_LETTERS = 2
"""Letters of a value that is recognised by itself: a single letter needs the column's name beside it."""


@dataclass(frozen=True)
class _Text:
    """Tokens of a goal with their stems."""

    tokens: tuple[str, ...]
    stems: tuple[str, ...]

    def before(self, at: int) -> str:
        return self.tokens[at - 1] if at > 0 else ""

    def after(self, at: int) -> str:
        return self.tokens[at] if at < len(self.tokens) else ""


class _Place(NamedTuple):
    """The tokens of a value from `start` to before `end`; its list of values begins at `list_start`."""

    start: int
    end: int
    list_start: int


def find_conditions(
    text: str, tables: Sequence[TableProfile], target: str | None, heads: Sequence[str] = ()
) -> list[RowCondition]:
    """Find the conditions that a goal sets on the rows of joined tables.

    `target` is never restricted. `heads`: stems of the nouns that name what is asked for.
    """
    parsed = _read(text)
    conditions: dict[tuple[str, str], RowCondition] = {}
    for condition in (
        *_settle_values(parsed, text, tables, target, heads).conditions,
        *(c for table in tables for c in _number_conditions(parsed, table, target)),
        *date_conditions(text, tables[0], target),
    ):
        key = (condition.column, condition.operator)
        if key in conditions and condition.operator in ("in", "not_in"):
            values = [*dict.fromkeys([*conditions[key].values, *condition.values])]
            conditions[key] = condition.model_copy(update={"values": values})
        else:
            conditions.setdefault(key, condition)
    return list(conditions.values())


def find_open_conditions(
    text: str, tables: Sequence[TableProfile], target: str | None, heads: Sequence[str] = ()
) -> list[tuple[RowCondition, ...]]:
    """Find the conditions among which a goal does not choose: of a value that several columns have."""
    return _settle_values(_read(text), text, tables, target, heads).open


def _settle_values(
    parsed: _Text, text: str, tables: Sequence[TableProfile], target: str | None, heads: Sequence[str]
) -> SettledMentions:
    mentions = (
        mention for table in tables for mention in _find_values(parsed, text, table, target, frozenset(heads))
    )
    return settle_mentions(mentions, parsed.tokens)


def _read(text: str) -> _Text:
    tokens = tuple(_TOKEN.findall(without_accents(text.casefold()))[:MAX_TOKENS])
    return _Text(tokens, tuple(map(stem, tokens)))


def _find_values(
    parsed: _Text, text: str, table: TableProfile, target: str | None, heads: frozenset[str]
) -> Iterator[ValueMention]:
    compares = bool(COMPARISON_GOAL.search(text))
    columns_with = Counter(value for column in table.columns for value in {*map(str, column.top)})
    for column in table.columns:
        if column.name == target or not _has_groups(column):
            continue
        places = {
            value: [*_mentions(parsed, text, column, value, columns_with[str(value)] == 1)]
            for value in column.top[:MAX_VALUES]
        }
        starts = {end: start for spans in places.values() for start, end in spans}
        for value, spans in places.items():
            for start, end in spans:
                # "Predict the delay" asks for delays and does not choose rows of a status `Delay`.
                if heads & set(parsed.stems[start:end]) and not _is_restricted(parsed, start, end):
                    continue
                if parsed.after(end) in _AHEAD and any(char.isdigit() for char in str(value)):
                    continue  # "1 year ahead" is no `< 1 year` of employment
                place = _Place(start, end, _list_start(parsed, start, starts))
                if operator := _restriction(parsed, place, table, column, compares):
                    condition = RowCondition(column=column.name, operator=operator, values=[str(value)])
                    yield ValueMention(condition, start, end)
                    break
    for column in table.columns:
        if column.type == "integer" and column.name != target and 2 < column.distinct <= MAX_NUMBERED:
            yield from _numbered(parsed, column)


def _list_start(parsed: _Text, start: int, starts: Mapping[int, int]) -> int:
    """Return the beginning of the list of values that a value at `start` belongs to.

    `starts`: the beginnings of the mentioned values of its column by their ends.
    """
    at = start
    while True:
        end = at
        while parsed.before(end) in _SKIPPED or parsed.before(end) in _LISTING:
            end -= 1
        if end == at or end not in starts:
            return at
        at = starts[end]


def _is_restricted(parsed: _Text, start: int, end: int) -> bool:
    """Test if a value that stands at the head of a request restricts its rows: "the score for whites"."""
    following = parsed.after(end) in _RESTRICTING
    return following or parsed.before(start) in _SELECTING or bool(_RESTRICTING & set(parsed.tokens[:start]))


def _numbered(parsed: _Text, column: Column) -> Iterator[ValueMention]:
    """Yield a number right behind the name of a column that numbers groups: "line 7", "store 12".

    "Year 9" is one of a `year_group`.
    """
    name = [stem(unabbreviate(part)) for part in words(column.name)]
    while len(name) > 1 and (name[-1] in IDENTIFIER_WORDS or name[-1] in CLASS_NOUNS):
        name.pop()
    last = name[-1] if name else ""
    for at, token in enumerate(parsed.tokens):
        if token.isdigit() and at and parsed.stems[at - 1] == last and _is_inside(column, int(token)):
            yield ValueMention(RowCondition(column=column.name, values=[int(token)]), at - 1, at + 1)


def _has_groups(column: Column) -> bool:
    is_text = column.hint in ("category", "text") and not column.is_number
    return is_text and column.distinct <= MAX_DISTINCT and not column.unique


def _mentions(
    parsed: _Text, text: str, column: Column, value: object, is_only: bool
) -> Iterator[tuple[int, int]]:
    """Yield the places of a value. A number or a letter is a value only beside the column's name (`line 7`), or
    with signs that tell it apart (`O-`). `is_only`: no other column has it, so that a letter behind a noun like
    `class` can mean nothing else."""
    value_stems = stems(str(value))
    if not value_stems or not is_meant(text, value, column.top):
        return
    is_short = len("".join(value_stems)) < _MIN_VALUE_LETTERS or "".join(value_stems).isdigit()
    needs_name = is_short and not (find_twins(value, column.top) and is_spelled(text, value))
    if is_short and FUNCTION_WORDS.issuperset(value_stems) and not _is_letter(text, str(value)):
        return
    length = len(value_stems)
    for start in range(len(parsed.stems) - length + 1):
        if list(parsed.stems[start : start + length]) != value_stems:
            continue
        is_behind_noun = start > 0 and parsed.stems[start - 1] in CLASS_NOUNS
        is_of_class = is_only and is_behind_noun and _is_letter(text, str(value))
        if _is_span(parsed, start, start + length):
            continue
        if not needs_name or is_of_class or _stands_beside_name(parsed, start, start + length, column):
            yield start, start + length


def _is_span(parsed: _Text, start: int, end: int) -> bool:
    """Test if a word is a unit of a span of time, and no value: the days of "the next 7 days"."""
    before = parsed.before(start)
    is_counted = before.isdecimal() or before in COUNT_WORDS or before in _BEFORE_SPANS
    return end - start == 1 and parsed.stems[start] in _SPANS and is_counted


def _is_letter(text: str, value: str) -> bool:
    """Test if a text has a letter that is also a word (`A`) in capitals and inside a sentence: "a room" has an
    article."""
    return value.isupper() and re.search(rf"(?<=[\w,:] ){re.escape(value)}(?!\w)", text) is not None


def _stands_beside_name(parsed: _Text, start: int, end: int, column: Column) -> bool:
    name = set(stems(column.name))
    beside = {*parsed.stems[max(0, start - 1) : start], *parsed.stems[end : end + 1]}
    return bool(name & beside)


def _restriction(
    parsed: _Text, place: _Place, table: TableProfile, column: Column, compares: bool
) -> Operator | None:
    """Return the operator by which the words around a value restrict the rows; None if they do not."""
    start, end, at = place
    while at > 0 and parsed.tokens[at - 1] in _SKIPPED:
        at -= 1
    before, pair = parsed.before(at), tuple(parsed.tokens[max(0, at - 2) : at])
    # Before the comparison: "compare sales excluding men" leaves men out.
    if (
        before in _EXCLUDING
        or _is_excluded_before(parsed, at)
        or pair in _EXCLUDING_PAIRS
        or _is_excluded_behind(parsed, end)
    ):
        return "not_in"
    # "Compare men and women" wants the rows of both.
    if compares and (
        _COMPARING & {before, parsed.before(start)} or _COMPARING & set(parsed.tokens[end : end + 3])
    ):
        return None
    if set(parsed.tokens) & _RESTRICTING or before in _PLACING:
        return "in"
    if _stands_beside_name(parsed, start, end, column) or _names_rows(parsed.after(end), table):
        return "in"
    # A word of its own, and not one that everybody uses: "glass claims", "AUR closing price".
    return "in" if not _EVERYDAY.issuperset(parsed.tokens[start:end]) else None


def _is_excluded_before(parsed: _Text, at: int) -> bool:
    """Test if an exclusion reaches a value over a preposition or a noun: "not in Rome", "excluding type X"."""
    if parsed.before(at) in _PLACING:
        return parsed.before(at - 1) in _DENYING
    between = parsed.before(at)
    is_noun = between.isalpha() and between not in _PLACING | _LISTING | _EXCLUDING
    return is_noun and parsed.before(at - 1) in _EXCLUDING - _DENYING


def _is_excluded_behind(parsed: _Text, end: int) -> bool:
    """Test if a value is followed by its exclusion: "folk left out", "the ICU is excluded"."""
    following = [token for token in parsed.tokens[end : end + 4] if token not in ("is", "are", "ones", "not")]
    negated = "not" in parsed.tokens[end : end + 3] and following[:1] == ["counted"]
    return negated or following[:1] == ["excluded"] or following[:2] == ["left", "out"]


def _names_rows(word: str, table: TableProfile) -> bool:
    word_stem = stem(word)
    return bool(word) and (word_stem in ENTITIES or word_stem in stems(table.subject))


_SIDES: dict[str, Operator] = {
    "over": "above",
    "above": "above",
    "exceeding": "above",
    "more": "above",
    "under": "below",
    "below": "below",
    "less": "below",
    "least": "at_least",
    "most": "at_most",
    ">": "above",
    ">=": "at_least",
    "<": "below",
    "<=": "at_most",
}


def _number_conditions(parsed: _Text, table: TableProfile, target: str | None) -> Iterator[RowCondition]:
    """Yield comparisons of a column that is named beside them: "a weight over 2 kilos", "at most 2 owners"."""
    for at, token in enumerate(parsed.tokens):
        if not token[0].isdigit() or at < 2:
            continue
        side_at = at - 2 if parsed.tokens[at - 1] == "than" else at - 1
        side = _SIDES.get(parsed.tokens[side_at])
        if side is None:
            continue
        name_at = side_at - 1 if parsed.before(side_at) not in ("is", "are", "was", "of", "at") else side_at - 2
        column = _named_number(parsed, name_at, table) or _counted_number(parsed, at + 1, table)
        if column is None or column.name == target:
            continue
        value = convert(float(token.replace(",", "")), parsed.after(at + 1), column)
        if _is_inside(column, value):
            yield RowCondition(column=column.name, operator=side, values=[value])


def _counted_number(parsed: _Text, at: int, table: TableProfile) -> Column | None:
    """Return the number whose name ends with the noun behind an amount; spans of time may be of anything."""
    for end in range(at, min(at + 2, len(parsed.stems))):
        if parsed.stems[end] in _SPANS:
            return None
        column = _named_number(parsed, end, table)
        name = stems(column.name) if column else []
        if name[-1:] == [parsed.stems[end]] and set(parsed.stems[at:end]) <= set(name):
            return column
    return None


def _named_number(parsed: _Text, end: int, table: TableProfile) -> Column | None:
    """Return the number whose name's last words end at this token."""
    if end < 0:
        return None
    candidates = [
        column
        for column in table.columns
        if column.is_number
        and not _names_rows_by_number(column)
        and (parsed.stems[end] in stems(column.name) or parsed.tokens[end] == column.name.casefold())
    ]
    return candidates[0] if len(candidates) == 1 else None


def _names_rows_by_number(column: Column) -> bool:
    """Test for a number that only names something: "patients over 80" compares no `patient_id`."""
    return column.hint == "id" or bool(IDENTIFIER_WORDS & set(words(column.name)[-1:]))


def _is_inside(column: Column, value: float) -> bool:
    low, high = column.low, column.high
    return not isinstance(low, int | float) or not isinstance(high, int | float) or low <= value <= high
