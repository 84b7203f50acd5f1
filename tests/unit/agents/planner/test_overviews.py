"""Goals that ask to look at the data."""

import duckdb
import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan
from app.plans.compiler import compile_plan
from app.plans.schema import read_table_schema


def make_schema(table: str, columns: dict[str, str]) -> dict[str, object]:
    return {"table": table, "rows": 3, "columns": [{"name": n, "type": t} for n, t in columns.items()]}


SCHEMAS = [
    make_schema("orders", {"order_no": "integer", "amount": "number", "channel": "text"}),
    make_schema("clients", {"client_no": "integer", "town": "text"}),
]


@pytest.mark.parametrize(
    ("goal", "tables"),
    [
        ("Give me an overview of all tables", {"orders", "clients"}),
        ("Just have a look around the orders", {"orders"}),
    ],
)
def test_an_overview_has_a_row_for_each_column_of_its_tables(goal: str, tables: set[str]) -> None:
    plan = run_planner(goal, SCHEMAS)
    assert isinstance(plan, Plan)
    assert plan.parsed_question
    assert set(plan.tables) == tables
    assert plan.understanding
    with duckdb.connect() as database:
        database.execute("CREATE TABLE orders AS SELECT 1 AS order_no, 2.5 AS amount, 'web' AS channel")
        database.execute("CREATE TABLE clients AS SELECT 1 AS client_no, 'Ulm' AS town")
        schemas = {str(s["table"]): read_table_schema(s["columns"]) for s in SCHEMAS}  # type: ignore[arg-type]
        rows = database.execute(compile_plan(plan.parsed_question.plan, schemas).sql).df()
    assert len(rows) == sum(len(s["columns"]) for s in SCHEMAS if s["table"] in tables)  # type: ignore[arg-type,misc]
