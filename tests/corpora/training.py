"""Format of the training goals: invented tables in outline, and what goals on them ask for."""

import hashlib
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from tests.corpora.goals import UNREADABLE_AIMS, Aim, Table
from tests.corpora.tables import ID_PATTERN, InventedSource, StrictModel

TRAINING_GOALS_DIRECTORY = Path(__file__).parent / "training" / "goals"
HELD_OUT_GOALS_DIRECTORY = Path(__file__).parent / "training" / "held_out_goals"
"""Goals that nothing is fitted to, and whose failures are not looked at: they show what carries over."""

TrainingAim = Aim | Literal["segment"]
"""Aims of the corpus of goals, and groups of similar rows, which the corpus counts as `explore`."""


class TrainingGoal(StrictModel):
    """Goal in the user's words, and the columns that it means.

    `targets` are the columns that are predicted, explained, forecast or measured: acceptable ones, best first,
    or all measures of a question; empty where none is meant, as in a count of rows. `conditions` select rows,
    and `groups` are columns by whose values figures are compared. `mentions` are phrases of the goal and the
    columns that they mean by name, value or unit; goals without any were not marked.
    """

    goal: str = Field(min_length=1)
    aim: TrainingAim
    targets: list[str]
    conditions: list[str] = Field(default_factory=list)
    groups: list[str] = Field(default_factory=list)
    excluded: list[str] = Field(default_factory=list)
    mentions: dict[str, str] = Field(default_factory=dict)
    plain: bool
    may_ask: bool

    @model_validator(mode="after")
    def check_aim(self) -> Self:
        if self.aim in UNREADABLE_AIMS and (self.targets or self.plain or self.may_ask):
            raise ValueError(f"{self.goal!r}: {self.aim} has no targets, is not plain and is not asked about")
        if self.plain and self.may_ask:
            raise ValueError(f"{self.goal!r}: a plain goal may not be asked about")
        if self.plain and len(self.targets) > 1 and self.aim != "question":
            raise ValueError(f"{self.goal!r}: a plain goal has one target")
        if strange := [phrase for phrase in self.mentions if phrase.casefold() not in self.goal.casefold()]:
            raise ValueError(f"{self.goal!r}: it does not hold {strange}")
        return self

    def column_names(self) -> set[str]:
        """Return the columns that the goal refers to in any way."""
        return {*self.targets, *self.conditions, *self.groups, *self.excluded, *self.mentions.values()}


class OutlinedTables(StrictModel):
    """One file: the outlines of the tables of an invented domain."""

    id: str = Field(pattern=ID_PATTERN)
    source: InventedSource
    title: str = Field(min_length=1)
    tables: list[Table] = Field(min_length=1)


class TrainingTables(OutlinedTables):
    """One file: tables of an invented domain and the goals on them."""

    goals: list[TrainingGoal] = Field(min_length=1)


def load_training_goals(directory: Path = TRAINING_GOALS_DIRECTORY) -> list[TrainingTables]:
    """Load all files in the order of their names; raise ValidationError on a malformed file."""
    paths = sorted(directory.glob("*.json"))
    return [TrainingTables.model_validate_json(path.read_text(encoding="utf-8"), strict=True) for path in paths]


FOLDS = 2


def fold_of(file_id: str) -> int:
    """Return the fold of a file, by the SHA-256 of its id: of two fits each leaves out one fold."""
    return int(hashlib.sha256(file_id.encode()).hexdigest(), 16) // 7 % FOLDS
