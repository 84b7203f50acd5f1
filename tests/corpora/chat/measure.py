"""Measure the further questions of conversations: `python -m tests.corpora.chat.measure [--failures]`.

`questions.jsonl` was written after the parser and before it was tried on them. Each question has a SELECT over
the tables of `labcrew eval chat` that computes its answer.
"""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
from tests.corpora.references import plain_cell

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.offline_rules import RULES
from app.agents.runtime.conversation import ConversationView
from app.cli.scoring.suite import SHIPPED
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest
from app.plans.compiler import compile_plan
from app.plans.plan import Plan
from app.plans.schema import read_table_schema

PATH = Path(__file__).with_name("questions.jsonl")
QUESTIONS = [tuple(json.loads(line).values()) for line in PATH.read_text().splitlines()]
TABLES = ("orders", "products", "sales", "customers")
RELATIVE_TOLERANCE = 0.005
"""Share by which numbers may differ: half a unit of the third digit."""


def measure(shows_failures: bool) -> Counter[str]:
    """Count the verdicts: `right`, `wrong, said` (by its reading), `wrong in silence`, `not understood`."""
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="labcrew-chat-") as folder, duckdb.connect() as database:
        paths = [SHIPPED / "chat" / f"{name}.csv" for name in TABLES]
        schemas = [load_table(path, Path(folder), database) for path in paths]
        for question, sql in QUESTIONS:
            verdict, words = _judge(question, sql, schemas, database)
            verdicts[verdict] += 1
            if shows_failures and verdict != "right":
                print(f"{verdict}: {question}\n    {words}")  # noqa: T201 - the output of this command
    return verdicts


def load_table(path: Path, folder: Path, database: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Load a file as a table that is named as it; return its schema as conversations get it."""
    name = path.stem
    output = folder / name
    output.mkdir()
    upload = CellWorkspace({"upload": path}, output)
    facts: Any = ingest(upload, f"{name}.csv")
    database.execute(f"CREATE TABLE \"{name}\" AS FROM '{output / 'table.parquet'}'")
    return {"table": name, "rows": facts["rows"], "columns": facts["profile"]["columns"]}


def _judge(
    question: str, sql: str, schemas: list[dict[str, Any]], database: duckdb.DuckDBPyConnection
) -> tuple[str, str]:
    view = ConversationView(ChatBrief(question, schemas), ())
    action = next(action for rule in RULES if (action := rule(view)))
    if not action.calls:
        return "not understood", action.message[:200]
    name, arguments = action.calls[0]
    if "plan" not in arguments:
        return "wrong in silence", f"{name} {arguments}"
    plan = Plan.model_validate(arguments["plan"])
    tables = {schema["table"]: read_table_schema(schema["columns"]) for schema in schemas}
    rows = database.execute(compile_plan(plan, tables).sql).fetchall()
    expected = database.execute(sql).fetchall()
    if rows_agree(rows, expected):
        return "right", ""
    readings = [*arguments.get("readings", ())]
    return ("wrong, said" if readings else "wrong in silence"), f"{rows[:3]} not {expected[:3]}; {readings}"


def rows_agree(rows: list[Any], expected: list[Any]) -> bool:
    """Test if each expected row is part of another row; of one number also the count of the rows."""
    if (
        len(expected) == 1
        and len(expected[0]) == 1
        and isinstance(expected[0][0], int)
        and len(rows) == expected[0][0]
    ):
        return True
    if len(rows) != len(expected):
        return False
    remaining = list(rows)
    for wanted_row in expected:
        match = next((row for row in remaining if contains(row, wanted_row)), None)
        if match is None:
            return False
        remaining.remove(match)
    return True


def contains(row: Any, part: Any) -> bool:
    """Test if each cell of a part is one of a row."""
    return all(any(_same(cell, value) for cell in row) for value in part)


def _same(cell: Any, value: Any) -> bool:
    cell, value = plain_cell(cell), plain_cell(value)
    if isinstance(cell, int | float) and isinstance(value, int | float):
        near = any(abs(cell - other) <= RELATIVE_TOLERANCE * abs(other) for other in (value, value / 100))
        return near or cell == value
    return str(cell).casefold() == str(value).casefold()


if __name__ == "__main__":
    counts = measure("--failures" in sys.argv)
    print(", ".join(f"{name} {count} of {len(QUESTIONS)}" for name, count in counts.most_common()))  # noqa: T201 - see above
