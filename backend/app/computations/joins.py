"""Find out how several tables hang together, from their values."""

import re
import shutil
from typing import Any

import duckdb

from app.computations.bench import Bench
from app.computations.join_discovery.keys import Key, find_key
from app.computations.join_discovery.moments import in_time
from app.computations.join_discovery.select import Branch, select
from app.computations.join_discovery.tables import Side, look
from app.computations.uploads import sql
from app.errors import InvalidInput
from app.json_types import JsonValue

_MEMORY_BYTES = 768 << 20
_TO_JUDGE = re.compile(
    r"(^|_)(test|holdout|hold_out|eval|evaluation|submission|unseen|score|scoring)($|_|\d)", re.I
)
MAX_DEEP = 4


def relate(bench: Bench, base: str, target: str) -> dict[str, JsonValue]:
    """Inputs: the tables by name. `base` holds the `target`; each of its rows stays one row.

    Returns `{"base", "rows", "sql", "joins", "appended", "to_predict", "left_out"}`. `sql`: the SELECT that
    makes one table, None where nothing joins. `joins`: `{"table", "to", "on", "kind", "as_of", "found",
    "rows_per_key", "text"}`, the kind `lookup` or `summed`; where `as_of` names the moments of both, only rows
    from before a row of the base are summed up for it. `appended`: more rows of the base. `to_predict`: tables
    with its columns but no target. `left_out`: `{"table", "reason"}`. Raises InvalidInput `unknown_table` or
    `unknown_column`.
    """
    work = bench.output / ".work"
    work.mkdir()
    try:
        with sql.connect(bench, work, _MEMORY_BYTES) as connection:
            sides = _open(connection, bench)
            return _related(connection, sides, base, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _open(connection: duckdb.DuckDBPyConnection, bench: Bench) -> dict[str, Side]:
    for table, path in bench.inputs.items():
        connection.execute(f"CREATE VIEW {sql.name(table)} AS FROM read_parquet({sql.text(path)})")
    return {table: look(connection, table) for table in bench.inputs}


def _related(
    connection: duckdb.DuckDBPyConnection, sides: dict[str, Side], base: str, target: str
) -> dict[str, JsonValue]:
    if base not in sides:
        raise InvalidInput("unknown_table", f"There is no table {base!r}.", table=base)
    home = sides[base]
    if target not in home.types:
        raise InvalidInput("unknown_column", f"{base!r} has no column {target!r}.", column=target)
    others = {name: side for name, side in sides.items() if name != base}
    appended, to_predict, left_out = _alike(home, others, target)
    free = {name: side for name, side in others.items() if name not in appended + to_predict + list(left_out)}
    root = Branch(home)
    joins = _grow(connection, root, free, left_out, target)
    rows = home.rows + sum(sides[name].rows for name in appended)
    made: Any = {
        "base": base,
        "rows": rows,
        "sql": select(root, appended) if joins or appended else None,
        "joins": joins,
        "appended": appended,
        "to_predict": to_predict,
        "left_out": [{"table": table, "reason": reason} for table, reason in left_out.items()],
    }
    whole: dict[str, JsonValue] = made
    return whole


def _alike(home: Side, others: dict[str, Side], target: str) -> tuple[list[str], list[str], dict[str, str]]:
    """Tables with the base's columns: more rows of it, or rows to predict; and those that only judge."""
    appended, to_predict, left_out = [], [], {}
    ours = {name.casefold() for name in home.types}
    inputs = ours - {target.casefold()}
    for name, side in others.items():
        theirs = {column.casefold() for column in side.types}
        if theirs == ours:
            if _TO_JUDGE.search(name):
                left_out[name] = "it has the same columns, but its name says that it is for judging"
            else:
                appended.append(name)
        elif target.casefold() not in theirs and len(theirs & inputs) >= 0.9 * len(inputs) and theirs <= ours:
            to_predict.append(name)
        elif len(theirs) == 2 and target.casefold() in theirs and theirs < ours:
            left_out[name] = f"it holds nothing but answers for `{target}`"
    return appended, to_predict, left_out


def _grow(
    connection: duckdb.DuckDBPyConnection,
    root: Branch,
    free: dict[str, Side],
    left_out: dict[str, str],
    target: str,
) -> list[JsonValue]:
    """Hang each free table where it has a key: on the base first, then on what hangs there."""
    joins: list[JsonValue] = []
    reasons: dict[str, str] = {}
    level = [root]
    for _ in range(MAX_DEEP):
        grown: list[Branch] = []
        for parent in level:
            for name in list(free):
                key, why = find_key(connection, parent.side.without(target), free[name])
                reasons.setdefault(name, why)
                if key is None:
                    continue
                key, beware = in_time(connection, parent.side.without(target), free[name], key)
                branch = Branch(free.pop(name).without(target), key)
                parent.branches.append(branch)
                grown.append(branch)
                joins.append(_said(key, beware))
        level = grown
    left_out |= {name: reasons.get(name) or "it hangs on no other table" for name in free}
    return joins


def _said(key: Key, beware: str) -> JsonValue:
    on = " and ".join(mine if mine == other else f"{mine} = {other}" for mine, other in key.pairs)
    many = "" if key.is_lookup else f", summed up first ({key.rows / key.keys:.1f} rows for each)"
    if key.as_of:
        many += f", of rows whose `{key.as_of[1]}` lies before `{key.as_of[0]}`"
    text = f"`{key.right}` is joined to `{key.left}` on {on}{many}; {key.found:.0%} of keys are found."
    return {
        "table": key.right,
        "to": key.left,
        "on": [list(pair) for pair in key.pairs],
        "kind": "lookup" if key.is_lookup else "summed",
        "as_of": list(key.as_of) if key.as_of else None,
        "found": round(key.found, 4),
        "rows_per_key": round(key.rows / key.keys, 3),
        "text": f"{text} Beware: {beware}." if beware else text,
    }
