"""Programs of one answer have one form, and those that ask for nothing are told."""

import pytest
from tests.corpora.program_text import parse_program
from tests.unit.agents.questions.test_grammar import TYPES

from app.agents.questions.programs.equal_programs import asks_nothing, simplest
from app.agents.questions.programs.program import Program


def _parse(text: str) -> Program:
    program = parse_program(text, TYPES)
    assert isinstance(program, Program)
    return program


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("count(city == 'York')", "count(), where(city == 'York')"),
        ("count(member == True), by(city)", "count(), by(city), where(member == True)"),
        ("sum(fare) - sum(km)", "sum(fare - km)"),
        ("distinct(trip_no)", "count()"),
    ],
)
def test_programs_of_one_answer(first: str, second: str) -> None:
    assert simplest(_parse(first), {"trip_no"}) == simplest(_parse(second), {"trip_no"})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("share(city == 'York')", "count(), where(city == 'York')"),
        ("mean(fare) - mean(km)", "sum(fare - km)"),
        ("distinct(city)", "count()"),
        ("sum(fare - km)", "sum(km - fare)"),
    ],
)
def test_programs_of_different_answers(first: str, second: str) -> None:
    assert simplest(_parse(first), {"trip_no"}) != simplest(_parse(second), {"trip_no"})


@pytest.mark.parametrize(
    "text",
    ["sum(fare - fare)", "corr(fare, fare)", "mean(fare + fare), by(city)", "rows(), top(20095, fare)"],
)
def test_what_nobody_asks_for(text: str) -> None:
    assert asks_nothing(_parse(text))


@pytest.mark.parametrize("text", ["sum(fare - km)", "corr(fare, km)", "count(), where(fare == fare)"])
def test_what_the_rows_tell(text: str) -> None:
    assert asks_nothing(_parse(text)) == (text == "count(), where(fare == fare)")
