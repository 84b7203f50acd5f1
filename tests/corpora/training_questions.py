"""Training questions: invented tables with rows, and questions whose answers pandas computes at loading."""

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field
from tests.corpora.questions import (
    AIMS_WITH_READINGS,
    Question,
    QuestionAim,
    QuestionColumn,
    QuestionFile,
    QuestionReading,
    QuestionTable,
    read_rows,
)
from tests.corpora.references import evaluate
from tests.corpora.tables import ID_PATTERN, ColumnType, Half, InventedSource, StrictModel

TRAINING_QUESTIONS_DIRECTORY = Path(__file__).parent / "training" / "questions"
PARTS = 3
"""Residues of hashes by which tables are chosen: those of the residue 0 are tuned (62 of 96)."""


class TrainingQuestion(StrictModel):
    """A question and the pandas expressions of its acceptable answers, over frames named as the tables."""

    question: str = Field(min_length=1)
    references: list[str]
    aim: QuestionAim = "answer"
    ordered: bool = False
    share: bool = False
    shares: list[str] = Field(default_factory=list)


class TrainingTable(StrictModel):
    """A table whose rows lie in `<id>/<name>.csv`: the types of its columns by name."""

    name: str = Field(pattern=ID_PATTERN)
    columns: dict[str, ColumnType] = Field(min_length=1)


class TrainingQuestions(StrictModel):
    """One file: tables of an invented domain and the questions on them."""

    id: str = Field(pattern=ID_PATTERN)
    source: InventedSource
    tables: list[TrainingTable] = Field(min_length=1)
    questions: list[TrainingQuestion] = Field(min_length=1)


def training_rows_path(half: Half, file_id: str, table: str) -> Path:
    """CSV file with the rows of a table; both halves lie in one directory."""
    return TRAINING_QUESTIONS_DIRECTORY / file_id / f"{table}.csv"


def training_half_of(file_id: str) -> Half:
    """Half of a file, by the SHA-256 of its id."""
    part = int(hashlib.sha256(file_id.encode()).hexdigest(), 16) % PARTS
    return "tuned" if part == 0 else "untuned"


def load_training_questions(half: Half) -> list[QuestionFile]:
    """Files of a half with their computed answers, in the order of their names."""
    paths = sorted(TRAINING_QUESTIONS_DIRECTORY.glob("*.json"))
    return [_with_answers(half, path) for path in paths if training_half_of(path.stem) == half]


def _with_answers(half: Half, path: Path) -> QuestionFile:
    file = TrainingQuestions.model_validate_json(path.read_text(encoding="utf-8"))
    tables = [
        QuestionTable(
            name=table.name,
            columns=[QuestionColumn(name=n, type=kind, about=n) for n, kind in table.columns.items()],
        )
        for table in file.tables
    ]
    frames = {table.name: read_rows(training_rows_path(half, file.id, table.name), table) for table in tables}
    return QuestionFile(
        id=file.id,
        source=file.source,
        title=file.source.made,
        tables=tables,
        questions=[_question(question, frames) for question in file.questions],
    )


def _question(question: TrainingQuestion, frames: dict[str, pd.DataFrame]) -> Question:
    readings = [_reading(question, reference, frames) for reference in question.references]
    if bool(readings) != (question.aim in AIMS_WITH_READINGS):
        raise ValueError(f"{question.question!r}: there are references exactly for questions that are answered")
    return Question(
        question=question.question,
        aim=question.aim,
        plain=False,
        readings=readings,
        note="The columns settle it.",
    )


def _reading(question: TrainingQuestion, reference: str, frames: dict[str, pd.DataFrame]) -> QuestionReading:
    answer: dict[str, Any] = evaluate(reference, frames)
    match answer["form"]:
        case "number":
            answer["share"] = question.share
        case "list":
            answer["ordered"] = question.ordered
        case "table":
            answer["ordered"] = question.ordered
            answer["shares"] = [name for name in question.shares if name in answer["columns"]]
    return QuestionReading.model_validate({"computes": reference, "reference": reference, "answer": answer})
