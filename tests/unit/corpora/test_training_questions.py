"""Structure of the training questions: all of them are loaded, and have answers."""

import pytest
from tests.corpora.questions import AIMS_WITH_READINGS, NumberAnswer, TableAnswer
from tests.corpora.tables import Half
from tests.corpora.training_questions import load_training_questions

# Counts that have landed, so that a file that is lost is noticed.
MIN_QUESTIONS: dict[Half, int] = {"tuned": 1010, "untuned": 692}


@pytest.mark.parametrize("half", ["tuned", "untuned"])
def test_every_reference_has_an_answer(half: Half) -> None:
    files = load_training_questions(half)
    questions = [question for file in files for question in file.questions]
    assert len(questions) >= MIN_QUESTIONS[half]
    for question in questions:
        assert bool(question.readings) == (question.aim in AIMS_WITH_READINGS)
        for reading in question.readings:
            assert not (isinstance(reading.answer, NumberAnswer) and reading.answer.value is None)
            assert not (isinstance(reading.answer, TableAnswer) and not reading.answer.rows)
