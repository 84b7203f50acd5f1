"""Marking of items with the columns, values and tables that they may mean, and joining of phrases."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.concepts import expand, share_concept
from app.agents.goals.stemming import stem
from app.agents.goals.tables import Column, TableProfile, row_spacing_s
from app.agents.goals.tokenizer import words
from app.agents.goals.vocabulary import IDENTIFIER_WORDS, MONTHS, SECONDS_BY_UNIT, WEEKDAYS, word_set
from app.agents.questions.column_matching import (
    STEM,
    ColumnIndex,
    ColumnMatch,
    name_parts,
    related_strength,
    word_strength,
)
from app.agents.questions.grammar_words import (
    AGGREGATE_WORDS,
    COMPARATIVES,
    IGNORED,
    KNOWN_WORDS,
    MONTH_NUMBERS,
    NEGATIONS,
    ORDINALS,
    ROW_NOUNS,
    ROW_WORDS,
    SUPERLATIVES,
)
from app.agents.questions.items import QuestionItem, read_items
from app.agents.questions.phrases import QuestionItems
from app.agents.questions.value_matching import ValueIndex, ValueMatch

MAX_PHRASE_ITEMS = 5
"""Words of a phrase that is matched with a name or a value."""
MIN_ROW_STRENGTH = 0.45
"""Strength from which a noun is taken for the rows of a table by its use."""
_GRAMMAR = (
    IGNORED
    | NEGATIONS
    | frozenset(AGGREGATE_WORDS)
    | SUPERLATIVES
    | frozenset(MONTH_NUMBERS)
    | frozenset(WEEKDAYS)
    | frozenset(ORDINALS)
    | frozenset(word for phrase in COMPARATIVES for word in phrase.split())
)
"""Words that mean a column or a value only where its whole name or spelling stands in the question."""
_MIN_BARE_SCORE = 0.9
"""Score of a grammar word that is taken for a column or a value."""


def mark_items(question: str, tables: Sequence[TableProfile]) -> QuestionItems:
    """Split a question and mark what its words may mean in the tables."""
    index = TableIndex(tables)
    items = _join_modifiers(_mark_phrases(read_items(question), index))
    return QuestionItems(name_unknown_rows(items, tables))


class TableIndex:
    """Index of everything that the words of a question may mean in some tables."""

    def __init__(self, tables: Sequence[TableProfile]) -> None:
        self.tables = tables
        self.columns = ColumnIndex(tables)
        self.values = ValueIndex(tables)
        self.row_nouns = {table.name: _row_nouns(table) for table in tables}


def _row_nouns(table: TableProfile) -> dict[str, float]:
    """Stems of nouns that name the rows of a table, with their strength."""
    parts = words(table.name)
    nouns = dict.fromkeys((stem(part) for part in parts[:-1]), 0.8) | dict.fromkeys(map(stem, parts[-1:]), 1.0)
    for column in table.columns:
        own = name_parts(column.name)
        if column.unique and set(own) & IDENTIFIER_WORDS:
            for part in own:
                if part not in IDENTIFIER_WORDS:
                    nouns.setdefault(stem(part), 0.9)
        if column.type == "datetime":
            for part in words(column.name):
                nouns.setdefault(f"{stem(part)}s", 0.65)
    return nouns


MIN_CLEAR_SCORE = 0.6
"""Score of a column that is meant by its name or a synonym, and not by a related word."""


def _is_clear(item: QuestionItem) -> bool:
    return bool(item.values) or any(match.score >= MIN_CLEAR_SCORE for match in item.columns)


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
    if len(named_tables) != 1 or any(item.row_tables for item in items):
        return items
    for place, item in enumerate(items[1:], 1):
        if item.kind != "word" or _is_clear(item) or item.word in KNOWN_WORDS or not item.word.isalpha():
            continue
        before = [i.text for i in items[max(place - 3, 0) : place]]
        is_plural = item.word.endswith("s") or item.word in ("people",)
        if (is_plural or "which" in before[-1:]) and (
            _ASKING & set(before)
            or (place >= 1 and items[place - 1].text in _SUPERLATIVE_WORDS)
            or items[place - 1].kind == "number"
        ):
            return [*items[:place], replace(item, row_tables=(named_tables[0].name,)), *items[place + 1 :]]
    return items


_SUPERLATIVE_WORDS = SUPERLATIVES | frozenset({"expensive", "dangerous", "all", "the"})


def _mark_phrases(items: Sequence[QuestionItem], index: TableIndex) -> list[QuestionItem]:
    marked: list[QuestionItem] = []
    place = 0
    while place < len(items):
        for size in range(min(MAX_PHRASE_ITEMS, len(items) - place), 0, -1):
            if phrase := _mark_phrase(items[place : place + size], index):
                marked.append(phrase)
                place += size
                break
        else:
            marked.append(items[place])
            place += 1
    return marked


def _mark_phrase(span: Sequence[QuestionItem], index: TableIndex) -> QuestionItem | None:
    first = span[0]
    if first.kind == "name" and len(span) == 1:
        return replace(
            first, columns=_named_columns(first.text, index), row_tables=_named_tables(first.text, index.tables)
        )
    if first.kind == "literal" and len(span) == 1:
        return replace(first, values=index.values.match(words(first.text))) if words(first.text) else first
    if any(item.kind not in ("word", "number") for item in span) or (first.kind == "number" and len(span) == 1):
        return None
    texts = [item.text for item in span]
    text = " ".join(texts)
    values = index.values.match(texts)
    columns = index.columns.match(texts)
    if len(span) > 1:
        if (
            first.word in IGNORED and texts[0] not in ("to", "from", "on", "not", "no", "first", "last", "top")
        ) or span[-1].word in IGNORED:
            columns = tuple(match for match in columns if match.score >= STEM)
            values = tuple(match for match in values if match.score >= 1)
        columns = tuple(match for match in columns if match.coverage >= 1 and match.score >= 0.6)
        values = tuple(match for match in values if match.score >= 0.9)
        return QuestionItem("word", text, columns=columns, values=values) if columns or values else None
    if first.word in _GRAMMAR:
        columns = tuple(match for match in columns if match.score >= _MIN_BARE_SCORE and match.coverage >= 1)
        values = tuple(match for match in values if match.score >= (0.9 if first.word in ORDINALS else 1))
        if first.word in MONTHS or first.word in WEEKDAYS:
            columns = ()
        if first.word in IGNORED:
            columns = tuple(
                match for match in columns if _is_name(match.column.name, first.word) and len(first.word) > 3
            )
            values = tuple(match for match in values if len(first.word) > 3)
    columns = _clear_columns(columns)
    rows = () if _is_amount(first.word, columns) else row_tables(first.word, index)
    if rows and first.word not in ROW_NOUNS:
        columns = tuple(match for match in columns if match.score >= _MIN_BARE_SCORE)
    return replace(first, columns=columns, values=values, row_tables=rows)


def _is_name(name: str, word: str) -> bool:
    return "".join(words(name)) == word


def _clear_columns(columns: tuple[ColumnMatch, ...]) -> tuple[ColumnMatch, ...]:
    """Keep the full names where a phrase is one, else all."""
    full = tuple(match for match in columns if match.score >= STEM)
    return full or columns


def _named_columns(name: str, index: TableIndex) -> tuple[ColumnMatch, ...]:
    return tuple(
        ColumnMatch(table.name, column, 1.0, 1.0)
        for table in index.tables
        for column in table.columns
        if column.name.casefold() == name.casefold()
    ) or index.columns.match(words(name)[:MAX_PHRASE_ITEMS])


def _named_tables(name: str, tables: Sequence[TableProfile]) -> tuple[str, ...]:
    return tuple(table.name for table in tables if table.name.casefold() == name.casefold())


_MONEY_NOUNS = frozenset({"sales", "revenue", "spend", "expenses", "costs", "payments"})
"""Nouns that mean an amount where a table has a column for it, and else its rows."""


def _is_amount(word: str, columns: Sequence[ColumnMatch]) -> bool:
    return word in _MONEY_NOUNS and any(match.column.is_number for match in columns)


_NEVER_ROWS = word_set(
    """
    data dataset month year week quarter hour table rate level value number days' date time
    """
)


def row_tables(word: str, index: TableIndex) -> tuple[str, ...]:
    """Tables whose rows a noun names, the likeliest first: by name, or by what identifies the rows."""
    own = expand(word)
    if len(word) < 3 or word in _NEVER_ROWS:
        return ()
    scores = {table.name: _row_score(word, own, table, index.row_nouns[table.name]) for table in index.tables}
    if max(scores.values(), default=0.0) == 0.0:
        if word in ROW_NOUNS or (len(index.tables) == 1 and word in ROW_WORDS):
            return tuple(table.name for table in index.tables)
        if word.endswith("s") and word not in IGNORED:
            scores = {table.name: _related_row_score(word, table) for table in index.tables}
    ranked = sorted((name for name in scores if scores[name] > 0), key=lambda name: -scores[name])
    return tuple(ranked)


def _row_score(word: str, own: str, table: TableProfile, nouns: dict[str, float]) -> float:
    if own in nouns:
        return nouns[own]
    if word in _DAYS and _is_daily(table):
        return 0.85
    if word.endswith("s") and any(share_concept(own, stem(part)) for part in words(table.name)):
        return 0.7
    # `stops` of a table with a time `stopped`
    return nouns.get(f"{own}s", 0.0) if word.endswith("s") else 0.0


_DAYS = frozenset({"days", "day", "nights", "night", "dates"})


def _related_row_score(word: str, table: TableProfile) -> float:
    strength = max((related_strength(word, part) for part in words(table.name)), default=0.0)
    return strength if strength >= MIN_ROW_STRENGTH else 0.0


def _is_daily(table: TableProfile) -> bool:
    names = {part for column in table.columns for part in name_parts(column.name)}
    if "day" in names and "month" in names:
        return True
    dates = [column for column in table.dates if column.unique]
    return len(table.dates) == 1 and bool(dates) and row_spacing_s(dates[0]) == SECONDS_BY_UNIT["day"]


def _join_modifiers(items: list[QuestionItem]) -> list[QuestionItem]:
    """Join neighbours that name parts of one column: `body weight`, `span of the writing hand`."""
    joined: list[QuestionItem] = []
    for item in items:
        before = joined[-1] if joined else None
        if before is None or not item.columns:
            joined.append(item)
            continue
        links = 0
        while (
            joined
            and len(joined) > links
            and joined[-1 - links].text in ("of", "the")
            and not joined[-1 - links].columns
        ):
            links += 1
        if links and (len(joined) <= links or not any(i.text == "of" for i in joined[-links:])):
            links = 0
        partner = joined[-1 - links]
        if partner.kind == "word" and (shared := _shared_columns(partner, item)):
            del joined[len(joined) - links - 1 :]
            joined.append(replace(item, text=f"{partner.text} {item.text}", columns=shared, values=()))
            continue
        joined.append(item)
    return joined


def _shared_columns(first: QuestionItem, second: QuestionItem) -> tuple[ColumnMatch, ...]:
    """Columns that two phrases name different parts of."""
    if not first.columns or not second.columns:
        return ()
    if first.columns[0].coverage >= 1 and second.columns[0].coverage >= 1:
        return ()
    others = {match.key: match for match in second.columns}
    shared = []
    for match in first.columns:
        other = others.get(match.key)
        if (
            other is None
            or match.coverage >= 1
            or other.coverage >= 1
            or _names_same_part(first, second, match.column)
        ):
            continue
        coverage = min(match.coverage + other.coverage, 1.0)
        score = min((match.score + other.score) * (0.5 + 0.25 * coverage) + 0.15, 1.0)
        shared.append(ColumnMatch(match.table, match.column, score, coverage))
    return tuple(sorted(shared, key=lambda match: -match.score))


def _names_same_part(first: QuestionItem, second: QuestionItem, column: Column) -> bool:
    def part_of(item: QuestionItem) -> int:
        parts = name_parts(column.name)
        return max(range(len(parts)), key=lambda n: word_strength(item.word, parts[n]))

    return part_of(first) == part_of(second)


def bare_value(item: QuestionItem) -> ValueMatch | None:
    """The value that an item means if it stands alone, without its column's name."""
    if not item.values or (item.kind == "word" and len(item.text) == 1):
        return None
    value = item.values[0]
    if value.score < 0.6 or (item.columns and item.columns[0].score >= max(value.score, STEM)):
        return None
    return value
