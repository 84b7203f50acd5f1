"""The tables of a conversation as the compiler of plans sees them."""

from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.plans.expressions import ColumnType
from app.plans.schema import TableSchema


def make_table_schemas(tables: Sequence[TableProfile]) -> dict[str, TableSchema]:
    return {table.name: {column.name: _type_of(column) for column in table.columns} for table in tables}


def _type_of(column: Column) -> ColumnType:
    types: dict[str, ColumnType] = {
        "integer": "integer",
        "number": "number",
        "boolean": "boolean",
        "datetime": "datetime",
    }
    return "text" if column.is_stored_as_text else types.get(column.type, "text")
