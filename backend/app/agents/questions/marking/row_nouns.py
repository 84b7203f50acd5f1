"""Nouns that name the rows of tables: by name, by what identifies the rows, by what they are used for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.agents.goals.tables.profiles import Column, TableProfile, row_spacing_s
from app.agents.goals.words.concepts import expand, share_concept
from app.agents.goals.words.stemming import stem, stems, tells_agent_from_event
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS, SECONDS_BY_UNIT, word_set
from app.agents.questions.grammar_words import (
    KNOWN_WORDS,
    PERSON_NOUNS,
    ROW_NOUNS,
    ROW_WORDS,
    SUPERLATIVES,
)
from app.agents.questions.grammatical_number import is_plural
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import STEM, name_parts, related_strength
from app.agents.questions.question_reading import AMBIGUITY, is_measurable

MIN_ROW_STRENGTH = 0.45
"""Strength from which a noun is taken for the rows of a table by its use."""


def row_noun_strengths(table: TableProfile) -> dict[str, float]:
    """Stems of nouns that name the rows of a table, with their strength."""
    parts = words(table.subject)
    # The last word of the subject is its noun: rows of `order_items` are items rather than orders.
    nouns = dict.fromkeys((stem(part) for part in parts[:-1]), 0.8) | dict.fromkeys(map(stem, parts[-1:]), 1.0)
    for column in table.columns:
        own = name_parts(column.name)
        if column.unique and len(own) == 1 and _names_rows(column) and own[0] not in _NEVER_NOUNS:
            nouns.setdefault(stem(own[0]), 0.9)
        if column.unique and (set(own) & IDENTIFIER_WORDS or column.numbers_rows):
            for part in own:
                if part not in IDENTIFIER_WORDS:
                    nouns.setdefault(stem(part), 0.9)
        if _tells_trait(column, table):
            nouns.setdefault(stem(own[0]), 0.6)
        # Of `machine_failure` machines have it: their plural is no failure.
        if column.distinct == FLAG_VALUES and len(own) == FLAG_WORDS and own[1] not in _FLAG_MARKS:
            nouns.setdefault(f"{stem(own[0])}s", 0.6)
        if column.type == "datetime":
            for part in words(column.name):
                nouns.setdefault(f"{stem(part)}s", 0.65)
    return nouns


FLAG_VALUES, FLAG_WORDS = 2, 2
"""Different values of a column of yes or no, and words of a name that tells who has what."""
_FLAG_MARKS = word_set(
    """
    flag label status indicator ind reported detected confirmed diagnosed present known yn yes target class
    outcome result value type group code bin binary level category rate
    """
)
"""Last words of names of yes/no columns by which the word before is what is told: `fraud_reported`."""


def _tells_trait(column: Column, table: TableProfile) -> bool:
    """Tell if a column says a trait of the person that a row is about: `runner_country` without a `runner`.

    Where a column names or numbers the person, the rows are rather what happens to persons that come back.
    """
    own = words(column.name)
    if len(own) != 2 or own[0] not in PERSON_NOUNS | PERSONS or own[1] not in _TRAITS:
        return False
    others = [words(other.name) for other in table.columns if own[0] in words(other.name)]
    return all(len(other) == 2 and other[1] in _TRAITS for other in others)


_NEVER_NOUNS = IDENTIFIER_WORDS | word_set(
    "name title label email mail phone telephone address url link path text note comment description date time"
)
"""Words of columns that tell rows apart and do not say what they are."""


def _names_rows(column: Column) -> bool:
    """Tell if a text says which row it is in every row: `house` of codes such as `H-001`."""
    return column.type == "text" and column.missing == 0 and column.hint == "id"


PEOPLE = word_set("people persons inhabitants residents participants visitors passengers guests attendees")
_PERSON_COUNTS = PEOPLE | word_set("population enrolled enrolment attendance headcount pax")
"""Words for any people, and words of columns that hold their number."""
_PERSON_TRAITS = word_set("age sex gender height weight salary income wage born birth birthday education")
"""Words of columns of tables whose rows are persons."""
_TRAITS = _PERSON_TRAITS | word_set("country nationality")
"""Words of columns that say something of a person beside the person's own name."""


def may_be_rows(word: str, table: TableProfile) -> bool:
    """Tell if a common noun may name the rows of a table: customers are no rows of a table of tickets."""
    if any(c.is_number and c.can_be_target and [stem(word)] == stems(c.name) for c in table.columns):
        return False  # a column has their number or their worth: `sales` of days
    if word not in PERSON_NOUNS:
        return word in ROW_WORDS
    if any(c.is_number and not c.unique and stem(word) in map(stem, words(c.name)[:-1]) for c in table.columns):
        return False  # a column measures them: `customers_out` of outages, `passenger_count` of trips
    if word in PEOPLE and any(
        c.type == "integer" and _PERSON_COUNTS & set(words(c.name)) for c in table.columns
    ):
        return False  # a column counts them: the `population` of towns
    noun = words(table.name)[-1] if words(table.name) else ""
    is_other = noun in ROW_WORDS - PERSON_NOUNS
    others = [column for column in table.columns if words(column.name)[-1:] and _names_person(column)]
    return not (is_other and others) or any(_PERSON_TRAITS & set(words(c.name)) for c in table.columns)


def _names_person(column: Column) -> bool:
    """Tell if a column holds persons that come back: the `agent` of tickets."""
    nouns = _PERSON_ROLES | PERSON_NOUNS
    return column.type == "text" and not column.unique and words(column.name)[-1] in nouns


_PERSON_ROLES = word_set(
    "agent seller salesperson owner author teacher manager rep assignee operator technician"
)
"""Nouns of columns that hold persons who are not the rows' own."""


_NEVER_ROWS = word_set(
    """
    data dataset month year week quarter hour table rate level value number days' date time
    """
)


def row_tables(
    word: str, tables: Sequence[TableProfile], nouns: Mapping[str, Mapping[str, float]]
) -> tuple[str, ...]:
    """Tables whose rows a noun names, the likeliest first: by name, or by what identifies the rows.

    `nouns`: by table the strengths of `row_noun_strengths`.
    """
    own = expand(word)
    if len(word) < 3 or word in _NEVER_ROWS:
        return ()
    if word in _OF_TWO_PLACES and not any(own in nouns[table.name] for table in tables):
        return ()
    scores = {table.name: _row_score(word, own, table, nouns[table.name]) for table in tables}
    if max(scores.values(), default=0.0) == 0.0:
        if word in ROW_NOUNS or (len(tables) == 1 and may_be_rows(word, tables[0])):
            return tuple(table.name for table in tables)
        if is_plural(word) and word not in KNOWN_WORDS:
            scores = {table.name: _related_row_score(word, table) for table in tables}
    ranked = sorted((name for name in scores if scores[name] > 0), key=lambda name: -scores[name])
    return tuple(ranked)


def join_row_noun(span: Sequence[QuestionItem], tables: Sequence[TableProfile]) -> QuestionItem | None:
    """The rows of a table whose name writes the words of a phrase as one: `check-ins` of `checkins`."""
    joined = "".join(item.text for item in span)
    own = tuple(table.name for table in tables if words(table.name)[-1:] in ([joined], [f"{joined}s"]))
    return QuestionItem("word", joined, row_tables=own) if own else None


def _row_score(word: str, own: str, table: TableProfile, nouns: Mapping[str, float]) -> float:
    if own in nouns:
        return 0.0 if _names_other_side(word, own, table) else nouns[own]
    if word in DAYS and is_daily(table):
        return 0.85
    if word.endswith("s") and any(share_concept(own, stem(part)) for part in words(table.subject)):
        return 0.7
    # `stops` of a table with a time `stopped`
    return nouns.get(f"{own}s", 0.0) if word.endswith("s") else 0.0


def _names_other_side(word: str, own: str, table: TableProfile) -> bool:
    """Tell if a noun is who does what the rows are, or what those do that they are: applicants, applications.

    A participle says what is done to the rows where a column holds that: `granted` of grants with a
    `granted_amount`. Elsewhere it says that they are there: `who has never ordered`.
    """
    identifiers = (column.name for column in table.columns if column.unique)
    parts = [part for name in (table.name, *identifiers) for part in words(name) if stem(part) == own]
    if word.endswith("ed") and word.removesuffix("ed") in {part.removesuffix("s") for part in parts}:
        amounts = [words(column.name) for column in table.columns if column.is_number]
        return any(stem(part) == own for name in amounts if not IDENTIFIER_WORDS & {*name} for part in name)
    return bool(parts) and all(tells_agent_from_event(word, part) for part in parts)


DAYS = frozenset({"days", "day", "nights", "night", "dates"})


def _related_row_score(word: str, table: TableProfile) -> float:
    strength = max((related_strength(word, part) for part in words(table.subject)), default=0.0)
    return strength if strength >= MIN_ROW_STRENGTH else 0.0


def is_daily(table: TableProfile) -> bool:
    names = {part for column in table.columns for part in name_parts(column.name)}
    if "day" in names and "month" in names:
        return True
    dates = [column for column in table.dates if column.unique]
    return len(table.dates) == 1 and bool(dates) and row_spacing_s(dates[0]) == SECONDS_BY_UNIT["day"]


MIN_CLEAR_SCORE = 0.6
"""Score of a column that is meant by its name or a synonym, and not by a related word."""


def is_clear(item: QuestionItem) -> bool:
    clear = [match for match in item.columns if match.score >= MIN_CLEAR_SCORE]
    return bool(item.values) or (bool(clear) and not _names_owner(item))


def _names_owner(item: QuestionItem) -> bool:
    """Tell if a plural is alike to several numbers, parts of what it names: `flowers` of petals and sepals."""
    best = item.columns[0]
    alike = [m for m in item.columns if best.score - m.score < AMBIGUITY and m.table == best.table]
    is_vague = best.score < STEM and len(alike) > 1 and all(is_measurable(m.column) for m in alike)
    parts = [{*name_parts(m.column.name)} for m in alike]
    return is_vague and item.word.endswith("s") and not any(item.word.removesuffix("s") in own for own in parts)


_ASKING = frozenset({"which", "many", "number", "list", "names", "what"})


def name_unknown_rows(items: list[QuestionItem], tables: Sequence[TableProfile]) -> list[QuestionItem]:
    """Take an unknown noun after `which` or `how many` for the rows of the only table whose rows have names."""
    named_tables = [
        t
        for t in tables
        if any(
            c.unique and c.type == "text" and c.hint in ("id", "text") and not c.name.endswith("id")
            for c in t.columns
        )
    ]
    is_named = len(named_tables) == 1
    if not is_named:
        named_tables = [*tables] if len(tables) == 1 and _restricts_rows(items) else []
    # A table that is named already leaves no unknown rows.
    if not named_tables or any(item.row_tables for item in items):
        return items
    for place, item in enumerate(items):
        if item.kind != "word" or is_clear(item) or item.word in KNOWN_WORDS or not item.word.isalpha():
            continue
        before = [i.text for i in items[max(place - 3, 0) : place]]
        if item.word in _OF_TWO_PLACES or _is_part_of_value(item.word, named_tables[0]):
            continue
        following = items[place + 1].text if place + 1 < len(items) else ""
        superlatives = {item.text for item in items[max(place - 2, 0) : place]} & _SUPERLATIVE_WORDS
        if (is_plural(item.word) or ("which" in before[-1:] and is_named)) and (
            (not place and following in _RELATIVES)
            or _ASKING & set(before)
            or superlatives
            or items[place - 1].kind == "number"
        ):
            columns = () if item.columns and _names_owner(item) else item.columns
            rows = replace(item, columns=columns, row_tables=(named_tables[0].name,))
            return [*items[:place], rows, *items[place + 1 :]]
    return items


_OF_TWO_PLACES = frozenset({"route", "routes", "connection", "connections", "pair", "pairs"})
"""Nouns of things that two columns name together: no rows, of which many share a route."""
_RELATIVES = frozenset(
    {"that", "who", "which", "with", "without", "whose", "where", "in", "from", "above", "below"}
    | {"starting", "beginning", "ending", "containing", "by"}
)
"""Words behind the noun of rows that a question begins with."""


def _is_part_of_value(word: str, table: TableProfile) -> bool:
    """Tell if a word stands in stored texts, where it tells rows apart: `burgers` of a menu."""
    own = stem(word)
    texts = (str(v) for c in table.columns if c.type == "text" for v in (*c.values, *c.top))
    return any(own in map(stem, words(text)) for text in texts)


def _restricts_rows(items: Sequence[QuestionItem]) -> bool:
    """Tell if a question names a column, a value or a number, by which unknown things may be told apart."""
    return any(is_clear(item) or item.kind in ("number", "date", "literal") for item in items)


_SUPERLATIVE_WORDS = SUPERLATIVES | frozenset({"expensive", "dangerous", "all", "the"})


PERSONS = PERSON_NOUNS | word_set(
    """
    name agent seller salesperson driver owner author teacher manager rep winner champion referee clerk
    operator technician doctor nurse trainer instructor traveller traveler rider buyer assignee
    director runner reader actor artist singer musician composer captain coach chef cook guide farmer pilot
    lawyer judge editor publisher photographer designer engineer consultant cashier barber vet surgeon
    scorer swimmer cyclist boxer golfer skier sailor climber donor tenant landlord lecturer tutor patron handler
    agronomist forester gardener mechanic host therapist physician dentist examiner inspector foreman skipper
    porter waiter keeper guard ranger adviser advisor counsellor supervisor conductor analyst carer volunteer
    """
)
"""Nouns of columns that hold persons."""
