"""Structure of the corpus of questions: format, halves, rows, and answers recomputed from their references."""

import math
from collections import Counter
from typing import get_args

import pandas as pd
import pytest
from pydantic import ValidationError
from tests.corpora.questions import (
    QUESTIONS_DIRECTORY,
    QuestionFile,
    load_questions,
    read_rows,
    rows_path,
)
from tests.corpora.references import evaluate
from tests.corpora.tables import Half, half_of

HALVES: tuple[Half, ...] = get_args(Half)
# Enough rows for groups and months, few enough to be read.
MIN_ROWS, MAX_ROWS = 30, 150
# A table that the rows of another refer to (shops, teams) may be short.
MIN_RELATED_ROWS = 4
# Counts that have landed, so that a file that is lost is noticed: raised when files are added.
MIN_FILES: dict[Half, int] = {"tuned": 24, "untuned": 25}
MIN_QUESTIONS: dict[Half, int] = {"tuned": 297, "untuned": 325}
# Stored answers have ten significant digits; sums may differ in the last ones between platforms.
STORED_TOLERANCE = 1e-8

FILES = [(half, file) for half in HALVES for file in load_questions(half)]


def frames_of(half: Half, file: QuestionFile) -> dict[str, pd.DataFrame]:
    return {table.name: read_rows(rows_path(half, file.id, table.name), table) for table in file.tables}


def equal(stored: object, computed: object) -> bool:
    """Equality of JSON values, numbers within STORED_TOLERANCE."""
    if isinstance(stored, dict) and isinstance(computed, dict):
        return stored.keys() == computed.keys() and all(equal(stored[key], computed[key]) for key in stored)
    if isinstance(stored, list) and isinstance(computed, list):
        return len(stored) == len(computed) and all(map(equal, stored, computed))
    if isinstance(stored, float) and isinstance(computed, float):
        return math.isclose(stored, computed, rel_tol=STORED_TOLERANCE, abs_tol=1e-9)
    return type(stored) is type(computed) and stored == computed


@pytest.mark.parametrize(("half", "file"), FILES, ids=[file.id for _, file in FILES])
def test_rows_and_answers(half: Half, file: QuestionFile) -> None:
    assert half_of(file.id) == half
    frames = frames_of(half, file)
    assert len(frames) == len(file.tables)
    lengths = sorted(len(frame) for frame in frames.values())
    assert MIN_ROWS <= lengths[-1] <= MAX_ROWS
    assert lengths[0] >= MIN_RELATED_ROWS
    for question in file.questions:
        for reading in question.readings:
            stored = reading.answer.model_dump(exclude={"ordered", "share", "shares"})
            computed = evaluate(reading.reference, frames)
            assert equal(stored, computed), (file.id, question.question, reading.reference, computed)


@pytest.mark.parametrize("half", HALVES)
def test_halves_keep_their_counts(half: Half) -> None:
    files = [file for of, file in FILES if of == half]
    assert len(files) >= MIN_FILES[half]
    assert sum(len(file.questions) for file in files) >= MIN_QUESTIONS[half]


def test_no_question_or_table_occurs_twice() -> None:
    words = Counter((file.id, question.question.casefold()) for _, file in FILES for question in file.questions)
    assert max(words.values()) == 1
    assert max(Counter(file.id for _, file in FILES).values()) == 1


def test_directory_has_no_other_files() -> None:
    expected = {QUESTIONS_DIRECTORY / half / f"{file.id}.json" for half, file in FILES}
    expected |= {rows_path(half, file.id, table.name) for half, file in FILES for table in file.tables}
    assert {path for path in QUESTIONS_DIRECTORY.rglob("*") if path.is_file()} == expected


def test_changed_answer_is_noticed() -> None:
    half, file = FILES[0]
    reading = next(reading for question in file.questions for reading in question.readings)
    computed = evaluate(reading.reference, frames_of(half, file))
    assert not equal({**computed, "form": "other"}, computed)
    assert not equal(1.0, 1.001)


def test_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        QuestionFile.model_validate({"id": "a", "source": {"made": "shop"}, "title": "A", "surplus": 1})
