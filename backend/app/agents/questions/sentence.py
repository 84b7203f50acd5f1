"""A scanned question while it is read: what is understood is taken out, and what is left was not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.agents.goals.tables import Column
from app.agents.questions.query import Cell, Condition, Group
from app.agents.questions.tokenizer import Scanned
from app.agents.questions.vocabulary import STOP

GAP = " | "
HELD = " \0 "
"""Marks a place; no question holds it, because it is no word."""


class NotUnderstood(Exception):
    """Why a question cannot be read, in words for the user; and questions like it that can be."""

    def __init__(self, why: str, options: Sequence[str] = ()) -> None:
        super().__init__(why)
        self.options = tuple(options)


@dataclass
class Sentence:
    """`conditions` stand as `F` and their number in `text` until they are taken."""

    scanned: Scanned
    text: str
    conditions: list[Condition] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first match, taken out."""
        found = re.search(pattern, self.text)
        if found:
            self.replace(found, GAP)
        return found

    def take_of(self, pattern: str) -> re.Match[str] | None:
        """The first match, with a place held for what `put` puts there."""
        found = re.search(pattern, self.text)
        if found:
            self.replace(found, HELD)
        return found

    def put(self, text: str) -> None:
        self._set(self.text.replace(HELD.strip(), text))

    def replace(self, found: re.Match[str], by: str) -> None:
        self._set(self.text[: found.start()] + f" {by} " + self.text[found.end() :])

    def _set(self, text: str) -> None:
        self.text = " ".join(text.split())

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    def column(self, mark: str) -> Column:
        return self.scanned.columns[int(mark[1:])]

    def value(self, mark: str) -> tuple[Column, Cell]:
        return self.scanned.values[int(mark[1:])]

    def number(self, mark: str) -> float:
        return self.scanned.numbers[int(mark[1:])]

    def whole(self, mark: str | None, otherwise: int) -> int:
        return int(self.number(mark)) if mark else otherwise

    def condition(self, condition: Condition) -> str:
        """The mark of a condition that was found."""
        self.conditions.append(condition)
        return f" F{len(self.conditions) - 1} "

    def date_column(self) -> Column:
        """The only date; raises NotUnderstood when there is none, or more than one."""
        dates = [column for column in self.scanned.table.dates if not column.as_text]
        if len(dates) != 1:
            told = " and ".join(f"`{column.name}`" for column in dates) or "none"
            raise NotUnderstood(f"It asks about time, and the table's columns of dates are: {told}.")
        return dates[0]

    @property
    def marks(self) -> list[str]:
        return re.findall(r"\b[CVNDLF]\d+\b", self.text)

    @property
    def left(self) -> list[str]:
        """Words and marks that nothing took."""
        return [
            word
            for word in re.findall(r"[^\s|]+", self.text)
            if word not in {"R", "@"} and word not in STOP and word not in ",;=<>"
        ]
