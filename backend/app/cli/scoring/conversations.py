"""Conversations of a suite: their messages, and what is expected of each turn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

RELATIVE_TOLERANCE = 1e-4
"""Share by which numbers of an answer may differ: suites write them with five significant digits."""

Cell = str | bool | int | float | None


class _ConversationModel(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class ExpectedTurn(_ConversationModel):
    """Required outcome of a turn.

    `rows`: the first rows of its table. `columns`: some of its columns. `steps`: kinds of steps in its plan.
    `text`: parts of its words. `words_only`: no table, chart, change or study. `studies`: how many it starts.
    `asks`: a part of its question.
    """

    columns: list[str] | None = None
    rows: list[list[Cell]] | None = None
    row_count: int | None = None
    chart: str | None = None
    steps: list[str] = []
    text: list[str] = []
    changes: list[str] | None = None
    words_only: bool = False
    studies: int | None = None
    asks: str | None = None
    fails: bool = False

    @model_validator(mode="after")
    def _is_something(self) -> "ExpectedTurn":
        if not self.model_fields_set:
            raise ValueError(f"names none of {', '.join(type(self).model_fields)}")
        return self


class ConversationTurn(_ConversationModel):
    """A message."""

    message: Annotated[str, Field(min_length=1, max_length=20_000)]
    mode: Literal["sql", "python", "plan"] | None = None
    expect: ExpectedTurn


class ConversationItem(_ConversationModel):
    """Messages of one thread about some tables. `preferences`: those of each turn."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,79}$")]
    tables: Annotated[list[str], Field(max_length=20)] = []
    preferences: dict[str, JsonValue] = {}
    turns: Annotated[list[ConversationTurn], Field(min_length=1, max_length=50)]

    @property
    def kind(self) -> str:
        return "conversation"


@dataclass(frozen=True)
class _Table:
    columns: Sequence[Mapping[str, Any]] = ()
    rows: Sequence[Sequence[Any]] = ()
    row_count: int = 0


@dataclass(frozen=True)
class TurnOutcome:
    """A turn as `GET /turns/{id}` returns it."""

    status: str = ""
    text: str = ""
    table: Mapping[str, Any] | None = None
    plan: Mapping[str, Any] | None = None
    charts: Sequence[Mapping[str, Any]] = ()
    changes: Sequence[Mapping[str, Any]] = ()
    studies: Sequence[str] = ()
    question: Mapping[str, Any] | None = None
    study_questions: Sequence[str] = field(default=())

    @classmethod
    def read(cls, turn: Mapping[str, Any], questions: Sequence[str] = ()) -> "TurnOutcome":
        names = ("status", "text", "table", "plan", "charts", "changes", "studies", "question")
        return cls(**{name: turn[name] for name in names}, study_questions=questions)


def find_turn_misses(expect: ExpectedTurn, outcome: TurnOutcome) -> list[str]:
    """List what is not as expected, a phrase each."""
    return [*_find_table_misses(expect, outcome), *_find_other_misses(expect, outcome)]


def _find_table_misses(expect: ExpectedTurn, outcome: TurnOutcome) -> list[str]:
    table = _Table(**{k: (outcome.table or {}).get(k, ()) for k in ("columns", "rows", "row_count")})
    misses = []
    names = [str(column["name"]) for column in table.columns]
    if missing := [name for name in expect.columns or () if name not in names]:
        misses.append(f"no column {', '.join(missing)} in {', '.join(names) or 'no table'}")
    if expect.row_count is not None and (outcome.table is None or table.row_count != expect.row_count):
        misses.append(f"{table.row_count or 'no'} rows instead of {expect.row_count}")
    if expect.rows is not None:
        first = [list(row) for row in table.rows[: len(expect.rows)]]
        if not _same_rows(first, expect.rows):
            misses.append(f"rows {first} instead of {expect.rows}")
    return misses


def _find_other_misses(expect: ExpectedTurn, outcome: TurnOutcome) -> list[str]:
    misses = []
    kinds = [str(chart["chart_kind"]) for chart in outcome.charts]
    # Exactly one: a second chart that nobody asked for is a miss as well.
    if expect.chart is not None and kinds != [expect.chart]:
        misses.append(f"chart {', '.join(kinds) or 'none'} instead of {expect.chart}")
    steps = [str(step["kind"]) for step in (outcome.plan or {}).get("steps", ())]
    if missing := [kind for kind in expect.steps if kind not in steps]:
        misses.append(f"no step {', '.join(missing)} in the plan ({', '.join(steps)})")
    misses += [
        f"the words lack {part!r}: {outcome.text[:200]}" for part in expect.text if part not in outcome.text
    ]
    changed = [str(change["name"]) for change in outcome.changes]
    if expect.changes is not None and changed != expect.changes:
        misses.append(f"changed {changed} instead of {expect.changes}")
    if expect.words_only and (outcome.table or outcome.charts or outcome.changes or outcome.studies):
        misses.append("more than words")
    if expect.studies is not None and len(outcome.studies) != expect.studies:
        misses.append(f"{len(outcome.studies)} studies instead of {expect.studies}")
    questions = list(outcome.study_questions)
    if expect.asks is not None and not any(expect.asks.casefold() in text.casefold() for text in questions):
        misses.append(f"asked {questions} instead of {expect.asks!r}")
    # A turn that should fail and does not is a miss, too.
    if (outcome.status == "failed") != expect.fails:
        misses.append(f"status {outcome.status}: {outcome.text[:200]}")
    return misses


def _same_rows(rows: Sequence[Sequence[Any]], expected: Sequence[Sequence[Cell]]) -> bool:
    return len(rows) == len(expected) and all(
        len(row) == len(cells) and all(map(_same_cell, row, cells))
        for row, cells in zip(rows, expected, strict=True)
    )


def _same_cell(cell: Any, expected: Cell) -> bool:
    # Whole numbers must be equal: a count that is one off is wrong.
    if isinstance(expected, float) and isinstance(cell, int | float):
        return math.isclose(cell, expected, rel_tol=RELATIVE_TOLERANCE)
    return bool(cell == expected)
