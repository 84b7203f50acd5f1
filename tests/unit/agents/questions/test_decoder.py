"""The stored decoder writes the programs of everyday questions, and its search agrees with itself."""

import pytest
from tests.corpora.program_text import parse_program
from tests.unit.agents.questions.test_grammar import TRIPS, TYPES

from app.agents.questions.learned import decoder
from app.agents.questions.learned.decoder import write_programs
from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.learned.reading import read_aim


@pytest.mark.parametrize(
    ("question", "program"),
    [
        ("average fare by city", "mean(fare), by(city)"),
        ("how many trips per month", "count(), by(yearmonth(started))"),
        ("total km in York", "sum(km), where(city == 'York')"),
        ("which city has the highest total fare", "sum(fare), by(city), top(1, sum(fare))"),
        ("number of trips in each city", "count(), by(city)"),
        ("median fare of members", "median(fare), where(member == True)"),
        ("number of trips longer than 20 km", "count(), where(km > 20)"),
    ],
)
def test_everyday_questions(question: str, program: str) -> None:
    written = write_programs(QuestionInputs(question, [TRIPS]))
    assert written[0].program == parse_program(program, TYPES)


def test_probabilities_are_of_different_programs_and_fall() -> None:
    written = write_programs(QuestionInputs("fare per km of each city in 2023", [TRIPS]))
    probabilities = [entry.probability for entry in written]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < sum(probabilities) <= 1.0001


def test_a_wider_search_finds_no_worse_program() -> None:
    inputs = QuestionInputs("do members ride further than others on weekends", [TRIPS])
    narrow, wide = write_programs(inputs, beam=1), write_programs(inputs, beam=8)
    assert wide[0].probability >= (narrow[0].probability if narrow else 0.0) - 1e-6


def test_a_question_without_words_is_not_read() -> None:
    assert write_programs(QuestionInputs("", [TRIPS])) == []


def test_the_decoder_is_loaded_again_after_it_was_forgotten() -> None:
    before = write_programs(QuestionInputs("average fare", [TRIPS]))
    decoder.forget()
    assert write_programs(QuestionInputs("average fare", [TRIPS])) == before


@pytest.mark.parametrize(
    ("goal", "aim", "target"),
    [
        ("predict the fare", "predict", "fare"),
        ("what will a trip cost", "predict", "fare"),
        ("which factors drive the fare", "drivers", "fare"),
        ("forecast the km of the next four weeks", "forecast", "km"),
        ("average fare by city", "question", None),
        ("group similar trips", "explore", None),
        ("translate the remarks into French", "unserved", None),
        ("asdf jkl", "nonsense", None),
    ],
)
def test_everyday_goals(goal: str, aim: str, target: str | None) -> None:
    read = read_aim(goal, [TRIPS])
    assert read is not None
    assert max(read.aims, key=read.aims.__getitem__) == aim
    assert sum(read.aims.values()) == pytest.approx(1, abs=1e-5)
    assert sum(read.targets.values()) <= 1.00001
    if target is not None:
        assert max(read.targets, key=read.targets.__getitem__) == ("trips", target)


def test_a_goal_without_words_has_no_aim() -> None:
    assert read_aim("", [TRIPS]) is None
    assert read_aim("predict " + "the fare and " * 40, [TRIPS]) is None
