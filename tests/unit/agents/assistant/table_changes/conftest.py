"""A table of deliveries, and messages that change it, run as the SQL of a conversation."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from app.agents.assistant.brief import EarlierTurn
from app.agents.assistant.table_changes.change import ChangeStatements, UnclearTableChange
from app.agents.assistant.table_changes.requests import read_table_change
from app.agents.goals.tables.profiles import TableProfile, make_table_profile
from app.agents.questions.parser import parse_question
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.conversation_sql import run
from app.computations.uploads.ingest import ingest

TABLES = {
    "deliveries": """delivery,sent,arrived,depot,weight,late
1,2023-03-06,2023-03-09,North,2.5,yes
2,2023-05-01,2023-05-02,South,,no
3,2024-01-31,2024-02-04,North,3.5,no
4,2024-02-01,2024-02-03,South,1.0,yes
4,2024-02-01,2024-02-03,South,1.0,yes
5,2024-07-15,2024-07-16,,9.0,no
""",
    "depots": """depot,city
North,Kiel
South,Ulm
""",
}


class ChangedTable(NamedTuple):
    """The columns and rows of a table after a change, and the sentence about it."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    sentence: str

    def column(self, name: str) -> list[Any]:
        return [row[self.columns.index(name)] for row in self.rows]


class Tables:
    """The tables as they were uploaded, and what messages make of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.numbers = count()
        self.profiles: list[TableProfile] = []
        self.files: dict[str, Path] = {}
        for name, text in TABLES.items():
            source, output = folder / f"{name}.csv", folder / name
            source.write_text(text)
            output.mkdir()
            facts: Any = ingest(CellWorkspace({"upload": source}, output), source.name)
            schema = {"table": name, "rows": facts["rows"], "columns": facts["profile"]["columns"]}
            self.profiles.append(make_table_profile(schema))
            self.files[name] = output / "table.parquet"

    def read(
        self, message: str, earlier: Sequence[EarlierTurn] = (), tables: Sequence[str] = ("deliveries",)
    ) -> ChangeStatements | UnclearTableChange | None:
        profiles = tuple(profile for profile in self.profiles if profile.name in tables)
        return read_table_change(message, profiles, earlier, lambda words: parse_question(words, profiles))

    def change(
        self, message: str, earlier: Sequence[EarlierTurn] = (), tables: Sequence[str] = ("deliveries",)
    ) -> ChangedTable:
        """Read a message, run its statements under the policy of conversations, and read the table."""
        change = self.read(message, earlier, tables)
        assert isinstance(change, ChangeStatements), change
        output = self.folder / f"changed_{next(self.numbers)}"
        output.mkdir()
        inputs = {f"dataset.{name}": self.files[name] for name in tables}
        facts: Any = run(CellWorkspace(inputs, output), change.statement, {})
        file = facts["workspace"]["tables"][change.table]["file"]
        with duckdb.connect() as connection:
            relation = connection.read_parquet(str(output / file))
            return ChangedTable(relation.columns, relation.fetchall(), change.sentence)


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The uploaded tables, read once: no message changes them."""
    return Tables(tmp_path_factory.mktemp("tables"))
