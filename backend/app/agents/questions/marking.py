"""Marks of a question's words: columns, values, numbers, dates or rows of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.agents.goals.stemming import have_same_meaning, stem, stems
from app.agents.goals.tables import Column, TableProfile, row_spacing_s
from app.agents.goals.tokenizer import Lexeme, lexemes, words
from app.agents.goals.vocabulary import (
    IDENTIFIER_WORDS,
    MONTHS,
    NUMBER_WORDS,
    SECONDS_BY_UNIT,
    UNITS_OF_MEASURE,
    WEEKDAYS,
)
from app.agents.questions.query import Cell
from app.agents.questions.vocabulary import (
    AGGREGATES,
    ALIASES,
    GENERIC_ROWS,
    INITIALS,
    OPPOSITES,
    ROW_WORDS,
    STOP,
)

_GRAMMAR_WORDS = frozenset(
    {
        *AGGREGATES,
        *STOP,
        *MONTHS,
        *WEEKDAYS,
        "number",
        "count",
        "group",
        "grouped",
        "share",
        "rate",
        "not",
        "top",
    }
)
"""Words of the grammar. They mean a column only if its name is written in full."""


_ROW_STEMS = frozenset(map(stem, ROW_WORDS))


@dataclass
class QuestionToken:
    """A word and its `mark`, such as `C2`; empty while the word is unmarked."""

    word: str
    mark: str = ""


@dataclass
class MarkedQuestion:
    """`text`: the question with marks: `C` a column, `V` a value of one, `N` a number, `D` a date, `L` another
    text, `R` the rows. A mark's number is its place in the list of its kind."""

    table: TableProfile
    tokens: list[QuestionToken] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    values: list[tuple[Column, Cell]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    literals: list[str] = field(default_factory=list)
    interpretations: list[str] = field(default_factory=list)
    ambiguous: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Words that match several columns, and these columns."""
    names_table: bool = False

    @property
    def text(self) -> str:
        return " ".join(token.mark or token.word for token in self.tokens)

    def column_mark(self, column: Column) -> str:
        self.columns.append(column)
        return f"C{len(self.columns) - 1}"

    def value_mark(self, column: Column, value: Cell) -> str:
        self.values.append((column, value))
        return f"V{len(self.values) - 1}"


def mark_question(question: str, table: TableProfile) -> MarkedQuestion:
    """Split a question into words and mark those that a table gives a meaning."""
    marked = MarkedQuestion(table)
    for lexeme in lexemes(question):
        marked.tokens += _make_tokens(lexeme, marked)
    for step in (
        _mark_full_names,
        _mark_values,
        _mark_opposites,
        _mark_rows,
        _mark_partial_names,
        _mark_synonyms,
    ):
        step(marked)
    return marked


def flag_values(column: Column) -> tuple[Cell, Cell] | None:
    """Return the no and yes of a column with two such values, else None."""
    if len(column.top) != 2:
        return None
    by_word = {str(value).casefold(): value for value in column.top}
    for no, yes in (("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("0.0", "1.0")):
        if set(by_word) == {no, yes}:
            return by_word[no], by_word[yes]
    return None


def _make_tokens(lexeme: Lexeme, marked: MarkedQuestion) -> list[QuestionToken]:
    """Make the tokens of a lexeme: one, or those of the words that a word such as `SalePrice` consists of."""
    if name := lexeme.backticked or lexeme.quoted:
        return [QuestionToken(name, _mark_quoted(name, bool(lexeme.backticked), marked))]
    if lexeme.date:
        marked.dates.append(lexeme.date)
        return [QuestionToken(lexeme.date, f"D{len(marked.dates) - 1}")]
    if lexeme.number:
        marked.numbers.append(lexeme.value)
        return [QuestionToken(lexeme.number, f"N{len(marked.numbers) - 1}")]
    if lexeme.sign:
        return [QuestionToken(lexeme.sign)]
    return [QuestionToken(word) for word in words(lexeme.word or "")]


def _mark_quoted(name: str, is_backticked: bool, marked: MarkedQuestion) -> str:
    """Return the mark of a quoted name: a column, the table, else a text."""
    for column in marked.table.columns:
        if column.name.casefold() == name.casefold():
            return marked.column_mark(column)
    if is_backticked and marked.table.name.casefold() == name.casefold():
        marked.names_table = True
        return "R"
    marked.literals.append(name)
    return f"L{len(marked.literals) - 1}"


def _mark_full_names(marked: MarkedQuestion) -> None:
    """Mark full names of columns, the longest first. A unit at the end of a name may be missing."""
    names = [(words(column.name), column) for column in marked.table.columns]
    names += [(name[:-1], column) for name, column in names if len(name) > 1 and name[-1] in UNITS_OF_MEASURE]
    names = [(name, column) for name, column in names if name and not (len(name) == 1 and len(name[0]) == 1)]
    question_words = {token.word for token in marked.tokens}
    question_stems = {stem(word) for word in question_words}
    for name, column in sorted(names, key=lambda entry: -len(entry[0])):
        if not all(_may_be_mentioned(word, question_words, question_stems) for word in name):
            continue
        for start in _name_positions(marked.tokens, name):
            _set_mark(marked.tokens, start, len(name), marked.column_mark(column))


def _name_positions(tokens: Sequence[QuestionToken], name: Sequence[str]) -> Iterator[int]:
    for start in range(len(tokens) - len(name) + 1):
        part = tokens[start : start + len(name)]
        if all(
            not token.mark and _is_same_word(token.word, word) for token, word in zip(part, name, strict=True)
        ):
            yield start


def _may_be_mentioned(word: str, question_words: set[str], question_stems: set[str]) -> bool:
    """Tell if a word may occur in the question. A cheap test before the exact search."""
    return not question_words.isdisjoint((word, f"{word}s", f"{word}es")) or stem(word) in question_stems


def _is_same_word(token: str, word: str) -> bool:
    if token in (word, f"{word}s", f"{word}es"):
        return True
    return token not in _GRAMMAR_WORDS and stem(token) == stem(word) and len(word) > 2


def _set_mark(tokens: list[QuestionToken], start: int, length: int, mark: str) -> None:
    tokens[start].mark = mark
    del tokens[start + 1 : start + length]


def _mark_values(marked: MarkedQuestion) -> None:
    """Mark values of text columns, the longest first."""
    values = [
        (name, column, value)
        for column in marked.table.columns
        if not column.is_number
        for value in column.top
        if isinstance(value, str) and (name := words(value))
    ]
    for name, column, value in sorted(values, key=lambda entry: -len(entry[0])):
        if len(name) == 1 and (len(name[0]) == 1 or name[0] in STOP or name[0] in {"no", "yes", "not"}):
            _mark_short_value(marked, name[0], column, value)
            continue
        for start in _value_positions(marked.tokens, name):
            _set_mark(marked.tokens, start, len(name), marked.value_mark(column, value))
    for token in marked.tokens:
        if not token.mark and (alias := ALIASES.get(token.word)):
            _mark_alias(marked, token, alias)


def _value_positions(tokens: Sequence[QuestionToken], name: Sequence[str]) -> Iterator[int]:
    for start in range(len(tokens) - len(name) + 1):
        part = tokens[start : start + len(name)]
        if all(
            not token.mark and _is_value_word(token.word, word) for token, word in zip(part, name, strict=True)
        ):
            yield start


def _is_value_word(token: str, word: str) -> bool:
    return token == word or (len(word) > 3 and token in (f"{word}s", f"{word}es"))


def _mark_short_value(marked: MarkedQuestion, word: str, column: Column, value: str) -> None:
    """Mark a value that is also a common short word, only right after its column's name."""
    for position, token in enumerate(marked.tokens):
        before = [
            t
            for t in marked.tokens[max(0, position - 2) : position]
            if t.mark or t.word not in {"is", "=", "are"}
        ]
        if not token.mark and token.word == word and before and _is_column(marked, before[-1].mark, column):
            token.mark = marked.value_mark(column, value)


def _is_column(marked: MarkedQuestion, mark: str, column: Column) -> bool:
    return mark[:1] == "C" and marked.columns[int(mark[1:])] is column


def _mark_alias(marked: MarkedQuestion, token: QuestionToken, alias: str) -> None:
    for column in marked.table.columns:
        for value in column.top:
            if str(value).casefold() in {alias, INITIALS.get(alias, alias)} and not column.is_number:
                token.mark = marked.value_mark(column, value)
                return


def _mark_opposites(marked: MarkedQuestion) -> None:
    for token in marked.tokens:
        if token.mark or token.word not in OPPOSITES:
            continue
        for column in marked.table.columns:
            flag = flag_values(column)
            if flag and OPPOSITES[token.word] in {stem(word) for word in words(column.name)}:
                token.mark = marked.value_mark(column, flag[0])


def _mark_rows(marked: MarkedQuestion) -> None:
    """Mark numbers, and words for the rows: the table's name, or a generic word."""
    table_stems = {stem(word) for word in words(marked.table.name) if len(word) > 2}
    for token in marked.tokens:
        if token.mark:
            continue
        if token.word in NUMBER_WORDS:
            marked.numbers.append(NUMBER_WORDS[token.word])
            token.mark = f"N{len(marked.numbers) - 1}"
        elif token.word in GENERIC_ROWS or stem(token.word) in table_stems:
            token.mark = "R"
        elif stem(token.word) in _ROW_STEMS:
            token.mark = _row_or_identifier(marked, token.word, table_stems)
        elif token.word == "days" and _is_daily(marked.table):
            marked.interpretations.append(f"A row of `{marked.table.name}` is taken for 'days'.")
            token.mark = "R"


def _row_or_identifier(marked: MarkedQuestion, word: str, table_stems: set[str]) -> str:
    """Return the mark of a word such as `customers`: rows, unless a column identifies customers or the table's
    name says what its rows are."""
    for column in marked.table.columns:
        name = {stem(part) for part in words(column.name)}
        if name - IDENTIFIER_WORDS == {stem(word)} and name & IDENTIFIER_WORDS and not column.unique:
            marked.interpretations.append(f"A value of `{column.name}` is taken for {word!r}.")
            return marked.column_mark(column)
    if table_stems & _ROW_STEMS:
        return ""
    marked.interpretations.append(f"A row of `{marked.table.name}` is taken for {word!r}.")
    return "R"


def _is_daily(table: TableProfile) -> bool:
    return (
        len(table.dates) == 1
        and row_spacing_s(table.dates[0]) == SECONDS_BY_UNIT["day"]
        and table.dates[0].unique
    )


def _mark_partial_names(marked: MarkedQuestion) -> None:
    """Mark words that are part of one column's name: `mass` in `body_mass_g`."""
    by_stem: dict[str, list[Column]] = {}
    for column in marked.table.columns:
        for part in dict.fromkeys(stems(column.name)):
            by_stem.setdefault(part, []).append(column)
    for token in _unmarked_words(marked):
        candidates = by_stem.get(stem(token.word), [])
        if len(candidates) > 1:
            marked.ambiguous.append((token.word, tuple(column.name for column in candidates)))
        if len(candidates) == 1:
            token.mark = marked.column_mark(candidates[0])
            marked.interpretations.append(f"`{candidates[0].name}` is taken for {token.word!r}.")


def _mark_synonyms(marked: MarkedQuestion) -> None:
    """Mark synonyms of one column's name."""
    single_names = [(column, name) for column in marked.table.columns if (name := _single_name_word(column))]
    for token in _unmarked_words(marked):
        candidates = [column for column, name in single_names if _is_synonym(token.word, name)]
        if len(candidates) == 1:
            token.mark = marked.column_mark(candidates[0])
            marked.interpretations.append(f"`{candidates[0].name}` is taken for {token.word!r}.")


def _unmarked_words(marked: MarkedQuestion) -> list[QuestionToken]:
    """Return the unmarked words that are no words of the grammar."""
    grammar_words = {*_GRAMMAR_WORDS, "different", "distinct", "unique", "missing", "common", "most", "least"}
    return [
        t
        for t in marked.tokens
        if not t.mark and t.word.isalpha() and t.word not in grammar_words and len(t.word) > 2
    ]


def _single_name_word(column: Column) -> str | None:
    """Return the word of a name that has only one, apart from its unit."""
    name = [word for word in words(column.name) if word not in UNITS_OF_MEASURE]
    return name[0] if len(name) == 1 else None


def _is_synonym(word: str, name: str) -> bool:
    is_cut = len(name) >= 4 and word.startswith(name)
    return is_cut or have_same_meaning(stem(word), stem(name))
