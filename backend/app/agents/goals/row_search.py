"""Goals that ask for structure among the rows: rows that do not fit the others, and groups of similar rows."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from app.agents.goals.phrases.patterns import VERB
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.concepts import share_concept
from app.agents.goals.words.name_parts import parts_of_name
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.number_words import ABOVE_ONE

MAX_GROUPS = 20
"""Groups that one goal may ask for: more have no names that anybody remembers."""

_UNUSUAL = re.compile(
    r"\b(?:unusual(?:ly)?|strange(?:ly)?|weird(?:ly)?|odd(?:ly)?|odd (?:ones?|things?)|abnormal(?:ly|ities)?"
    r"|atypical|anomal(?:y|ies|ous)|outlier?s?|outlying|irregularit(?:y|ies)|out of the ordinary|oddit(?:y|ies)"
    r"|(?:under|over)[- ]?priced|(?:suspiciously|surprisingly|unexpectedly|implausibly) \w{3,12}"
    r"|too (?:cheap|expensive|dear|low|high|big|small|large|good|bad) (?:to be|for (?:its|their|the|what))"
    r"|(?:is|are|was|were|look|looks) (?:far |much |way )?too (?:cheap|expensive|dear))\b",
    re.IGNORECASE,
)
"""Words for rows that differ from the others."""
_SIMILAR = re.compile(
    r"\b(?:cluster\w{0,5}|segment\w{0,7}|group(?:s|ing)?|typolog(?:y|ies)|similar|alike|resembl\w{1,5}|kinds?|types?"
    r"|sorts?|profiles?|personas?|archetypes?|families|k-?means)\b",
    re.IGNORECASE,
)
"""Words for groups of rows, in a goal that asks for an exploration."""
_POLITE = (
    r"^\W*(?:(?:please|can you|could you|let us|let's|i (?:want|need|would like)(?: you)? to|we want to"
    r"|help me(?: to)?) )*"
)
"""Words before what a goal asks for."""
_GROUPING = re.compile(
    rf"{_POLITE}(?:cluster|segment|partition|divide|split|sort|group|classify)\b[^.;:!?]{{1,120}}\binto\b"
    r"[^.;:!?]{0,60}\b(?:clusters|segments|groups|types|personas|profiles|archetypes)\b"
    rf"|{_POLITE}(?:cluster|segment) (?:our|the|my|all|these|those|[a-z]+s)\b"
    r"|\bk-?means\b|\bclustering\b|\bcluster analysis\b",
    re.IGNORECASE,
)
"""Words that ask for groups to be formed, whatever else a goal may look like."""
_COUNT = re.compile(
    rf"\b(?P<count>\d{{1,2}}|{'|'.join(ABOVE_ONE)}) (?:\w+ ){{0,2}}"
    r"(?:clusters|segments|groups|types|kinds|sorts|personas|profiles|archetypes|families)\b"
    r"|\bk ?= ?(?P<k>\d{1,2})\b",
    re.IGNORECASE,
)
"""A number of groups."""
_LOW = re.compile(r"\b(?:under[- ]?priced|cheap|low|small|little|short|bargains?)\b", re.IGNORECASE)
_HIGH = re.compile(r"\b(?:over[- ]?priced|expensive|dear|high|big|large|long)\b", re.IGNORECASE)
_OF_PRICE = re.compile(r"\b(?:(?:under|over)[- ]?priced|cheap|expensive|dear|bargains?)\b", re.IGNORECASE)
"""Words that are about a price, whether or not they name it."""


class RowSearch(BaseModel):
    """A search among the rows of one table.

    `columns`: those that rows are compared by, all without any. `focus`: of unusual rows, the column whose
    values do not fit; `side`: on which side. `count`: of groups.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["unusual", "groups"]
    columns: tuple[str, ...] = ()
    focus: str | None = None
    side: Literal["low", "high"] | None = None
    count: int | None = Field(default=None, ge=2, le=MAX_GROUPS)

    def describe(self, table: str) -> str:
        """Describe the search as the end of a sentence."""
        compared = f", compared by {_join_names(self.columns)}" if self.columns else ""
        if self.kind == "groups":
            number = f"{self.count} groups" if self.count else "groups"
            return f"{number} of similar rows of `{table}`{compared}"
        if self.focus is None:
            return f"the rows of `{table}` that do not fit the others{compared}"
        way = {"low": "lower than", "high": "higher than"}.get(self.side or "", "other than")
        source = _join_names(self.columns) if self.columns else "the other columns"
        return f"the rows of `{table}` whose `{self.focus}` is {way} {source} lead to expect"


def asks_for_unusual_rows(text: str, tables: Sequence[TableProfile]) -> bool:
    """Test if a goal asks for rows that differ from the others, and no name or value of the tables says so."""
    match = _UNUSUAL.search(text)
    verb = VERB.search(text)
    if match is None or (verb and not verb[0].casefold().startswith("detect")):
        return False
    return not any(_holds(table, set(map(stem, words(match[0])))) for table in tables)


def asks_for_similar_rows(text: str) -> bool:
    """Test if a goal that explores the tables asks for groups of rows."""
    return bool(_SIMILAR.search(text))


def asks_to_form_groups(text: str, tables: Sequence[TableProfile]) -> bool:
    """Test if a goal asks for groups outright, and no name or value of the tables is meant: "sales by
    segment"."""
    match = _GROUPING.search(text)
    verb = stem(words(match[0])[0]) if match else ""
    return match is not None and not any(_holds(table, {verb}) for table in tables)


def read_unusual_rows(text: str, table: TableProfile) -> RowSearch:
    """Read which unusual rows of a table a goal asks for."""
    columns_by_place = [column.name for column in _named_columns(text, table)]
    focus = _priced_column(text, table) or (columns_by_place[0] if len(columns_by_place) == 1 else None)
    side = _read_side(text) if focus else None
    if focus is None and len(columns_by_place) > 1 and (side := _read_side(text)):
        focus = columns_by_place[0]  # "incomes that are too low for the age": the first is judged by the others
    others = tuple(name for name in columns_by_place if name != focus) if len(columns_by_place) > 1 else ()
    return RowSearch(kind="unusual", columns=others, focus=focus, side=side)


def read_row_groups(text: str, table: TableProfile) -> RowSearch:
    """Read which groups of rows of a table a goal asks for."""
    columns_by_place = tuple(column.name for column in _named_columns(text, table))
    return RowSearch(kind="groups", columns=columns_by_place, count=_read_count(text))


def _read_side(text: str) -> Literal["low", "high"] | None:
    is_low, is_high = _LOW.search(text) is not None, _HIGH.search(text) is not None
    if is_low == is_high:
        return None
    return "low" if is_low else "high"


def _read_count(text: str) -> int | None:
    match = _COUNT.search(text)
    if match is None:
        return None
    word = (match["count"] or match["k"]).casefold()
    count = ABOVE_ONE.get(word) or int(word)
    return count if 2 <= count <= MAX_GROUPS else None


def _named_columns(text: str, table: TableProfile) -> Iterator[Column]:
    """Yield the columns whose names the goal has in full, in the order of the goal."""
    goal_stems = [stem(word) for word in words(text)]
    # The name of the table or of its rows is their subject: "unusual orders" of a column `order`.
    subjects = set(stems(table.subject))
    columns_by_place = []
    for column in table.columns:
        parts = stems(column.name)
        if not column.can_be_target and column.hint != "datetime":
            continue  # names of rows and free text compare nothing
        if parts and set(parts) <= set(goal_stems) and not set(parts) <= subjects:
            columns_by_place.append((goal_stems.index(parts[0]), column))
    yield from (column for _, column in sorted(columns_by_place, key=lambda item: item[0]))


def _priced_column(text: str, table: TableProfile) -> str | None:
    """Return the one column of prices that a goal is about by its words for cheap or expensive."""
    if not _OF_PRICE.search(text):
        return None
    priced = [
        column.name
        for column in table.columns
        if column.is_number and any(share_concept("price", part) for part in parts_of_name(column.name))
    ]
    return priced[0] if len(priced) == 1 else None


def _holds(table: TableProfile, word_stems: set[str]) -> bool:
    texts = (str(text) for column in table.columns for text in (column.name, *_texts(column.top)))
    return any(word_stems & set(stems(text)) for text in texts)


def _texts(values: Sequence[object]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _join_names(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
