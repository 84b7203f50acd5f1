"""Comparison of two versions of a table: rows that only one of them has."""

from dataclasses import replace
from typing import Any

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.query import run_sql
from app.json_types import JsonValue
from app.plans.identifiers import quote_identifier

MAX_SHOWN_ROWS = 20
"""Rows of each side that are shown: as many as a reader looks through."""


def compare(workspace: CellWorkspace, columns: list[str]) -> dict[str, JsonValue]:
    """Compare the inputs `first` and `second` on the columns that both have, with duplicates.

    Returns `{"only_first": {"rows", "row_count"}, "only_second": ...}`, the rows in no order.
    """
    return {
        "only_first": _count_only(workspace, columns, "first", "second"),
        "only_second": _count_only(workspace, columns, "second", "first"),
    }


def _count_only(workspace: CellWorkspace, columns: list[str], side: str, other: str) -> JsonValue:
    cells = ", ".join(quote_identifier(column) for column in columns)
    # Both directions write a result.parquet, so each is written into a folder of its own.
    folder = workspace.output / ".only"
    folder.mkdir()
    difference = f"SELECT {cells} FROM {side} EXCEPT ALL SELECT {cells} FROM {other}"  # noqa: S608 - quoted
    facts: Any = run_sql(replace(workspace, output=folder), difference, MAX_SHOWN_ROWS)
    (folder / "result.parquet").unlink()
    folder.rmdir()
    return {"rows": facts["rows"], "row_count": facts["row_count"]}
