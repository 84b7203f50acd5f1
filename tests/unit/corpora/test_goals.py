"""Structure of the corpus of goals: format, halves, and columns that exist."""

import re
from collections.abc import Iterator
from typing import get_args

import pytest
from pydantic import ValidationError
from tests.corpora.goals import GOALS_DIRECTORY, Goal, GoalTable, Table, load_goals
from tests.corpora.tables import Half, PackageSource, half_of

HALVES: tuple[Half, ...] = get_args(Half)
# Counts that have landed, so that a file that is lost is noticed: raised when files are added.
MIN_TABLES: dict[Half, int] = {"tuned": 53, "untuned": 52}
MIN_GOALS: dict[Half, int] = {"tuned": 529, "untuned": 460}
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


def expression_names(expression: str, columns: set[str]) -> set[str]:
    """Names in an expression that are no columns; columns with blanks stand in backticks."""
    without_quoted = expression
    for quoted in re.findall(r"`([^`]+)`", expression):
        if quoted in columns:
            without_quoted = without_quoted.replace(f"`{quoted}`", " ")
    without_text = re.sub(r"'[^']*'", " ", without_quoted)
    words = {"and", "or", "not", "in", "is", "null", "year", "month"}
    return {name for name in IDENTIFIER.findall(without_text) if name not in columns | words}


def misnamed_columns(tables: dict[str, Table], goal: Goal) -> Iterator[str]:
    """Faults of a goal's readings: tables and columns that do not exist."""
    every_column = {column.name for table in tables.values() for column in table.columns}
    for reading in goal.readings:
        if reading.table not in tables:
            yield f"table {reading.table}"
            continue
        columns = {column.name for column in tables[reading.table].columns}
        if reading.target is not None and reading.target not in columns:
            yield from expression_names(reading.target, every_column)
        if reading.filter is not None:
            yield from expression_names(reading.filter, every_column)
        yield from (name for name in reading.excluded if name not in every_column)
        if reading.aggregation is not None and ":" in reading.aggregation.measure:
            measured = reading.aggregation.measure.split(":", 1)[1]
            if measured not in every_column:
                yield from expression_names(measured, every_column)


@pytest.mark.parametrize("half", HALVES)
def test_files_are_valid(half: Half) -> None:
    files = load_goals(half)
    assert [file.id for file in files] == sorted(p.stem for p in (GOALS_DIRECTORY / half).glob("*.json"))
    for file in files:
        assert half_of(file.id) == half, file.id
        tables = {table.name: table for table in file.tables}
        assert len(tables) == len(file.tables), file.id
        for goal in file.goals:
            assert not list(misnamed_columns(tables, goal)), (file.id, goal.goal)


@pytest.mark.parametrize("half", HALVES)
def test_halves_keep_their_counts(half: Half) -> None:
    files = load_goals(half)
    assert len(files) >= MIN_TABLES[half]
    assert sum(len(file.goals) for file in files) >= MIN_GOALS[half]


def test_halves_share_no_public_table() -> None:
    items = {
        half: {file.source for file in load_goals(half) if isinstance(file.source, PackageSource)}
        for half in HALVES
    }
    assert not items["tuned"] & items["untuned"]


@pytest.mark.parametrize("half", HALVES)
def test_no_goal_occurs_twice(half: Half) -> None:
    goals = [(file.id, goal.goal.casefold()) for file in load_goals(half) for goal in file.goals]
    assert len(set(goals)) == len(goals)


def test_directory_has_no_other_files() -> None:
    strangers = [
        path
        for path in GOALS_DIRECTORY.rglob("*")
        if path.is_file() and (path.suffix != ".json" or path.parent.name not in HALVES)
    ]
    assert not strangers


def test_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        GoalTable.model_validate({"id": "a", "source": {"made": "shop"}, "title": "A", "surplus": 1})


def test_halves_follow_the_digest() -> None:
    assert {half_of(f"table_{number}") for number in range(20)} == set(HALVES)
