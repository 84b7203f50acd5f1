"""Searches among the rows of one SELECT: rows that do not fit the others, and groups of similar rows."""

import datetime as dt
import time
from collections.abc import Sequence
from typing import Literal

import pandas as pd

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.answer import list_tables
from app.computations.queries.query import run_sql
from app.json_types import JsonValue
from app.modeling.analysis.redundancy import find_identifiers
from app.modeling.analysis.row_structure.row_groups import (
    MAX_TOLD_COLUMNS,
    RowGroups,
    find_row_groups,
    name_group,
)
from app.modeling.analysis.row_structure.unusual_rows import UnusualRow, UnusualValue, find_unusual_rows
from app.modeling.table.column_kinds import ColumnKind, column_kind, require_columns
from app.modeling.table.json_values import to_json_value
from app.modeling.training.deadline import Deadline
from app.modeling.training.time_limits import stretched_deadline

UNUSUAL_FILE, GROUPS_FILE = "unusual_rows.csv", "row_groups.csv"
"""Rows of the searches with what was found of them behind their columns, numbered from 1 as the table has
them."""
RESULT_FILE = "result.parquet"
"""The table of the answer, as other answers leave it."""
MAX_ROWS = 500_000
"""Rows of one search: forests of dozens of columns judge them within minutes."""
MAX_TOLD_ROWS = 200
"""Unusual rows in the facts; the file has all of them."""
MAX_NAMES = 2
"""Columns of names that stand beside a row's number."""
MEASURE_S = 60.0
"""Seconds after which no further column is judged, and no further number of groups tried."""
_DIGITS = 4
"""Significant digits of what was expected: an estimate has no more."""
_EPOCH = dt.date(1970, 1, 1)


def unusual_rows(
    workspace: CellWorkspace,
    sql: str,
    columns: Sequence[str] = (),
    focus: str | None = None,
    side: Literal["low", "high"] | None = None,
    measure_s: float = MEASURE_S,
) -> dict[str, JsonValue]:
    """Find the rows of a SELECT that do not fit the others; leaves result.parquet and unusual_rows.csv.

    `columns`: those that are compared, all without any; `focus` and `side` as `find_unusual_rows` has them.
    Returns the facts of an answer (`queries.answer`) with a row for each unusual one, the least likely first,
    and `{"unusual", "judged_columns", "unjudged_columns"}`. Without any unusual row it lists the least likely
    ones.
    """
    frame, deadline = _read_rows(workspace, sql, measure_s)
    compared_names = [*columns, *([focus] if focus else [])]
    require_columns(frame, compared_names)
    compared = frame[compared_names] if columns else frame
    search = find_unusual_rows(compared, focus, side, is_late=lambda: deadline.is_over)
    # Without any unusual row the nearest ones show how little they differ.
    rows = search.rows[: search.count] or search.rows
    table = _make_unusual_table(frame, _find_names(frame), rows)
    _write_rows(workspace, frame, [row.position for row in rows], table, UNUSUAL_FILE)
    return {
        **_make_facts(workspace, sql, table, len(frame)),
        "unusual": search.count,
        "judged_columns": [*search.columns],
        "unjudged_columns": [*search.left_out],
    }


def row_groups(
    workspace: CellWorkspace,
    sql: str,
    columns: Sequence[str] = (),
    count: int | None = None,
    measure_s: float = MEASURE_S,
) -> dict[str, JsonValue]:
    """Group the rows of a SELECT; leaves result.parquet and row_groups.csv.

    `columns`: those that are compared, all without any; `count`: of groups, null to choose it. Returns the
    facts of an answer with a row for each group, and `{"is_separated", "agreement", "is_stable", "traits",
    "judged_columns"}`; `traits`: of each group, in the order of the rows.
    """
    frame, deadline = _read_rows(workspace, sql, measure_s)
    require_columns(frame, columns)
    search = find_row_groups(frame[[*columns]] if columns else frame, count, is_late=lambda: deadline.is_over)
    table = _make_group_table(search, len(frame))
    labels = pd.DataFrame({"group": [name_group(place) for place in search.labels]})
    _write_rows(workspace, frame, range(len(frame)), labels, GROUPS_FILE)
    return {
        **_make_facts(workspace, sql, table, len(frame)),
        "is_separated": search.is_separated,
        "is_stable": search.is_stable,
        "agreement": round(search.agreement, 2),
        "judged_columns": [*search.columns],
        "traits": [
            [
                {
                    "column": trait.column,
                    "typical": _shorten(trait.typical),
                    "difference": round(trait.difference, 2),
                }
                for trait in group.traits[:MAX_TOLD_COLUMNS]
            ]
            for group in search.groups
        ],
    }


def _read_rows(workspace: CellWorkspace, sql: str, measure_s: float) -> tuple[pd.DataFrame, Deadline]:
    """Read the rows of a SELECT; return them with the deadline of what is measured of them."""
    started, cpu_started = time.perf_counter(), time.process_time()
    run_sql(workspace, sql, rows=0, max_rows=MAX_ROWS)
    result = workspace.output / RESULT_FILE
    frame = pd.read_parquet(result)
    result.unlink()
    return frame, stretched_deadline(measure_s, started, cpu_started)


def _find_names(frame: pd.DataFrame) -> list[str]:
    """Return the columns that name rows: identifiers, and texts of which nearly every row has its own."""
    identifiers = find_identifiers(frame)
    texts = [
        str(name)
        for name in frame.columns
        if column_kind(frame[name]) is ColumnKind.TEXT and frame[name].nunique() > 0.9 * len(frame)
    ]
    return [*dict.fromkeys([*identifiers, *texts])][:MAX_NAMES]


def _make_unusual_table(frame: pd.DataFrame, names: Sequence[str], rows: Sequence[UnusualRow]) -> pd.DataFrame:
    firsts = [row.values[0] for row in rows]
    # Dates and levels beside numbers are told as texts; numbers alone keep their unit and their separators.
    are_numbers = all(_is_number(frame, value) for value in firsts)
    tell = (lambda cell: cell) if are_numbers else str
    columns: dict[str, list[object]] = {"row": [row.position + 1 for row in rows]}
    for name in names:
        columns[name] = [to_json_value(frame[name].iloc[row.position]) for row in rows]
    # Of a single column the head of the table says it once.
    if len({value.column for value in firsts}) > 1:
        columns["column"] = [value.column for value in firsts]
    columns["value"] = [tell(_tell(frame, value, value.value)) for value in firsts]
    columns["expected"] = [tell(_tell(frame, value, value.expected)) for value in firsts]
    if any(value.low is not None for value in firsts):
        columns["usually from"] = [_tell(frame, value, value.low) for value in firsts]
        columns["usually to"] = [_tell(frame, value, value.high) for value in firsts]
        if not are_numbers:
            for bound in ("usually from", "usually to"):
                columns[bound] = ["" if cell is None else str(cell) for cell in columns[bound]]
    if any(len(row.values) > 1 for row in rows):
        columns["also"] = [", ".join(value.column for value in row.values[1:]) for row in rows]
    return pd.DataFrame(columns)


def _is_number(frame: pd.DataFrame, value: UnusualValue) -> bool:
    return value.low is not None and column_kind(frame[value.column]) is ColumnKind.NUMBER


def _tell(frame: pd.DataFrame, value: UnusualValue, cell: object) -> object:
    """Tell a value of a column: days as a date, numbers with the digits of an estimate, levels as they are."""
    if not isinstance(cell, float):
        return cell
    if column_kind(frame[value.column]) is ColumnKind.DATETIME:
        return str(_EPOCH + dt.timedelta(days=int(cell)))
    # What is stored keeps its digits.
    return cell if cell is value.value else _shorten(cell)


def _shorten(cell: float | str) -> float | str:
    return float(f"{cell:.{_DIGITS}g}") if isinstance(cell, float) else cell


def _make_group_table(search: RowGroups, rows: int) -> pd.DataFrame:
    reach: dict[str, float] = {}
    for group in search.groups:
        for trait in group.traits:
            reach[trait.column] = max(reach.get(trait.column, 0.0), abs(trait.difference))
    described = sorted(reach, key=lambda name: -reach[name])[:MAX_TOLD_COLUMNS]
    columns: dict[str, list[object]] = {
        "group": [group.name for group in search.groups],
        "rows": [group.rows for group in search.groups],
        "share": [group.rows / rows for group in search.groups],
    }
    for name in described:
        traits = [next((t for t in group.traits if t.column == name), None) for group in search.groups]
        is_text = any(trait is not None and trait.share is not None for trait in traits)
        head = f"most frequent {name}" if is_text else f"mean {name}"
        columns[head] = [None if trait is None else _shorten(trait.typical) for trait in traits]
    return pd.DataFrame(columns)


def _write_rows(
    workspace: CellWorkspace, frame: pd.DataFrame, positions: Sequence[int], search: pd.DataFrame, file: str
) -> None:
    """Write the rows at these positions with what was found of them."""
    rows = frame.iloc[list(positions)].reset_index(drop=True)
    added = search.reset_index(drop=True)
    numbers = pd.DataFrame({"row": [position + 1 for position in positions]})
    parts = [
        numbers,
        rows,
        added.drop(columns=[name for name in added.columns if name in ("row", *rows.columns)]),
    ]
    pd.concat(parts, axis=1).to_csv(workspace.output / file, index=False)


_TYPES = {"i": "integer", "u": "integer", "f": "number", "b": "boolean"}


def _make_facts(workspace: CellWorkspace, sql: str, table: pd.DataFrame, rows: int) -> dict[str, JsonValue]:
    """Return the facts of an answer of this table, and leave it as result.parquet."""
    table.to_parquet(workspace.output / RESULT_FILE, compression="zstd", index=False)
    cells = table.head(MAX_TOLD_ROWS).astype("object").where(table.head(MAX_TOLD_ROWS).notna(), None)
    return {
        "columns": [
            {"name": str(name), "type": _TYPES.get(table[name].dtype.kind, "text")} for name in table.columns
        ],
        "rows": to_json_value(cells.to_numpy().tolist()),
        "row_count": len(table),
        "truncated": len(table) > MAX_TOLD_ROWS,
        "rows_used": rows,
        "rows_there": rows,
        "tables": [*list_tables(sql, workspace)],
    }
