"""Questions of the corpus, answered as the product does: upload, parse, SELECT; and their verdicts."""

import math
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import Any, Literal

import duckdb
import pandas as pd
from tests.corpora.conversations import run_planner
from tests.corpora.questions import (
    RELATIVE_TOLERANCE,
    Answer,
    Cell,
    ListAnswer,
    NumberAnswer,
    Question,
    QuestionFile,
    TableAnswer,
    TextAnswer,
    rows_path,
)
from tests.corpora.references import plain_cell
from tests.corpora.tables import Half

from app.agents.planner.output import Plan
from app.agents.questions.composition.composer import MAX_OFFERED
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest
from app.plans.compiler import compile_plan
from app.plans.schema import read_table_schema

NO_TARGET = "?"
MAX_PERMUTED_COLUMNS = 5
"""Columns of an answer that are assigned in every way: of more, the first with the same cells is taken."""
UNANSWERED = frozenset({"not_served", "unanswerable", "other_language"})

Verdict = Literal["right", "may_ask", "asked", "refused", "wrong"]


@dataclass(frozen=True)
class AnsweredQuestion:
    """Outcome of a question: the rows of the `answer`, a plan without an answer, or a question back.

    `offered`: the answers of the readings that the question back offers.
    """

    file: QuestionFile
    question: Question
    plan: Plan | None
    back: str = ""
    answer: pd.DataFrame | None = None
    offered: Sequence[pd.DataFrame] = ()

    @property
    def is_settled_by_a_choice(self) -> bool:
        """Test if one of the offered readings is right."""
        return any(agrees(rows, reading.answer) for rows in self.offered for reading in self.question.readings)

    @cached_property
    def verdict(self) -> Verdict:
        if self.answer is not None:
            matches = (agrees(self.answer, reading.answer) for reading in self.question.readings)
            return "right" if any(matches) else "wrong"
        if self.plan is not None and self.plan.target != NO_TARGET:
            return "wrong"  # a model instead of an answer
        if self.question.aim in UNANSWERED:
            return "right"
        if self.plan is not None:
            return "refused"
        return "may_ask" if self.question.aim == "may_ask" else "asked"


def answer_questions(
    half: Half, files: Sequence[QuestionFile], path_of: Callable[[Half, str, str], Path] = rows_path
) -> list[AnsweredQuestion]:
    """Answer all questions of some files of a half, whose rows lie where `path_of` says."""
    return [answered_question for file in files for answered_question in _answer_file(half, file, path_of)]


def _answer_file(
    half: Half, file: QuestionFile, path_of: Callable[[Half, str, str], Path]
) -> list[AnsweredQuestion]:
    with tempfile.TemporaryDirectory(prefix="labcrew-corpus-") as folder, duckdb.connect() as database:
        schemas = []
        for table in file.tables:
            output = Path(folder) / table.name
            output.mkdir()
            upload = CellWorkspace({"upload": path_of(half, file.id, table.name)}, output)
            facts: Any = ingest(upload, f"{table.name}.csv")
            database.execute(f"CREATE TABLE \"{table.name}\" AS FROM '{output / 'table.parquet'}'")
            columns = facts["profile"]["columns"]
            schemas.append({"table": table.name, "rows": facts["rows"], "columns": columns})
        return [_answer(file, question, schemas, database) for question in file.questions]


def _answer(
    file: QuestionFile, question: Question, schemas: list[dict[str, Any]], database: duckdb.DuckDBPyConnection
) -> AnsweredQuestion:
    tables = {schema["table"]: read_table_schema(schema["columns"]) for schema in schemas}

    def select(plan: Plan) -> pd.DataFrame | None:
        parsed = plan.parsed_question
        return database.execute(compile_plan(parsed.plan, tables).sql).df() if parsed else None

    planned = run_planner(question.question, schemas)
    if isinstance(planned, Plan):
        return AnsweredQuestion(file, question, planned, answer=select(planned))
    plans = [run_planner(question.question, schemas, [option]) for option in planned.options[:MAX_OFFERED]]
    offered = [rows for plan in plans if isinstance(plan, Plan) and (rows := select(plan)) is not None]
    return AnsweredQuestion(file, question, None, planned.text, offered=offered)


def agrees(frame: pd.DataFrame, answer: Answer) -> bool:
    """Test if the rows of an answer agree with that of the corpus, by the rules of its form."""
    cells = [
        [plain_cell(cell) for cell in row] for row in frame.astype(object).itertuples(index=False, name=None)
    ]
    match answer:
        case NumberAnswer():
            if answer.value is None:
                return not cells or all(cell is None for cell in cells[0])
            return len(cells) == 1 and any(_same_number(cell, answer.value, answer.share) for cell in cells[0])
        case TextAnswer():
            return bool(cells) and any(same_cell(cell, answer.value) for cell in cells[0])
        case ListAnswer():
            expected = [[value] for value in answer.values]
            if not cells:
                return not expected
            columns = [*map(list, zip(*cells, strict=True)), *(cells if len(cells) == 1 else [])]
            return any(_same_rows([[cell] for cell in column], expected, answer.ordered) for column in columns)
        case TableAnswer():
            return _agrees_with_table(cells, len(frame.columns), answer)


def _agrees_with_table(cells: list[list[Cell]], width: int, answer: TableAnswer) -> bool:
    expected = len(answer.columns)
    if width < expected:
        return False
    shares = [column in answer.shares for column in answer.columns]
    if width > MAX_PERMUTED_COLUMNS:
        places = _assign_columns(cells, answer, shares)
        rows = (
            [[row[place] for place in places] for row in cells] if places else [row[:expected] for row in cells]
        )
        return _same_rows(rows, answer.rows, answer.ordered, shares)
    return any(
        _same_rows([[row[place] for place in places] for row in cells], answer.rows, answer.ordered, shares)
        for places in permutations(range(width), expected)
    )


def _assign_columns(cells: list[list[Cell]], answer: TableAnswer, shares: Sequence[bool]) -> list[int]:
    """Places of the first free columns with the cells of each wanted one; empty if one of them lacks."""
    places: list[int] = []
    for number in range(len(answer.columns)):
        expected = [[row[number]] for row in answer.rows]
        own = (
            place
            for place in range(len(cells[0]) if cells else 0)
            if place not in places
            and _same_rows([[row[place]] for row in cells], expected, False, [shares[number]])
        )
        place = next(own, None)
        if place is None:
            return []
        places.append(place)
    return places


def _same_rows(
    rows: list[list[Cell]], expected: list[list[Cell]], ordered: bool, shares: Sequence[bool] = ()
) -> bool:
    """Test if rows agree cell by cell. Order counts by the numbers only, so that ties may be exchanged."""
    if len(rows) != len(expected):
        return False
    is_share = [*shares, *[False] * (len(expected[0]) if expected else 0)]

    def same(row: list[Cell], other: list[Cell]) -> bool:
        return all(
            same_cell(cell, value, is_share[place])
            for place, (cell, value) in enumerate(zip(row, other, strict=True))
        )

    if not _matches_in_any_order(rows, expected, same):
        return False
    numbers = [place for place, cell in enumerate(expected[0]) if _is_number(cell)] if expected else []
    if not ordered or not expected:
        return True
    places = numbers or range(len(expected[0]))
    return any(
        all(
            same_cell(row[place], other[place], is_share[place])
            for row, other in zip(rows, expected, strict=True)
        )
        for place in places
    )


def _matches_in_any_order(
    rows: list[list[Cell]], expected: list[list[Cell]], same: Callable[[list[Cell], list[Cell]], bool]
) -> bool:
    unmatched = list(rows)
    for other in expected:
        place = next((i for i, row in enumerate(unmatched) if same(row, other)), None)
        if place is None:
            return False
        del unmatched[place]
    return True


def same_cell(cell: Cell, value: Cell, is_share: bool = False) -> bool:
    """Test if two cells agree: numbers within the tolerance, texts without case, dates at one precision."""
    if cell is None or value is None:
        return cell is value
    if _is_number(value):
        return _same_number(cell, value, is_share)
    if _fold(cell) == _fold(value) or (_is_date(value) and _fold(cell).startswith(_fold(value))):
        return True
    first_day = _first_day(value)
    return first_day is not None and _fold(cell).startswith(first_day)


_QUARTER = re.compile(r"(\d{4})[- ]?q([1-4])")
_HALF = re.compile(r"(\d{4})[- ]?h([12])")


def _first_day(value: Cell) -> str | None:
    """First day of a week, quarter or half year that pandas names: `2024-04-29/2024-05-05`, `2021Q1`."""
    text = _fold(value)
    if _is_date(value) and text[10:11] == "/":
        return text[:10]
    for pattern, months in ((_QUARTER, 3), (_HALF, 6)):
        if match := pattern.fullmatch(text):
            return f"{match[1]}-{(int(match[2]) - 1) * months + 1:02}-01"
    return None


def _is_date(value: Cell) -> bool:
    return isinstance(value, str) and len(value) >= 7 and value[:4].isdigit() and value[4] == "-"


def _is_number(value: Cell) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(cell: Cell, value: Any, is_share: bool) -> bool:
    if not isinstance(cell, int | float) or isinstance(cell, bool):
        return False
    if isinstance(value, int) and not is_share:
        return float(cell) == value
    return any(
        math.isclose(cell, value * scale, rel_tol=RELATIVE_TOLERANCE, abs_tol=1e-9)
        for scale in ((1, 100) if is_share else (1,))
    )


def _fold(cell: Cell) -> str:
    words = {"true": "yes", "false": "no"}
    text = str(cell).strip().casefold()
    return words.get(text, text)
