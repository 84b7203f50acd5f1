"""Marking of items with the columns, values and tables that they may mean, and joining of phrases."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.goals.words.concepts import expand
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS, MONTHS, WEEKDAYS, word_set
from app.agents.questions.grammar_words import (
    AGGREGATE_WORDS,
    COMPARATIVES,
    IGNORED,
    MONTH_NUMBERS,
    NEGATIONS,
    ORDINALS,
    PERSON_NOUNS,
    ROW_NOUNS,
    SUPERLATIVES,
)
from app.agents.questions.items import QuestionItem, read_items
from app.agents.questions.marking.counted_sales import count_sales
from app.agents.questions.marking.joined_phrases import join_modifiers
from app.agents.questions.marking.money_words import named_by_money
from app.agents.questions.marking.names_with_denials import has_denial, has_words
from app.agents.questions.marking.origin_and_destination import as_going, at_own_end
from app.agents.questions.marking.quoted_names import named_columns, named_tables, quoted_columns
from app.agents.questions.marking.row_nouns import (
    DAYS,
    MIN_CLEAR_SCORE,
    join_row_noun,
    name_unknown_rows,
    row_noun_strengths,
    row_tables,
)
from app.agents.questions.marking.shared_contexts import tell_by_context
from app.agents.questions.marking.word_senses import BEFORE_UNITS, meant_columns, meant_values
from app.agents.questions.matching.column_matching import (
    MAX_ASKED_SCORE,
    STEM,
    ColumnIndex,
    ColumnMatch,
    name_parts,
    needed_words,
)
from app.agents.questions.matching.value_matching import (
    ValueIndex,
    ValueMatch,
    denied_flags,
    flag_values,
    gender_flags,
)
from app.agents.questions.phrases import QuestionItems
from app.agents.questions.question_reading import is_measurable

MAX_PHRASE_ITEMS = 5
"""Words of a phrase that is matched with a name or a value."""
_GRAMMAR = (
    IGNORED
    | NEGATIONS
    | frozenset(AGGREGATE_WORDS)
    | SUPERLATIVES
    | frozenset(MONTH_NUMBERS)
    | frozenset(WEEKDAYS)
    | frozenset(ORDINALS)
    | frozenset(word for phrase in COMPARATIVES for word in phrase.split())
    | word_set("since before after until till during then ago now more less fewer most least better worse")
)
"""Words that mean a column or a value only where its whole name or spelling is in the question."""
_DENIED_SCORE, _GENDER_SCORE = 0.8, 0.98
"""Score of a yes/no column of which a word says the opposite."""
_ADJECTIVES = word_set(
    """
    poor rich slow fast quick old young cheap heavy light tall short long hot cold warm cool wet dry
    high low big small large great strong weak new early late good bad near far wide deep narrow
    """
)
"""Adjectives of measures, which mean a column as words of grammar do; for a yes/no column a part of its name is
enough: `late` for `arrived_late`."""
_PLURAL_SCORE = 0.95
"""Score of a value in the plural, or spelled out."""
_MIN_BARE_SCORE = 0.9
"""Score of a grammar word that is taken for a column or a value."""


def mark_items(question: str, tables: Sequence[TableProfile]) -> QuestionItems:
    """Split a question and mark what its words may mean in the tables."""
    index = TableIndex(tables)
    items = join_modifiers(_mark_phrases(read_items(question), index))
    items = [at_own_end(items, place) for place in range(len(items))]
    items = tell_by_context(items)
    items = [as_going(items, place) for place in range(len(items))]
    items = [_as_label(items, place) for place in range(len(items))]
    own_tables = [row_tables(item.word, tables, index.row_nouns) for item in items]
    return QuestionItems(name_unknown_rows(count_sales(items, own_tables), tables))


_LABEL_LINKS = frozenset({"or", "and", ",", "versus", "vs", "/"})


def _as_label(items: Sequence[QuestionItem], place: int) -> QuestionItem:
    """An article that is a stored letter behind the name of its column: `class A or B`."""
    item, before = items[place], items[place - 1] if place else None
    is_last = place + 1 == len(items) or items[place + 1].text in _LABEL_LINKS
    if item.text not in ("a", "i") or not is_last or before is None or not before.columns:
        return item
    match = before.columns[0]
    values = tuple(value for value in match.column.values if str(value).casefold() == item.text)
    return replace(item, values=(ValueMatch(match.table, match.column, values, 1.0),)) if values else item


class TableIndex:
    """Index of everything that the words of a question may mean in some tables."""

    def __init__(self, tables: Sequence[TableProfile]) -> None:
        self.tables = tables
        self.columns = ColumnIndex(tables)
        self.values = ValueIndex(tables)
        self.row_nouns = {table.name: row_noun_strengths(table) for table in tables}


def _mark_phrases(items: Sequence[QuestionItem], index: TableIndex) -> list[QuestionItem]:
    marked: list[QuestionItem] = []
    place = 0
    while place < len(items):
        # The longest phrase decides: `body weight` before `weight`.
        for size in range(min(MAX_PHRASE_ITEMS, len(items) - place), 0, -1):
            following = items[place + size].text if place + size < len(items) else ""
            before = items[place - 1] if place else None
            if phrase := _mark_phrase(items[place : place + size], index, following, before):
                marked.append(phrase)
                place += size
                break
        else:
            marked.append(items[place])
            place += 1
    return marked


def _mark_phrase(
    span: Sequence[QuestionItem], index: TableIndex, following: str = "", before: QuestionItem | None = None
) -> QuestionItem | None:
    """Return the item of a phrase with what it may mean, or None if the phrase means nothing as a whole.

    `following`: the word behind it. `before`: the item before it.
    """
    first = span[0]
    if len(span) > 1:
        are_words = all(item.kind in ("word", "number") for item in span)
        if span[-1].text == "at" and following in ("least", "most"):
            return None  # `ordered at least twice` of a column `ordered_at`
        return (_mark_joined(span, index) or join_row_noun(span, index.tables)) if are_words else None
    if first.kind == "word":
        return _mark_word(first, index, following, before)
    if first.kind == "name":
        columns = named_columns(first.text, index.tables, index.columns)
        return replace(first, columns=columns, row_tables=named_tables(first.text, index.tables))
    if first.kind == "literal" and (columns := quoted_columns(first.text, index.tables, index.values)):
        return replace(first, kind="name", columns=columns)
    if first.kind == "literal":
        return replace(first, values=index.values.match(words(first.text))) if words(first.text) else first
    return None


def _mark_word(
    item: QuestionItem, index: TableIndex, following: str, before: QuestionItem | None
) -> QuestionItem:
    """Mark a single word: first with columns and values, then with the tables whose rows it names."""
    word, texts = item.word, [item.text]
    values = index.values.match(texts)
    columns = index.columns.match(texts)
    is_flag = any(flag_values(match.column) is not None for match in columns)
    is_rated = following in ("rate", "rates") and (is_flag or bool(values))  # `return rate` of `returned`
    if word in _GRAMMAR | _ADJECTIVES and not is_rated:
        columns, values = _meant_by_grammar(word, columns, values, following)
    if gender := gender_flags(word, index.tables):
        columns = tuple(ColumnMatch(table, column, _GENDER_SCORE, 1.0) for table, column in gender)
    elif not columns:
        denied = denied_flags(word, index.tables)
        columns = tuple(ColumnMatch(table, column, _DENIED_SCORE, 1.0) for table, column in denied)
    columns = _clear_columns(_named_by_unit(word, columns, index, before))
    columns = _named_by_revenue(word, columns, index)
    columns = named_by_money(word, columns, index.tables)
    columns = meant_columns(word, columns, before)
    values = meant_values(item, values, columns, before, following)
    rows = () if _is_amount(word, columns) else row_tables(word, index.tables, index.row_nouns)
    if columns and columns[0].score < _MIN_IDENTIFIER_SCORE and _tells_rows_apart(columns[0].column):
        # An identifier is never meant by a related word, whose plural means the rows: `parcels`.
        is_ranked = before is not None and before.word in SUPERLATIVES  # `the heaviest parcel`
        rows = rows or ((columns[0].table,) if word.endswith("s") or is_ranked else ())
        columns = tuple(match for match in columns if not _tells_rows_apart(match.column))
    if rows and columns and columns[0].score >= _MIN_BARE_SCORE and not _names_rows(word, rows, index):
        rows = ()  # `species` of a table of fish
    if rows and values and values[0].score >= _PLURAL_SCORE and not _names_rows(word, rows, index):
        rows = ()  # `dramas` of a table of films with a genre `drama`
    if gender:
        rows = ()  # `women` of a column `female` are some of the rows
    if rows and word not in ROW_NOUNS:
        # A word that names rows is rarely a vague name of a column too: only clear names and measures stay.
        columns = tuple(
            match
            for match in columns
            if match.score >= _MIN_BARE_SCORE or (match.coverage >= 1 and _may_count(match.column, word))
        )
    return replace(item, columns=columns, values=values, row_tables=rows)


_MIN_IDENTIFIER_SCORE = 0.75
"""Score of an identifier that a word names: below, it only has the meaning of a word of its name."""


def _tells_rows_apart(column: Column) -> bool:
    """Tell if a column is an identifier of the rows."""
    return column.unique and bool(IDENTIFIER_WORDS & {*words(column.name)})


def _may_count(column: Column, word: str) -> bool:
    """Tell if a column may hold the number of what a noun of rows names. No amount is a number of people."""
    return column.is_number and not (word in PERSON_NOUNS and column.type == "number")


_UNIT_NOUNS = {"tonnage": "tonnes", "mileage": "km", "acreage": "acres", "wattage": "watts", "tons": "tonnes"}
"""Nouns of amounts in a unit."""
_UNIT_NOUN_SCORE = 0.8
"""Score of the only column in a unit that a word names: `tonnes` of `load_t`."""


def _named_by_unit(
    word: str, columns: tuple[ColumnMatch, ...], index: "TableIndex", before: QuestionItem | None
) -> tuple[ColumnMatch, ...]:
    """The columns of a word, and the only measure in the unit that it is: hours of `minutes` are converted."""
    word = _UNIT_NOUNS.get(word, word)
    unit = find_unit(word)
    is_noun = len(word) >= MIN_UNIT_LETTERS or (before is not None and before.text in BEFORE_UNITS)
    if unit is None or not is_noun or any(m.score >= _MIN_BARE_SCORE for m in columns):
        return columns
    alike = [
        (table.name, column)
        for table in index.tables
        for column in table.columns
        if is_measurable(column) and (own := unit_of(column)) and own.dimension == unit.dimension
    ]
    is_plural = word.endswith("s") or len(word) < MIN_UNIT_LETTERS
    if len(alike) != 1 or (unit_of(alike[0][1]) != unit and not is_plural):
        return columns
    others = tuple(match for match in columns if match.column != alike[0][1])
    return (ColumnMatch(*alike[0], _UNIT_NOUN_SCORE, 1.0), *others)


_REVENUE_WORDS = word_set("revenue sales spend spending spent turnover takings income earnings")
"""Words for money that changes hands, which where no table stores it is price by quantity."""


def _named_by_revenue(
    word: str, columns: tuple[ColumnMatch, ...], index: "TableIndex"
) -> tuple[ColumnMatch, ...]:
    """The only revenue of the tables for a word of money that names no column: `customers by total spend`."""
    if word not in _REVENUE_WORDS or any(match.score >= _UNIT_NOUN_SCORE for match in columns):
        return columns
    revenues = [(table.name, c) for table in index.tables for c in table.columns if c.name == "revenue"]
    return (ColumnMatch(*revenues[0], _UNIT_NOUN_SCORE, 1.0),) if len(revenues) == 1 else columns


MIN_UNIT_LETTERS = 4
"""Letters of a word of a unit that means a measure wherever it stands: shorter ones stand behind numbers."""


_BEHIND_COMPLETE = frozenset({"", "per", "by", "vs", "versus", "each", "and", "or", ","})
"""Words before which a preposition has nothing that it could belong to."""


def _meant_by_grammar(
    word: str, columns: tuple[ColumnMatch, ...], values: tuple[ValueMatch, ...], following: str
) -> tuple[tuple[ColumnMatch, ...], tuple[ValueMatch, ...]]:
    """The columns and values that a word of grammar may mean nevertheless: by whole names and spellings."""
    columns = tuple(match for match in columns if _is_said_by_grammar(match, word))
    values = tuple(match for match in values if match.score >= (_MIN_BARE_SCORE if word in ORDINALS else 1))
    if word in MONTHS or word in WEEKDAYS or (word in IGNORED and len(word) <= 3):
        columns = ()
    if word not in IGNORED:
        return columns, values
    singular = word.removesuffix("s")
    complete = (
        m
        for m in columns
        if any(_is_name(m.column.name, form) for form in (word, singular))
        or needed_words(m.column.name) == {word}
    )
    # A short word of grammar is a value where grammar has no use for it: `qty in per warehouse`, `qty out`.
    return tuple(complete), values if len(word) > 3 or following in _BEHIND_COMPLETE else ()


def _names_rows(word: str, tables: Sequence[str], index: TableIndex) -> bool:
    """Tell if a word is the noun of a table itself, and not only one that is used alike."""
    return word in ROW_NOUNS | DAYS or any(expand(word) in index.row_nouns[table] for table in tables)


def _is_said_by_grammar(match: ColumnMatch, word: str) -> bool:
    """Tell if a word of grammar means a column: by its whole name, or as what a yes/no column says of rows."""
    if match.score >= _MIN_BARE_SCORE and match.coverage >= 1:
        return True
    return (
        word in _ADJECTIVES and flag_values(match.column) is not None and word in name_parts(match.column.name)
    )


def _mark_joined(span: Sequence[QuestionItem], index: TableIndex) -> QuestionItem | None:
    """A phrase of several words, if it is the whole of a name, of a value, or of what a column stores."""
    first, texts = span[0], [item.text for item in span]
    values = index.values.match(texts)
    columns = index.columns.match(texts)
    begins = first.word in IGNORED and texts[0] not in _BEGINNINGS
    is_grouped = not _DISTRIBUTIVE.isdisjoint(texts[1:])  # `trips per day` are no days that a trip takes
    if begins or is_grouped or texts[0] in ("not", "no") or span[-1].word in IGNORED:
        columns = tuple(
            m for m in columns if m.score >= STEM or _ends_name(m, texts) or has_words(m.column.name, texts)
        )
        values = tuple(match for match in values if match.score >= 1)
    if texts[0] in ("not", "no"):  # `no patient` denies: the column `patient_no` begins with its noun
        columns = tuple(match for match in columns if has_denial(match.column.name, texts))
    columns = tuple(match for match in columns if match.coverage >= 1 and match.score >= MIN_CLEAR_SCORE)
    if texts[0] in _PREPOSITIONS:  # `from week 1` of a column `week`, but `from station` of `from_station`
        columns = tuple(match for match in columns if texts[0] in words(match.column.name))
    if texts[0] in _RELATIVE_WORDS and find_unit(texts[-1]):
        columns = tuple(match for match in columns if not match.column.name.startswith("duration "))
    if first.word in AGGREGATE_WORDS or first.word in SUPERLATIVES:  # `median age` of `age`
        columns = tuple(match for match in columns if _ends_name(match, texts))
    if columns and columns[0].score <= MAX_ASKED_SCORE and _has_own_names(texts, index):
        columns = ()
    values = tuple(match for match in values if match.score >= _MIN_BARE_SCORE)
    return QuestionItem("word", " ".join(texts), columns=columns, values=values) if columns or values else None


_DISTRIBUTIVE = frozenset({"per", "a", "an", "each", "every"})
"""Words before a group, which stand in few names of columns."""
_RELATIVE_WORDS = word_set("last this next previous past current same following")
"""Words before a unit of time that name a period and no time that something takes: `last month`."""


def _ends_name(match: ColumnMatch, texts: Sequence[str]) -> bool:
    """Tell if the words of a phrase all stand in a name: `heart rate`, but not `spend per`."""
    parts = {*name_parts(match.column.name), *words(match.column.name)}
    return match.score >= _MIN_BARE_SCORE and parts >= {*texts}


_BEGINNINGS = frozenset({"to", "from", "on", "not", "no", "first", "last", "top"})
"""Words of grammar that names and values begin with."""


_PREPOSITIONS = frozenset({"to", "from", "on"})
"""Those that only belong to a column where its name has them."""


def _has_own_names(texts: Sequence[str], index: TableIndex) -> bool:
    """Tell if a word of a phrase is the name of a column or a value by itself: `night shift`."""
    scores = [match.score for text in texts for match in index.columns.match([text])[:1]] + [
        match.score for text in texts for match in index.values.match([text])[:1]
    ]
    return any(score >= _MIN_BARE_SCORE for score in scores) or any(
        row_tables(text, index.tables, index.row_nouns) for text in texts
    )


def _is_name(name: str, word: str) -> bool:
    return "".join(words(name)) == word


def _clear_columns(columns: tuple[ColumnMatch, ...]) -> tuple[ColumnMatch, ...]:
    """Keep the full names where a phrase is one, else all."""
    full = tuple(match for match in columns if match.score >= STEM)
    return full or columns


MONEY_NOUNS = frozenset({"sales", "revenue", "turnover", "income", "spend", "expenses", "costs", "payments"})
"""Nouns that mean an amount where a table has a column for it, and else its rows."""


def _is_amount(word: str, columns: Sequence[ColumnMatch]) -> bool:
    return word in MONEY_NOUNS and any(match.column.is_number for match in columns)


_MIN_BARE_VALUE_SCORE = 0.6
"""Score of a value that a word means without the name of its column: below, only a part of it fits."""


def bare_value(item: QuestionItem) -> ValueMatch | None:
    """The value that an item means if it stands alone, without its column's name."""
    if not item.values or (item.kind == "word" and len(item.text) == 1):
        return None
    value = item.values[0]
    if value.score < _MIN_BARE_VALUE_SCORE or (
        item.columns and item.columns[0].score >= max(value.score, STEM)
    ):
        return None
    return value
