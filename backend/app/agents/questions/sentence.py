"""A tokenized question during parsing: parsed parts are removed, so that the rest was not understood."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.agents.goals.tables import Column
from app.agents.questions.query import Cell, Condition, GroupKey
from app.agents.questions.tokenizer import TokenizedQuestion
from app.agents.questions.vocabulary import STOP

GAP = " | "
PLACEHOLDER = " \0 "
"""Keeps a position for `fill`. It cannot occur in a question, because it is not a word."""


class NotUnderstood(Exception):
    """The question cannot be parsed. `options`: similar questions that can be."""

    def __init__(self, why: str, options: Sequence[str] = ()) -> None:
        super().__init__(why)
        self.options = tuple(options)


@dataclass
class Sentence:
    """The unparsed rest of a question. Conditions are marked in `text` by `F` and their index."""

    question: TokenizedQuestion
    text: str
    conditions: list[Condition] = field(default_factory=list)
    groups: list[GroupKey] = field(default_factory=list)
    interpretations: list[str] = field(default_factory=list)

    def take(self, pattern: str) -> re.Match[str] | None:
        """Return the first match and remove it."""
        match = re.search(pattern, self.text)
        if match:
            self.replace(match, GAP)
        return match

    def take_in_place(self, pattern: str) -> re.Match[str] | None:
        """Return the first match and replace it by a placeholder for `fill`."""
        match = re.search(pattern, self.text)
        if match:
            self.replace(match, PLACEHOLDER)
        return match

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
