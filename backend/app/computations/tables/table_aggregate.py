"""Figures by groups of the rows that a selection leaves: what a chart of a large table draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.query import cell_to_json, take_rows
from app.computations.tables.open_table import OpenTable, open_table
from app.computations.tables.row_conditions import QueryColumn, column_of
from app.computations.tables.table_selection import RowOrder, Selection
from app.computations.tables.value_bins import axis_sql, bin_edges, bin_sql, edge_to_json, value_sql
from app.computations.uploads import sql
from app.errors import InvalidInput, TooLarge
from app.json_types import JsonValue

_NUMERIC = {
    "sum": "sum({c})",
    "mean": "avg({c})",
    "median": "median({c})",
    "std": "stddev_samp({c}::double)",
}
"""Functions of numbers; of flags, true counts as 1."""
_ANY = {"count": "count({c})", "distinct": "count(DISTINCT {c})", "min": "min({c})", "max": "max({c})"}
"""Functions of all columns; `count` without a column counts rows."""
_NUMBERS = {"integer", "number", "boolean"}
_OWN_TYPE = {"min", "max"}
_COUNTS = {"count", "distinct"}


@dataclass(frozen=True)
class _ResultColumn:
    """A column of the result. `sql`: its expression. `edges`: of the bins that its cells number, if any."""

    name: str
    type: str
    sql: str
    edges: Sequence[float] = ()

    def cell(self, value: object) -> JsonValue:
        """Write a cell as JSON; of a bin its lower edge."""
        if self.edges and isinstance(value, int):
            return edge_to_json(self.edges[value], self.type)
        return cell_to_json(value)

    @property
    def description(self) -> dict[str, JsonValue]:
        width = self.edges[1] - self.edges[0] if self.edges else None
        return {"name": self.name, "type": self.type, "bin_width": width}


def aggregate(
    workspace: CellWorkspace,
    groups: Sequence[Mapping[str, Any]] = (),
    measures: Sequence[Mapping[str, Any]] = (),
    limit: int = 1_000,
    sort: Sequence[Mapping[str, Any]] = (),
    **selection: Any,
) -> dict[str, JsonValue]:
    """Aggregate rows of the input `table`: `{"columns", "rows", "total", "matching", "truncated"}`.

    `groups`: `{"column"}` each, with `bins` of equal width for numbers, or the `unit` of time for moments.
    `measures`: `{"function", "column", "name"}` each. The result is sorted by `sort`, else by its groups, with
    missing values last, and holds the first `limit` groups. `selection`: as `Selection.from_json`.
    Raises InvalidInput and TooLarge as `table_rows.read_page`.
    """
    table = open_table(workspace)
    where, values = Selection.from_json(selection).where(table.columns)
    rest = f"FROM {table.file} {where}"
    try:
        group_columns = [_group(table, rest, values, **group) for group in groups]
        results = [*group_columns, *(_measure(table, **measure) for measure in measures)]
        _require_different_names(results)
        keys = [RowOrder(**key) for key in sort]
        rows, matching = _fetch(table, rest, values, results, group_columns, keys, limit)
    except duckdb.OutOfMemoryException as error:
        raise TooLarge("query_too_large", "This table is too large to be aggregated here.") from error
    cells = take_rows(
        [column.cell(value) for column, value in zip(results, row, strict=True)] for row in rows[:limit]
    )
    columns: list[JsonValue] = [column.description for column in results]
    facts: dict[str, JsonValue] = {"columns": columns, "rows": cells, "truncated": len(rows) > len(cells)}
    return facts | {"total": table.total, "matching": matching}


def _group(
    table: OpenTable,
    rest: str,
    values: Sequence[str],
    column: str,
    bins: int | None = None,
    unit: str | None = None,
) -> _ResultColumn:
    cells = column_of(column, table.columns)
    if unit is not None:
        if cells.type != "datetime":
            raise InvalidInput("column_not_datetime", f"{column!r} has no moments, so it has no {unit}.")
        return _ResultColumn(column, "datetime", f"date_trunc({sql.text(unit)}, {cells.sql}::timestamp)")
    if bins is None:
        return _ResultColumn(column, cells.type, value_sql(cells))
    if cells.type not in ("integer", "number"):
        raise InvalidInput("column_not_numeric", f"{column!r} has no numbers, so it has no bins.")
    query = f"SELECT min({axis_sql(cells)}), max({axis_sql(cells)}) {rest}"
    ((low, high),) = table.database.execute(query, [*values]).fetchall()
    # Without any number there are no edges; the missing values are one group.
    if low is None:
        return _ResultColumn(column, "number", value_sql(cells))
    edges = bin_edges(low, high, cells.type, bins)
    return _ResultColumn(column, "number", bin_sql(cells, edges), edges)


def _measure(
    table: OpenTable, function: str, column: str | None = None, name: str | None = None
) -> _ResultColumn:
    if column is None:
        return _ResultColumn(name or "count", "integer", "count(*)")
    cells = column_of(column, table.columns)
    if function in _NUMERIC and cells.type not in _NUMBERS:
        raise InvalidInput("column_not_numeric", f"{column!r} has no numbers, so it has no {function}.")
    value = f"{cells.sql}::integer" if function in _NUMERIC and cells.type == "boolean" else value_sql(cells)
    form = (_NUMERIC | _ANY)[function]
    return _ResultColumn(
        name or f"{function} of {column}", _measure_type(function, cells), form.replace("{c}", value)
    )


def _measure_type(function: str, column: QueryColumn) -> str:
    if function in _COUNTS or (function == "sum" and column.type != "number"):
        return "integer"
    return column.type if function in _OWN_TYPE else "number"


def _require_different_names(results: Sequence[_ResultColumn]) -> None:
    names = [column.name for column in results]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInput("column_repeated", f"Two columns of the result are named {repeated!r}.")


def _fetch(
    table: OpenTable,
    rest: str,
    values: Sequence[str],
    results: Sequence[_ResultColumn],
    groups: Sequence[_ResultColumn],
    sort: Sequence[RowOrder],
    limit: int,
) -> tuple[list[tuple[Any, ...]], int]:
    """Return up to `limit` + 1 groups, and the number of rows behind all of them."""
    places = {column.name: QueryColumn(f"r{place}", column.type) for place, column in enumerate(results)}
    cells = ", ".join(f"{column.sql} AS r{place}" for place, column in enumerate(results))
    keys = [key.sql(places) for key in sort] + [f"r{place} NULLS LAST" for place in range(len(groups))]
    # By place, and not by name: the table may have a column r0.
    grouping = f"GROUP BY {', '.join(str(place + 1) for place in range(len(groups)))}" if groups else ""
    order = f"ORDER BY {', '.join(keys)}" if keys else ""
    # One group more than is shown tells that there are more.
    query = f"SELECT * FROM (SELECT {cells} {rest} {grouping}) {order} LIMIT {limit + 1}"  # noqa: S608
    rows = table.database.execute(query, [*values]).fetchall()
    ((matching,),) = table.database.execute(f"SELECT count(*) {rest}", [*values]).fetchall()
    return rows, int(matching)
