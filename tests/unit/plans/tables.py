"""Tables of the tests of query plans, with keywords, quotes and unicode as names."""

import json
from typing import Any

import duckdb

from app.computations.sql_policy.select_policy import require_select, require_select_tree
from app.plans.compiler import CompiledPlan, compile_plan
from app.plans.plan import Plan
from app.plans.schema import TableSchema

TABLES: dict[str, TableSchema] = {
    "orders": {"id": "integer", "select": "text", 'a"b': "number", "Größe": "number", "at": "datetime"},
    "people": {"select": "text", "age": "integer"},
}
_SQL_TYPES = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR", "datetime": "TIMESTAMP"}


def column(name: str) -> dict[str, Any]:
    return {"kind": "column", "name": name}


def literal(value: Any) -> dict[str, Any]:
    return {"kind": "literal", "value": value}


def compare(name: str, op: str, value: Any) -> dict[str, Any]:
    return {"kind": "compare", "op": op, "left": column(name), "right": literal(value)}


def make_plan(*steps: dict[str, Any], table: str = "orders") -> Plan:
    return Plan.model_validate({"source": {"kind": "dataset", "table": table}, "steps": list(steps)})


def compile_admitted(plan: Plan, connection: duckdb.DuckDBPyConnection) -> CompiledPlan:
    """Compile a plan and check its text by both readings of the SQL policy."""
    compiled = compile_plan(plan, TABLES)
    require_select(compiled.sql, TABLES)
    rows = connection.execute("SELECT json_serialize_sql(?)", [compiled.sql]).fetchall()
    require_select_tree(json.loads(rows[0][0]), TABLES)
    return compiled


def load(connection: duckdb.DuckDBPyConnection, name: str, rows: list[tuple[Any, ...]]) -> None:
    fields = ", ".join(
        '"' + field.replace('"', '""') + f'" {_SQL_TYPES[type_]}' for field, type_ in TABLES[name].items()
    )
    connection.execute(f'CREATE OR REPLACE TABLE "{name}" ({fields})').fetchall()
    if rows:
        marks = ", ".join("?" for _ in TABLES[name])
        connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
