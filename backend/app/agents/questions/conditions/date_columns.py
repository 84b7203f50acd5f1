"""The columns that hold the times of a question."""

from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts, word_strength
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import (
    QuestionReading,
)
from app.agents.questions.tables.ages import find_births
from app.agents.questions.tables.scope import Reference


def date_reference(reading: QuestionReading, match: PhraseMatch | None = None) -> Reference | None:
    """The column of dates that is meant: the named one, that of the named rows or figures, or the only one."""
    items = reading.text.items
    dates = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.dates
        if not column.is_stored_as_text
    ]
    if not dates:
        return None
    if match is not None and (nearest := _nearest_reference(items, match, dates)):
        return nearest
    mentioned = [r for r in dates if any(_names(item, r.column) for item in items)]
    # `appointments` are rather those of `appt_dt` than of `booked_on`, which is only used alike.
    mentioned.sort(key=lambda r: -max(_strength(item, r.column) for item in items))
    pool = (
        mentioned
        or [r for r in dates if r.table in reading.main_tables[:1]]
        or [r for r in dates if r.table in _tables_of_figures(items)]
        or dates
    )
    if len(pool) > 1 and not mentioned:
        pool = sorted(
            pool,
            key=lambda r: (
                r.column.missing,
                [c.name for c in reading.scope.table(r.table).columns].index(r.column.name),
            ),
        )
        reading.note(f"Times are those of `{pool[0].column.name}`.")
    return pool[0]


def _tables_of_figures(items: Sequence[QuestionItem]) -> set[str]:
    """The tables of the numbers that a question names: `revenue by month` is by the time of an order, not by
    that of its customer."""
    best = [item.columns[0] for item in items if item.columns]
    return {match.table for match in best if match.column.type in ("integer", "number")}


MAX_DISTANCE_BEFORE, MAX_DISTANCE_BEHIND = 4, 2
"""Words between a time and the name of its column, before the time and behind it."""


def _nearest_reference(
    items: Sequence[QuestionItem], match: PhraseMatch, dates: Sequence[Reference]
) -> Reference | None:
    """The dates whose name stands nearest to a time: `loans due before May` are those of `due_date`."""
    first, last = match.places[0], match.places[-1]
    before = range(first - 1, max(first - MAX_DISTANCE_BEFORE, 0) - 1, -1)
    behind = range(last + 1, min(last + 1 + MAX_DISTANCE_BEHIND, len(items)))
    for place in sorted((*before, *match.places, *behind), key=lambda at: max(first - at, at - last, 0)):
        for reference in dates:
            if _names(items[place], reference.column):
                return reference
    return None


def find_birth(reading: QuestionReading) -> Reference | None:
    """The only date or year of birth, which says who is young or old where no age is stored."""
    births = [Reference(table.name, birth) for table in reading.scope.tables for birth in find_births(table)]
    return births[0] if len(births) == 1 else None


def is_date_told(reading: QuestionReading, reference: Reference) -> bool:
    """Tell if a column of times is the only one of its table, or is named in the question."""
    dates = [c for c in reading.scope.table(reference.table).dates if not c.is_stored_as_text]
    return len(dates) == 1 or is_named_date(reading, reference)


def is_named_date(reading: QuestionReading, reference: Reference) -> bool:
    """Tell if a word of the question names a column of times."""
    return any(_names(item, reference.column) for item in reading.text.items)


def is_spelled_in(item: QuestionItem, column: Column) -> bool:
    """Tell if a word stands in the name of a column of times, other than as a general word."""
    return item.word in _specific_parts(column)


_GENERAL_PARTS = word_set("date time at on dt ts day last latest first next prev previous current")
"""Parts of names of times that are in many of them, or that a period has: `last month` is no `last_cleaned`."""
MIN_NAMING_STRENGTH = 0.7
"""Strength of a match from which a word names a time."""


def _specific_parts(column: Column) -> list[str]:
    return [part for part in name_parts(column.name) if part not in _GENERAL_PARTS]


def _names(item: QuestionItem, column: Column) -> bool:
    return _strength(item, column) >= MIN_NAMING_STRENGTH


def _strength(item: QuestionItem, column: Column) -> float:
    """The strength with which a word names a column of times, from 0 to 1."""
    parts = _specific_parts(column)
    if item.kind not in ("word", "name") or (len(item.word) <= MAX_VAGUE_LETTERS and item.word not in parts):
        return 0.0
    strengths = (
        max(word_strength(item.word, part), MIN_NAMING_STRENGTH * _is_event_of(item.word, part))
        for part in parts
    )
    return max(strengths, default=0.0)


MAX_VAGUE_LETTERS = 3
"""Letters of a word that names a time only as it is spelled in its name: `due`."""
MIN_EVENT_LETTERS = 6
"""Letters with which the noun of an event and the name of its time begin: `cancellations`, `cancelled_on`."""


def _is_event_of(word: str, part: str) -> bool:
    return len(part) >= MIN_EVENT_LETTERS and word[:MIN_EVENT_LETTERS] == part[:MIN_EVENT_LETTERS]


_PART_ABBREVIATIONS = {
    "hour": ("hr", "hh", "hod"),
    "weekday": ("dow", "wday", "wkday"),
    "week": ("wk",),
    "month": ("mth", "mnth", "mon"),
    "year": ("yr", "yyyy"),
}
"""Names that data sets give to columns of parts of dates: `hr` of shared bikes."""


def part_column(reading: QuestionReading, part: str) -> Reference | None:
    """A column of whole numbers that holds years, months or days."""
    numbers = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.columns
        if column.type in ("integer", "number")
    ]
    spellings = ([part], *([name] for name in _PART_ABBREVIATIONS.get(part, ())))
    exact = next((number for number in numbers if words(number.column.name) in spellings), None)
    if exact is not None or part != "year" or any(table.dates for table in reading.scope.tables):
        return exact
    return next((number for number in numbers if words(number.column.name)[-1:] == ["year"]), None)
