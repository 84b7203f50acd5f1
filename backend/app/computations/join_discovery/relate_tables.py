"""Discovery of joins between several tables, from their values."""

import re
import shutil
from typing import Any

import duckdb

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.join_discovery.join_select import JoinNode, build_select
from app.computations.join_discovery.keys import JoinKey, find_key
from app.computations.join_discovery.tables import JoinTable, inspect_table
from app.computations.join_discovery.time_order import find_cutoff
from app.computations.uploads import sql
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.plans.identifiers import quote_identifier

_MEMORY_BYTES = 768 << 20
"""Memory of DuckDB; larger work spills to disk."""
_EVALUATION_NAME = re.compile(
    r"(^|_)(test|holdout|hold_out|eval|evaluation|submission|unseen|score|scoring)($|_|\d)", re.I
)
MAX_DEPTH = 4
"""Joins in a chain: rows farther away hardly describe a row of the base."""


def relate(workspace: CellWorkspace, base: str, target: str) -> dict[str, JsonValue]:
    """Find out how tables join. Inputs: the tables by name; `base` has the `target`, and each of its rows stays
    one row.

    Returns `{"base", "rows", "sql", "joins", "appended", "to_predict", "left_out"}`. `sql`: the SELECT that
    makes one table, None without joins. `joins`: `{"table", "to", "on", "kind", "as_of", "found",
    "rows_per_key", "text", "columns"}`, the columns of tables joined to the base itself, the kind `lookup` or
    `summed`; if `as_of` names the time columns of both, only rows from before a row of the base are aggregated
    for it. `appended`: tables with more rows of the base.
    `to_predict`: tables with its columns but no target. `left_out`: `{"table", "reason"}`. Raises InvalidInput
    `unknown_table` or `unknown_column`.
    """
    work = workspace.output / ".work"
    work.mkdir()
    try:
        with sql.connect(workspace, work, _MEMORY_BYTES) as connection:
            sides = _open(connection, workspace)
            return _find_joins(connection, sides, base, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _open(connection: duckdb.DuckDBPyConnection, workspace: CellWorkspace) -> dict[str, JoinTable]:
    for table, path in workspace.inputs.items():
        connection.execute(f"CREATE VIEW {quote_identifier(table)} AS FROM read_parquet({sql.text(path)})")
    return {table: inspect_table(connection, table) for table in workspace.inputs}


def _find_joins(
    connection: duckdb.DuckDBPyConnection, sides: dict[str, JoinTable], base: str, target: str
) -> dict[str, JsonValue]:
    if base not in sides:
        raise InvalidInput("unknown_table", f"There is no table {base!r}.", table=base)
    base_table = sides[base]
    if target not in base_table.types:
        raise InvalidInput("unknown_column", f"{base!r} has no column {target!r}.", column=target)
    other_tables = {name: side for name, side in sides.items() if name != base}
    appended, to_predict, left_out = _classify_same_columns(base_table, other_tables, target)
    free = {
        name: side for name, side in other_tables.items() if name not in appended + to_predict + list(left_out)
    }
    root = JoinNode(base_table)
    joins = _join_tables(connection, root, free, left_out, target)
    rows = base_table.rows + sum(sides[name].rows for name in appended)
    select = build_select(root, appended) if joins or appended else None
    columns = {branch.side.name: branch.output_columns for branch in root.children}
    facts: Any = {
        "base": base,
        "rows": rows,
        "sql": select,
        "joins": [{**join, "columns": columns.get(str(join["table"]), [])} for join in joins],
        "appended": appended,
        "to_predict": to_predict,
        "left_out": [{"table": table, "reason": reason} for table, reason in left_out.items()],
    }
    json_facts: dict[str, JsonValue] = facts
    return json_facts


def _classify_same_columns(
    base_table: JoinTable, other_tables: dict[str, JoinTable], target: str
) -> tuple[list[str], list[str], dict[str, str]]:
    """Classify tables with the base's columns: more rows of it, rows to predict, or data for evaluation."""
    appended, to_predict, left_out = [], [], {}
    base_columns = {name.casefold() for name in base_table.types}
    inputs = base_columns - {target.casefold()}
    for name, side in other_tables.items():
        columns = {column.casefold() for column in side.types}
        if columns == base_columns:
            # Rows for evaluation would be learned from, and the score on them would be worthless.
            if _EVALUATION_NAME.search(name):
                left_out[name] = "it has the same columns, but its name says that it is for evaluation"
            else:
                appended.append(name)
        elif (
            target.casefold() not in columns
            # Exports for prediction often leave out a column or two that the model may not need.
            and len(columns & inputs) >= 0.9 * len(inputs)
            and columns <= base_columns
        ):
            to_predict.append(name)
        # A key and the target, as solutions of competitions have them.
        elif len(columns) == 2 and target.casefold() in columns and columns < base_columns:
            left_out[name] = f"it contains only values of `{target}`"
    return appended, to_predict, left_out


def _join_tables(
    connection: duckdb.DuckDBPyConnection,
    root: JoinNode,
    free: dict[str, JoinTable],
    left_out: dict[str, str],
    target: str,
) -> list[dict[str, JsonValue]]:
    """Join each free table where it has a key: to the base first, then to the tables joined before."""
    joins: list[dict[str, JsonValue]] = []
    reasons: dict[str, str] = {}
    level = [root]
    for _ in range(MAX_DEPTH):
        next_level: list[JoinNode] = []
        for parent in level:
            # A copy: joined tables are taken out.
            for name in list(free):
                # Without the target: a join on it would carry the answer into the inputs.
                key, reason = find_key(connection, parent.side.without(target), free[name])
                # The reason of the first, nearest parent is the one that a reader expects.
                reasons.setdefault(name, reason)
                if key is None:
                    continue
                key, warning = find_cutoff(connection, parent.side.without(target), free[name], key)
                branch = JoinNode(free.pop(name).without(target), key)
                parent.children.append(branch)
                next_level.append(branch)
                joins.append(_describe_join(key, warning))
        level = next_level
    left_out |= {name: reasons.get(name) or "it joins no other table" for name in free}
    return joins


def _describe_join(key: JoinKey, warning: str) -> dict[str, JsonValue]:
    on = " and ".join(mine if mine == other else f"{mine} = {other}" for mine, other in key.pairs)
    aggregation = "" if key.is_lookup else f", aggregated first ({key.rows / key.keys:.1f} rows per key)"
    if key.as_of:
        aggregation += f", using rows whose `{key.as_of[1]}` is before `{key.as_of[0]}`"
    text = f"`{key.right}` is joined to `{key.left}` on {on}{aggregation}; {key.left_match:.0%} of keys match."
    return {
        "table": key.right,
        "to": key.left,
        "on": [list(pair) for pair in key.pairs],
        "kind": "lookup" if key.is_lookup else "summed",
        "as_of": list(key.as_of) if key.as_of else None,
        "found": round(key.left_match, 4),
        "rows_per_key": round(key.rows / key.keys, 3),
        "text": f"{text} Warning: {warning}." if warning else text,
    }
