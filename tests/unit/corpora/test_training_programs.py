"""Training programs are read with their tables, and what is wrong with one is said."""

from pathlib import Path

import pytest
from tests.corpora.program_text import BadProgramError, parse_program
from tests.corpora.training import TRAINING_GOALS_DIRECTORY
from tests.corpora.training_programs import (
    HELD_OUT_PROGRAMS_DIRECTORY,
    PROGRAMS_DIRECTORY,
    read_programs,
)

COLUMNS = {"fare": "number", "city": "text", "started": "datetime", "W.Hnd": "text"}


@pytest.mark.parametrize(
    "directory", [PROGRAMS_DIRECTORY, HELD_OUT_PROGRAMS_DIRECTORY], ids=lambda path: path.name
)
def test_all_programs_are_read(directory: Path) -> None:
    paths = sorted(directory.glob("*.txt"))
    files = [read_programs(path) for path in paths]
    assert len(files) >= 150
    assert min(len(file.questions) for file in files) >= 8
    questions = [question for file in files for question, _ in file.questions]
    assert all(len(question) < 300 for question in questions)


def test_held_out_tables_have_no_training_programs() -> None:
    held_out = {path.stem for path in HELD_OUT_PROGRAMS_DIRECTORY.glob("*.txt")}
    assert not held_out & {path.stem for path in PROGRAMS_DIRECTORY.glob("*.txt")}
    assert not held_out & {path.stem for path in TRAINING_GOALS_DIRECTORY.glob("*.json")}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mean(fare", "no expression"),
        ("mean(price)", "no column `price`"),
        ("mean(fare, city, city)", "`mean` takes 1 or 2 arguments"),
        ("mode(city)", "no figure: mode"),
        ("mean(fare), where(city)", "no condition: city"),
        ("mean(fare), by(month(city + fare))", "of a column alone"),
        ("groups()", r"`groups` needs by"),
        ("rows(), by(city)", "`rows` has no groups"),
        ("count(), where(fare > 3), by(city), where(fare > 4)", "two clauses `where`"),
        ("count(), top(3, fare)", "figures of all rows have no order"),
        ("count(), by(city), top(0, count())", "needs a whole number first"),
        ("by(city), count()", "what is shown comes first"),
        ("by(city)", "nothing is shown"),
        ("predict()", "`predict` takes 1 arguments"),
        ("segment(city)", "`segment` takes 0 arguments"),
        ("drivers(fare), by(city)", "`drivers` has no other clauses"),
        ("predict(fare), where(fare > 3), without(city)", "each once and in this order"),
    ],
)
def test_what_is_wrong_with_a_program_is_said(text: str, reason: str) -> None:
    with pytest.raises(BadProgramError, match=reason):
        parse_program(text, COLUMNS)


def test_programs_of_names_that_are_no_python_names() -> None:
    program = parse_program("count(), by(col('W.Hnd'))", COLUMNS)
    assert [key.column for key in program.keys if hasattr(key, "column")] == ["W.Hnd"]
