"""The columns that hold the times of a question."""

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts, word_strength
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import QuestionReading, holds_years
from app.agents.questions.tables.scope import Reference


def date_reference(reading: QuestionReading, match: PhraseMatch | None = None) -> Reference | None:
    """The column of dates that is meant: the named one, that of the named rows, or the only one."""
    items = reading.text.items
    dates = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.dates
        if not column.is_stored_as_text
    ]
    if not dates:
        return None
    if match is not None:
        near = range(max(match.places[0] - 4, 0), min(match.places[-1] + 3, len(items)))
        mentioned = [r for r in dates if any(_names(items[place], r.column) for place in near)]
        if mentioned:
            return mentioned[0]
    mentioned = [r for r in dates if any(_names(item, r.column) for item in items)]
    pool = mentioned or [r for r in dates if r.table in reading.main_tables[:1]] or dates
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


_BIRTHS = frozenset({"birth", "born", "birthday", "birthdate", "dob", "yob"})


def find_birth(reading: QuestionReading) -> Reference | None:
    """The only date or year of birth, which says who is young or old where no age is stored."""
    births = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.columns
        if _BIRTHS & {*words(column.name)} and (column.type == "datetime" or holds_years(column))
    ]
    return births[0] if len(births) == 1 else None


def is_date_told(reading: QuestionReading, reference: Reference) -> bool:
    """Tell if a column of times is the only one of its table, or is named in the question."""
    dates = [c for c in reading.scope.table(reference.table).dates if not c.is_stored_as_text]
    return len(dates) == 1 or any(_names(item, reference.column) for item in reading.text.items)


def _names(item: QuestionItem, column: Column) -> bool:
    parts = [part for part in name_parts(column.name) if part not in ("date", "time", "at", "on")]
    return (
        item.kind in ("word", "name")
        and len(item.word) > 3
        and any(word_strength(item.word, part) >= 0.7 or _is_event_of(item.word, part) for part in parts)
    )


MIN_EVENT_LETTERS = 6
"""Letters with which the noun of an event and the name of its time begin: `cancellations`, `cancelled_on`."""


def _is_event_of(word: str, part: str) -> bool:
    return len(part) >= MIN_EVENT_LETTERS and word[:MIN_EVENT_LETTERS] == part[:MIN_EVENT_LETTERS]


def part_column(reading: QuestionReading, part: str) -> Reference | None:
    """A column of whole numbers that holds years, months or days."""
    numbers = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.columns
        if column.type in ("integer", "number")
    ]
    exact = next((number for number in numbers if words(number.column.name) == [part]), None)
    if exact is not None or part != "year" or any(table.dates for table in reading.scope.tables):
        return exact
    return next((number for number in numbers if words(number.column.name)[-1:] == ["year"]), None)
