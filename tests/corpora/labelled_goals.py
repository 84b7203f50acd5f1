"""Goals with the aim that they have, on the profiles of their tables: examples for the classifier of aims."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.corpora.goals import GoalTable, load_goals
from tests.corpora.planned_goals import make_schema
from tests.corpora.questions import QuestionFile, load_questions, rows_path
from tests.corpora.series import SERIES_DIRECTORY, load_series
from tests.corpora.tables import Half
from tests.corpora.training import TrainingTables, load_training_goals
from tests.corpora.training_questions import load_training_questions, training_rows_path

from app.agents.goals.aims.classifier import Aim
from app.agents.goals.tables.profiles import TableProfile, make_table_profile
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest
from app.errors import LabError

_AIMS: dict[str, Aim] = {
    "predict": "predict",
    "explain_drivers": "drivers",
    "forecast": "forecast",
    "explore": "explore",
    "segment": "explore",
    "question": "question",
    "not_served": "unserved",
    "nonsense": "nonsense",
}
QUESTION_AIMS = frozenset({"answer", "may_ask", "unanswerable"})


@dataclass(frozen=True)
class LabelledGoal:
    """A goal with its aim. `source`: the id of its table, `corpus`: where it is from."""

    corpus: Literal["goals", "training", "questions", "series"]
    source: str
    text: str
    tables: tuple[TableProfile, ...]
    aim: Aim


def load_labelled_goals() -> list[LabelledGoal]:
    """Load the goals of the tuned halves; goals in other languages have no aim."""
    return [
        *(labelled for file in load_goals("tuned") for labelled in _label_file("goals", file)),
        *(labelled for tables in load_training_goals() for labelled in _label_file("training", tables)),
        *_label_questions(load_questions("tuned"), rows_path),
        *_label_questions(load_training_questions("tuned"), training_rows_path),
        *_label_series(),
    ]


def _label_file(
    corpus: Literal["goals", "training"], file: GoalTable | TrainingTables
) -> Iterator[LabelledGoal]:
    tables = tuple(make_table_profile(make_schema(table)) for table in file.tables)
    for goal in file.goals:
        if aim := _AIMS.get(goal.aim):
            yield LabelledGoal(corpus, file.id, goal.goal, tables, aim)


def _label_questions(
    files: Sequence[QuestionFile], path_of: Callable[[Half, str, str], Path]
) -> Iterator[LabelledGoal]:
    for file in files:
        tables = tuple(_read(table.name, path_of("tuned", file.id, table.name)) for table in file.tables)
        for question in file.questions:
            if question.aim in QUESTION_AIMS or question.aim == "not_served":
                aim: Aim = "question" if question.aim in QUESTION_AIMS else "unserved"
                yield LabelledGoal("questions", f"questions/{file.id}", question.question, tables, aim)


def _label_series() -> Iterator[LabelledGoal]:
    for file in load_series("tuned"):
        try:
            table = _read(file.id, SERIES_DIRECTORY / "tuned" / f"{file.id}.csv")
        except LabError:
            continue
        for goal in file.goals:
            yield LabelledGoal("series", f"series/{file.id}", goal.goal, (table,), "forecast")


def _read(name: str, path: Path) -> TableProfile:
    """Return the profile of a table as an upload makes it."""
    with tempfile.TemporaryDirectory(prefix="labcrew-corpus-") as folder:
        facts: Any = ingest(CellWorkspace({"upload": path}, Path(folder)), path.name)
    return make_table_profile({"table": name, "rows": facts["rows"], "columns": facts["profile"]["columns"]})
