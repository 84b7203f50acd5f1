"""Uploaded tables of trips and riders, programs over them, and their answers as plain cells."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
from tests.corpora.program_text import parse_program
from tests.corpora.references import plain_cell

from app.agents.goals.tables.profiles import TableProfile, make_table_profile
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.programs.program_plan import plan_of
from app.agents.questions.question_reading import QuestionReading
from app.agents.questions.tables.scope import QuestionScope
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest
from app.plans.compiler import compile_plan

DATES_BY_NAME = {"joined": "date", "wait": "time"}
"""Types of numbers that programs may take a part of."""


class Tables(NamedTuple):
    """Uploaded tables: their rows for pandas, their profiles, and a database that holds them."""

    frames: dict[str, pd.DataFrame]
    profiles: dict[str, TableProfile]
    database: duckdb.DuckDBPyConnection

    def answer(self, program: str, tables: Sequence[str] = ("trips",), question: str = "") -> pd.DataFrame:
        """Return the rows of a program, read beside the words of a question."""
        return self.read(program, tables, question)[0]

    def read(
        self, program: str, tables: Sequence[str] = ("trips",), question: str = ""
    ) -> tuple[pd.DataFrame, list[str]]:
        """Return the rows of a program and the notes on it."""
        profiles = [self.profiles[name] for name in tables]
        columns = [column for profile in profiles for column in profile.columns]
        types = {c.name: "date" if c.type == "datetime" else DATES_BY_NAME.get(c.name, c.type) for c in columns}
        reading = QuestionReading(QuestionScope(tuple(profiles)), mark_items(question, profiles))
        plan = plan_of(parse_program(program, types), reading)
        frame = self.database.execute(compile_plan(plan, reading.scope.schemas).sql).df()
        return frame, reading.notes


BOTH = ("trips", "riders")


def _make_frames() -> dict[str, pd.DataFrame]:
    chance, rows = np.random.default_rng(3), 80
    started = pd.Timestamp("2022-11-20") + pd.to_timedelta(chance.integers(0, 60 * 24 * 200, rows), unit="min")
    trips = pd.DataFrame(
        {
            "trip_id": np.arange(1, rows + 1),
            "kind": chance.choice(["member", "guest", "Guest"], rows),
            "ward": chance.choice(["North", "South", "East"], rows),
            "started": started,
            "ended": started + pd.to_timedelta(chance.integers(5, 4000, rows), unit="min"),
            "booked": (started - pd.to_timedelta(chance.integers(0, 20, rows), unit="D")).normalize(),
            "fare": chance.permutation(np.arange(1.25, 61.25, 0.75))[:rows],
            "tip": np.round(chance.uniform(0, 9, rows), 2),
            "season": np.where(started < "2023-03-01", "2022/23 winter", "2023 spring"),
            "seats": chance.integers(1, 6, rows),
            "late": chance.choice([True, False], rows),
            "paid": chance.choice([0, 1], rows),
            "helmet": chance.choice(["yes", "no"], rows),
            "size": chance.choice(["S", "M", "L"], rows),
            "wait": pd.Series(chance.integers(0, 1440, rows)).map(lambda m: f"{m // 60:02}:{m % 60:02}"),
            "rider_id": chance.integers(1, 13, rows),
        }
    )
    trips["tip"] = trips["tip"].where(chance.random(rows) > 0.2)
    riders = pd.DataFrame(
        {
            "rider_id": np.arange(1, 16),
            "name": [f"Rider {letter}" for letter in "ABCDEFGHIJKLMNO"],
            "city": chance.choice(["Oslo", "Bergen"], 15),
            "age": chance.permutation(np.arange(20, 65, 3)),
            "joined": chance.integers(2010, 2023, 15),
        }
    )
    return {"trips": trips, "riders": riders}


@contextmanager
def open_program_tables(folder: Path) -> Iterator[Tables]:
    """Upload the tables, each to a folder of its own, and open a database with them."""
    frames, profiles = _make_frames(), {}
    with duckdb.connect() as database:
        for name, frame in frames.items():
            own = folder / name
            own.mkdir()
            frame.to_csv(own / "upload.csv", index=False)
            facts: Any = ingest(CellWorkspace({"upload": own / "upload.csv"}, own), "upload.csv")
            database.execute(f"CREATE TABLE {name} AS FROM '{own / 'table.parquet'}'")
            schema = {"table": name, "rows": facts["rows"], "columns": facts["profile"]["columns"]}
            profiles[name] = make_table_profile(schema)
        yield Tables(frames, profiles, database)


def cells(frame: pd.DataFrame) -> list[list[Any]]:
    rows = frame.astype(object).itertuples(index=False, name=None)
    return [[_rounded(plain_cell(cell)) for cell in row] for row in rows]


def _rounded(cell: Any) -> Any:
    return round(float(cell), 6) if isinstance(cell, int | float) and not isinstance(cell, bool) else cell


def rows_of(result: Any) -> list[list[Any]]:
    """The cells of a result of pandas, with the index of its groups before them."""
    if isinstance(result, pd.Series):
        result = result.to_frame("value")
    if isinstance(result, pd.DataFrame):
        return cells(result if isinstance(result.index, pd.RangeIndex) else result.reset_index())
    return [[_rounded(plain_cell(value)) for value in (result if isinstance(result, tuple) else (result,))]]


Reference = Callable[[pd.DataFrame], Any]


def period(trips: pd.DataFrame, unit: str) -> pd.Series:
    return trips["started"].dt.to_period(unit).dt.start_time
