"""Ages and tenures that dates imply: the years from a birth or an entry to the latest day of the data.

Now is the latest day of the data, as for `last month`: an answer that changed with the day of asking could not
be repeated. The description of the plan names that day.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.grammar_words import PERSON_NOUNS
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.tables.years import holds_years
from app.plans import build
from app.plans.expressions import Expression

_BIRTHS = frozenset({"birth", "born", "birthday", "birthdate", "dob", "yob"})
_AGE_WORDS = frozenset(map(stem, ("age", "ages", "aged", "old", "older", "younger")))
"""Stems of words that ask for an age. The oldest are found by their births, which part persons of one age."""
_BOUND_WORDS = frozenset(map(stem, ("over", "under", "above", "below", "least", "between")))
"""Stems of words that bound an age where they are said of persons: `patients over 65`."""
_PERSON_STEMS = frozenset(map(stem, PERSON_NOUNS))
_STORED_AGES = frozenset({"age", "ages", "alter"})
_DEATHS = word_set("death died dead deceased")
_AHEAD = word_set(
    "due until expiry expires expiration planned scheduled next valid deadline renewal target end ends to"
)
"""Words of names of dates that may lie ahead of now."""
_TENURE_WORDS = frozenset(map(stem, ("tenure", "seniority", "service", "experience")))
_ENTRIES = word_set("hired hire joined join started start employed entry entered enrolled since signup")
_EXITS = word_set(
    "left leaving leave exit terminated termination cancelled canceled resigned quit departed ended end"
)
_STORED_TENURES = word_set("tenure seniority service experience")
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.4375, "year": 365.25}
"""Mean days of a unit in the Julian calendar."""


def find_births(table: TableProfile) -> list[Column]:
    """Return the dates and years of birth of a table."""
    return [
        column
        for column in table.columns
        if _BIRTHS & {*words(column.name)} and (column.type == "datetime" or holds_years(column))
    ]


def ages_of(
    table: TableProfile, tables: Sequence[TableProfile], question_words: frozenset[str]
) -> Iterator[tuple[Column, Expression]]:
    """Yield the ages in full years of the persons of a table whose births it stores, if a question asks."""
    is_bounded = bool(_BOUND_WORDS & question_words and _PERSON_STEMS & question_words)
    births = find_births(table)
    if len(births) != 1 or not (_AGE_WORDS & question_words or is_bounded):
        return
    if any(column.is_number and _STORED_AGES & {*words(column.name)} for column in table.columns):
        return
    birth, now = births[0], _latest_day(tables)
    bounds = _year_of(birth.low), _year_of(birth.high)
    if now is None or bounds[0] is None or bounds[1] is None or birth.is_stored_as_text:
        return
    end = _end_of_life(table, now)
    if holds_years(birth):
        year = build.date_part("year", end) if end.kind != "literal" else build.literal(now.year)
        expression = build.arithmetic("-", year, build.column(birth.name))
    else:
        expression = build.call("years_between", build.column(birth.name), end)
    low, high = max(now.year - bounds[1] - 1, 0), now.year - bounds[0]
    yield (
        Column("age", "integer", "numeric", distinct=high - low + 1, missing=birth.missing, low=low, high=high),
        expression,
    )


def tenures_of(
    table: TableProfile, tables: Sequence[TableProfile], question_words: frozenset[str]
) -> Iterator[tuple[Column, Expression]]:
    """Yield how long the persons of a table have been there, up to now or to the day on which they left."""
    if not _TENURE_WORDS & question_words:
        return
    if any(column.is_number and _STORED_TENURES & {*name_parts(column.name)} for column in table.columns):
        return
    entries = [c for c in table.columns if _ENTRIES & {*words(c.name)} and not c.is_stored_as_text]
    dates = [c for c in entries if c.type == "datetime"]
    years = [c for c in entries if holds_years(c)]
    unit = next((unit for unit in _DAYS if stem(unit) in question_words), "year")
    now = _latest_day(tables)
    if len(dates) == 1 and now is not None:
        days = build.call("days_between", build.column(dates[0].name), _exit_of(table, now))
        expression = build.arithmetic("/", days, build.literal(_DAYS[unit]))
        yield _tenure_column(table, unit, dates[0]), expression
    elif len(years) == 1 and not dates and unit == "year":
        latest = now.year if now is not None else years[0].high
        yield (
            _tenure_column(table, unit, years[0]),
            build.arithmetic("-", build.literal(latest), build.column(years[0].name)),
        )


def _tenure_column(table: TableProfile, unit: str, entry: Column) -> Column:
    return Column(f"tenure {unit}s", "number", "numeric", distinct=table.rows, missing=entry.missing)


def _exit_of(table: TableProfile, now: datetime) -> Expression:
    """The day on which a person left, else now."""
    exits = [c for c in table.dates if not c.is_stored_as_text and c.missing > 0 and _EXITS & {*words(c.name)}]
    latest = build.moment(now.isoformat())
    return build.call("coalesce", build.column(exits[0].name), latest) if len(exits) == 1 else latest


def _end_of_life(table: TableProfile, now: datetime) -> Expression:
    """The day on which a person died, else now."""
    deaths = [c for c in table.dates if not c.is_stored_as_text and _DEATHS & {*words(c.name)}]
    latest = build.moment(now.isoformat())
    return build.call("coalesce", build.column(deaths[0].name), latest) if len(deaths) == 1 else latest


def _latest_day(tables: Sequence[TableProfile]) -> datetime | None:
    """The latest day of the dates that tell when something happened; None without such dates."""
    births = {(table.name, birth.name) for table in tables for birth in find_births(table)}
    highs = [
        moment
        for table in tables
        for column in table.dates
        if (table.name, column.name) not in births and not _AHEAD & {*words(column.name)}
        if not column.is_stored_as_text and (moment := _moment_of(column.high)) is not None
    ]
    return max(highs, default=None)


def _moment_of(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value)).replace(tzinfo=None)
    except ValueError:
        return None
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _year_of(value: object) -> int | None:
    if isinstance(value, int | float):
        return int(value)
    moment = _moment_of(value)
    return moment.year if moment else None
