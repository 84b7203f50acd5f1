"""A tokenized question during parsing: parsed parts are removed, so that the rest was not understood."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from app.agents.goals.tables import Column
from app.agents.goals.typed_pattern import Groups, read_groups
from app.agents.questions.marking import MarkedQuestion
from app.agents.questions.query import Cell, Condition, GroupKey
from app.agents.questions.vocabulary import STOP

GAP = " | "
PLACEHOLDER = " \0 "
"""Keeps a position for `fill`. It cannot occur in a question, because it is not a word."""


class ColumnMark(NamedTuple):
    """The groups of a pattern that names one column."""

    column: str


class NotUnderstood(Exception):
    """The question cannot be parsed. `options`: similar questions that can be."""

    def __init__(self, why: str, options: Sequence[str] = ()) -> None:
        super().__init__(why)
        self.options = tuple(options)


@dataclass
class Sentence:
    """The unparsed rest of a question. Conditions are marked in `text` by `F` and their index."""

    question: MarkedQuestion
    text: str
    conditions: list[Condition] = field(default_factory=list)
    groups: list[GroupKey] = field(default_factory=list)
    interpretations: list[str] = field(default_factory=list)

    @overload
    def take(self, pattern: str) -> re.Match[str] | None: ...
    @overload
    def take(self, pattern: str, groups: Callable[..., Groups]) -> Groups | None: ...
    def take(self, pattern: str, groups: Callable[..., Groups] | None = None) -> object:
        """Return the first match, or its named groups as `groups`, and remove it."""
        match = re.search(pattern, self.text)
        if match:
            self.replace(match, GAP)
        return read_groups(groups, match) if match and groups else match

    def take_in_place(self, pattern: str, groups: Callable[..., Groups]) -> Groups | None:
        """Return the named groups of the first match and replace it by a placeholder for `fill`."""
        match = re.search(pattern, self.text)
        if match is None:
            return None
        self.replace(match, PLACEHOLDER)
        return read_groups(groups, match)

    def fill(self, text: str) -> None:
        self._set(self.text.replace(PLACEHOLDER.strip(), text))

    def replace(self, match: re.Match[str], replacement: str) -> None:
        self._set(self.text[: match.start()] + f" {replacement} " + self.text[match.end() :])

    def _set(self, text: str) -> None:
        self.text = " ".join(text.split())

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    def column(self, mark: str) -> Column:
        return self.question.columns[int(mark[1:])]

    def value(self, mark: str) -> tuple[Column, Cell]:
        return self.question.values[int(mark[1:])]

    def number(self, mark: str) -> float:
        return self.question.numbers[int(mark[1:])]

    def integer(self, mark: str | None, default: int) -> int:
        return int(self.number(mark)) if mark else default

    def add_condition(self, condition: Condition) -> str:
        """Add a condition and return its mark."""
        self.conditions.append(condition)
        return f" F{len(self.conditions) - 1} "

    def date_column(self) -> Column:
        """Return the only date column. Raises NotUnderstood if there is none, or more than one."""
        dates = [column for column in self.question.table.dates if not column.is_stored_as_text]
        if len(dates) != 1:
            listing = " and ".join(f"`{column.name}`" for column in dates) or "none"
            raise NotUnderstood(f"It asks about time, and the table's columns of dates are: {listing}.")
        return dates[0]

    @property
    def marks(self) -> list[str]:
        return re.findall(r"\b[CVNDLF]\d+\b", self.text)

    @property
    def unread(self) -> list[str]:
        """Words and marks that no rule has parsed."""
        return [
            word
            for word in re.findall(r"[^\s|]+", self.text)
            if word not in {"R", "@"} and word not in STOP and word not in ",;=<>"
        ]
