"""The words of a question, with what each stands for: a column, a value of one, a number, a date, the rows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.agents.goals.patterns import MONTHS, SECONDS
from app.agents.goals.stemming import same_meaning, stem, stems, words
from app.agents.goals.tables import Column, Table, row_spacing_s
from app.agents.goals.target import UNITS
from app.agents.questions.query import Cell
from app.agents.questions.vocabulary import (
    AGGREGATES,
    ALIASES,
    GENERIC_ROWS,
    INITIALS,
    NUMBERS,
    OPPOSITES,
    ROW_WORDS,
    STOP,
    WEEKDAYS,
)

_TOKEN = re.compile(
    r"`(?P<ticked>[^`]+)`|[\"\u201c](?P<quoted>[^\"\u201c\u201d]+)[\"\u201d]|(?<!\w)'(?P<single>[^']+)'(?!\w)"
    r"|(?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?)"
    r"|[$\u20ac\u00a3]?(?P<number>-?\d[\d,]*(?:\.\d+)?)(?P<thousand>k)?(?![\w])%?"
    r"|(?P<word>\w+)|(?P<sign>>=|<=|!=|<>|[=<>,;])"
)
_OF_GRAMMAR = frozenset(
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
"""Words that are a column only where its name is written as it is."""

_SIGNAL = _OF_GRAMMAR | {"different", "distinct", "unique", "missing", "common", "most", "least"}


_ONES = frozenset(map(stem, ROW_WORDS))
_NUMBERED = frozenset({"id", "no", "number", "key", "nr"})


@dataclass
class Token:
    """`mark`: what it stands for, such as `C2`; the word itself until then."""

    word: str
    mark: str = ""


@dataclass
class Scanned:
    """`text`: the question with marks: `C` a column, `V` a value of one, `N` a number, `D` a date, `L` another
    text, `R` the rows. A mark's number is its place in the list of its kind."""

    table: Table
    tokens: list[Token] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    values: list[tuple[Column, Cell]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    literals: list[str] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)
    unclear: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Words that could be several columns, and which."""
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


def scan(question: str, table: Table) -> Scanned:
    found = Scanned(table)
    _tokens(question, found)
    for step in (_whole_names, _values, _opposites, _rows, _parts_of_names, _meanings):
        step(found)
    return found


def flag_values(column: Column) -> tuple[Cell, Cell] | None:
    """No and yes of a column with two values that say so."""
    if len(column.top) != 2:
        return None
    by_word = {str(value).casefold(): value for value in column.top}
    for no, yes in (("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("0.0", "1.0")):
        if set(by_word) == {no, yes}:
            return by_word[no], by_word[yes]
    return None


def _tokens(question: str, found: Scanned) -> None:
    text = re.sub(r"(?i)n['\u2019]t\b", " not", question)
    for match in _TOKEN.finditer(text):
        found.tokens += _token(match, found)


def _token(match: re.Match[str], found: Scanned) -> list[Token]:
    if named := match["ticked"] or match["quoted"] or match["single"]:
        return [Token(named, _quoted(named, bool(match["ticked"]), found))]
    if match["date"]:
        found.dates.append(match["date"])
        return [Token(match["date"], f"D{len(found.dates) - 1}")]
    if match["number"]:
        number = float(match["number"].replace(",", "")) * (1000 if match["thousand"] else 1)
        found.numbers.append(number)
        return [Token(match["number"], f"N{len(found.numbers) - 1}")]
    if match["sign"]:
        return [Token(match["sign"])]
    return [Token(word) for word in words(match["word"])]


def _quoted(name: str, ticked: bool, found: Scanned) -> str:
    """What is written as it is: a column, the table, else a text."""
    for column in found.table.columns:
        if column.name.casefold() == name.casefold():
            return found.column_mark(column)
    if ticked and found.table.name.casefold() == name.casefold():
        found.names_table = True
        return "R"
    found.literals.append(name)
    return f"L{len(found.literals) - 1}"


def _whole_names(found: Scanned) -> None:
    """Names said in full, the longest first; without a unit at their end they are said in full too."""
    spoken = [(words(column.name), column) for column in found.table.columns]
    spoken += [(name[:-1], column) for name, column in spoken if len(name) > 1 and name[-1] in UNITS]
    spoken = [(name, column) for name, column in spoken if name and not (len(name) == 1 and len(name[0]) == 1)]
    told = {token.word for token in found.tokens}
    told_stems = {stem(word) for word in told}
    for name, column in sorted(spoken, key=lambda one: -len(one[0])):
        if not all(_same_as_any(word, told, told_stems) for word in name):
            continue
        for start in _places(found.tokens, name):
            _claim(found.tokens, start, len(name), found.column_mark(column))


def _places(tokens: Sequence[Token], name: Sequence[str]) -> Iterator[int]:
    for start in range(len(tokens) - len(name) + 1):
        part = tokens[start : start + len(name)]
        if all(not token.mark and _same(token.word, word) for token, word in zip(part, name, strict=True)):
            yield start


def _same_as_any(word: str, told: set[str], told_stems: set[str]) -> bool:
    """A cheap test that no word fails which `_same` takes for one of the text."""
    return not told.isdisjoint((word, f"{word}s", f"{word}es")) or stem(word) in told_stems


def _same(said: str, word: str) -> bool:
    if said in (word, f"{word}s", f"{word}es"):
        return True
    return said not in _OF_GRAMMAR and stem(said) == stem(word) and len(word) > 2


def _claim(tokens: list[Token], start: int, length: int, mark: str) -> None:
    tokens[start].mark = mark
    del tokens[start + 1 : start + length]


def _values(found: Scanned) -> None:
    """Values of columns of text, said by themselves. One that several columns have is their neighbour's."""
    spoken = [
        (name, column, value)
        for column in found.table.columns
        if not column.is_number
        for value in column.top
        if isinstance(value, str) and (name := words(value))
    ]
    for name, column, value in sorted(spoken, key=lambda one: -len(one[0])):
        if len(name) == 1 and (len(name[0]) == 1 or name[0] in STOP or name[0] in {"no", "yes", "not"}):
            _beside(found, name[0], column, value)
            continue
        for start in _value_places(found.tokens, name):
            _claim(found.tokens, start, len(name), found.value_mark(column, value))
    for token in found.tokens:
        if not token.mark and (alias := ALIASES.get(token.word)):
            _alias(found, token, alias)


def _value_places(tokens: Sequence[Token], name: Sequence[str]) -> Iterator[int]:
    for start in range(len(tokens) - len(name) + 1):
        part = tokens[start : start + len(name)]
        if all(not token.mark and _says(token.word, word) for token, word in zip(part, name, strict=True)):
            yield start


def _says(said: str, word: str) -> bool:
    return said == word or (len(word) > 3 and said in (f"{word}s", f"{word}es"))


def _beside(found: Scanned, word: str, column: Column, value: str) -> None:
    """A value that is also a small word counts right after its column's name only."""
    for place, token in enumerate(found.tokens):
        before = [
            t for t in found.tokens[max(0, place - 2) : place] if t.mark or t.word not in {"is", "=", "are"}
        ]
        if not token.mark and token.word == word and before and _is_column(found, before[-1].mark, column):
            token.mark = found.value_mark(column, value)


def _is_column(found: Scanned, mark: str, column: Column) -> bool:
    return mark[:1] == "C" and found.columns[int(mark[1:])] is column


def _alias(found: Scanned, token: Token, alias: str) -> None:
    for column in found.table.columns:
        for value in column.top:
            if str(value).casefold() in {alias, INITIALS.get(alias, alias)} and not column.is_number:
                token.mark = found.value_mark(column, value)
                return


def _opposites(found: Scanned) -> None:
    for token in found.tokens:
        if token.mark or token.word not in OPPOSITES:
            continue
        for column in found.table.columns:
            flag = flag_values(column)
            if flag and OPPOSITES[token.word] in {stem(word) for word in words(column.name)}:
                token.mark = found.value_mark(column, flag[0])


def _rows(found: Scanned) -> None:
    """What the table holds a row of each: its own name, or a word for any of them."""
    own = {stem(word) for word in words(found.table.name) if len(word) > 2}
    for token in found.tokens:
        if token.mark:
            continue
        if token.word in NUMBERS:
            found.numbers.append(NUMBERS[token.word])
            token.mark = f"N{len(found.numbers) - 1}"
        elif token.word in GENERIC_ROWS or stem(token.word) in own:
            token.mark = "R"
        elif stem(token.word) in _ONES:
            token.mark = _one_of(found, token.word, own)
        elif token.word == "days" and _is_daily(found.table):
            found.readings.append(f"A row of `{found.table.name}` is taken for 'days'.")
            token.mark = "R"


def _one_of(found: Scanned, word: str, own: set[str]) -> str:
    """A row is a customer, unless a column numbers them or the table's name says what its rows are."""
    for column in found.table.columns:
        name = {stem(part) for part in words(column.name)}
        if name - _NUMBERED == {stem(word)} and name & _NUMBERED and not column.unique:
            found.readings.append(f"A value of `{column.name}` is taken for {word!r}.")
            return found.column_mark(column)
    if own & _ONES:
        return ""
    found.readings.append(f"A row of `{found.table.name}` is taken for {word!r}.")
    return "R"


def _is_daily(table: Table) -> bool:
    return len(table.dates) == 1 and row_spacing_s(table.dates[0]) == SECONDS["day"] and table.dates[0].unique


def _parts_of_names(found: Scanned) -> None:
    """Words that stand in the name of one column: `mass` in `body_mass_g`."""
    by_stem: dict[str, list[Column]] = {}
    for column in found.table.columns:
        for part in dict.fromkeys(stems(column.name)):
            by_stem.setdefault(part, []).append(column)
    for token in _open(found):
        inside = by_stem.get(stem(token.word), [])
        if len(inside) > 1:
            found.unclear.append((token.word, tuple(column.name for column in inside)))
        if len(inside) == 1:
            token.mark = found.column_mark(inside[0])
            found.readings.append(f"`{inside[0].name}` is taken for {token.word!r}.")


def _meanings(found: Scanned) -> None:
    """Words that mean the name of one column."""
    plain = [(column, name) for column in found.table.columns if (name := _lone_word(column))]
    for token in _open(found):
        alike = [column for column, name in plain if _means(token.word, name)]
        if len(alike) == 1:
            token.mark = found.column_mark(alike[0])
            found.readings.append(f"`{alike[0].name}` is taken for {token.word!r}.")


def _open(found: Scanned) -> list[Token]:
    """Words that stand for nothing yet, and for nothing in the grammar."""
    signal = {*_OF_GRAMMAR, "different", "distinct", "unique", "missing", "common", "most", "least"}
    return [
        t for t in found.tokens if not t.mark and t.word.isalpha() and t.word not in signal and len(t.word) > 2
    ]


def _lone_word(column: Column) -> str | None:
    """The word of a name that has only one beside its unit."""
    name = [word for word in words(column.name) if word not in UNITS]
    return name[0] if len(name) == 1 else None


def _means(said: str, name: str) -> bool:
    is_cut = len(name) >= 4 and said.startswith(name)
    return is_cut or same_meaning(stem(said), stem(name))
