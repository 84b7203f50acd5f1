"""SQL of a conversation: statements in order over its tables, all of them or none.

Each change is computed as one SELECT under the policy; its rows are the new version of the table, a file.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries import answer, query
from app.computations.queries.query import QUERY_MEMORY_BYTES, run_sql
from app.computations.sql_policy.sql_parsing import parse_single
from app.computations.table_changes.change import Change, describe_copy, is_copy_of_dataset
from app.computations.table_changes.statement_parsing import CHANGES, read_statements
from app.computations.table_changes.statement_rewriting import rewrite
from app.computations.table_changes.syntax_trees import Columns
from app.computations.table_changes.tables import TableScope, find_name, refuse, write
from app.counts import describe_count
from app.errors import LabError
from app.json_types import JsonValue

_SQL_TYPES = {"integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN", "datetime": "TIMESTAMP"}
"""Plain type -> SQL; all others are text."""


def run(
    workspace: CellWorkspace,
    sql: str,
    views: Mapping[str, str] | None = None,
    counts: tuple[str, str] | None = None,
    memory_bytes: int = QUERY_MEMORY_BYTES,
    rows: int = answer.MAX_ROWS,
    schemas: Mapping[str, str] | None = None,
) -> dict[str, JsonValue]:
    """Run statements over the inputs; `dataset.cities` is the dataset `cities`. `views`: SELECTs by name.
    `rows`: the first rows of the last SELECT that its facts have. `schemas`: as in `query.run_sql`.

    Returns the facts of `answer.answer` for the last SELECT, if there is one, with result.parquet. With changes
    also `"changes"` (`kind`, `name`, `rows`, `changed_rows`, `text`, `note`), and all that the conversation has
    afterwards: `"workspace"`, of `"tables"` (name -> `{"input"}` of one that stays, or `{"file", "rows",
    "columns", "profile"}`) and `"views"` (name -> `{"sql", "rows", "columns", "profile"}` of a new one, else
    `{"sql"}`).
    Raises LabError that names the statement and what would do.
    """
    statements = read_statements(sql)
    tables = TableScope.from_inputs(workspace.inputs, views or {}, schemas or {})
    batch = _Batch(workspace, tables, memory_bytes, rows)
    facts: dict[str, JsonValue] = {}
    for place, statement in enumerate(statements, 1):
        try:
            if isinstance(statement, CHANGES):
                batch.change(statement)
            # By identity: two equal SELECTs are two statements, and only the last is answered.
            elif statement is last_query(statements):
                # The user's own text where possible, so that messages name its lines and columns.
                text = sql if len(statements) == 1 else write(statement)
                facts = batch.answer(text, statement, counts)
            else:
                batch.check(statement)
        except LabError as error:
            if len(statements) == 1:
                raise
            detail = f"Statement {place} of {len(statements)}: {error.detail} Nothing was changed."
            raise type(error)(error.code, detail, **error.facts) from error
    batch.close()
    return {**facts, **batch.describe()} if batch.changes else facts


def describe_tables(workspace: CellWorkspace, optional: Sequence[str] = ()) -> dict[str, JsonValue]:
    """Convert the inputs, tables of a program, to plain columns. Returns `"workspace"` as `run` does.

    `optional`: inputs that need not become tables; `"refused"` has the reason of each that cannot.
    """
    batch = _Batch(workspace, TableScope(tables=dict(workspace.inputs)), QUERY_MEMORY_BYTES)
    refused: dict[str, JsonValue] = {}
    for name in workspace.inputs:
        try:
            batch.store(name, exp.select("*").from_(exp.Table(this=exp.to_identifier(name, quoted=True))))
        except LabError as error:
            if name not in optional:
                raise
            refused[name] = error.detail
            batch.tables.remove(name)
    batch.close()
    return {"workspace": batch.describe()["workspace"], "refused": refused}


def last_query(statements: Sequence[exp.Expr]) -> exp.Expr | None:
    queries = [statement for statement in statements if not isinstance(statement, CHANGES)]
    return queries[-1] if queries else None


@dataclass
class _Batch:
    """The statements of one message: the tables as they are after each, and what was changed."""

    workspace: CellWorkspace
    tables: TableScope
    memory_bytes: int
    max_rows: int = answer.MAX_ROWS
    changes: list[JsonValue] = field(default_factory=list)
    profiles: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Rows, columns and profile of a new view."""
    _files: int = 0

    def answer(self, text: str, statement: exp.Expr, counts: tuple[str, str] | None) -> dict[str, JsonValue]:
        if self.tables.needs_resolving(statement):
            text = write(self.tables.resolve(statement))
        if counts and self.tables.views:
            used, total = (write(self.tables.resolve(parse_single(count))) for count in counts)
            counts = used, total
        space = replace(self.workspace, inputs=self.tables.inputs())
        return answer.answer(space, text, counts, self.memory_bytes, self.max_rows)

    def check(self, statement: exp.Expr) -> None:
        """Check a SELECT whose rows nobody reads: it is not the last one."""
        self.describe_query(statement)

    def change(self, statement: exp.Expr) -> None:
        change = rewrite(statement, self.tables, self.describe_query)
        copies_dataset = change.rows is not None and is_copy_of_dataset(change, self.tables)
        rows: int | None = None
        changed: int | None = None
        if change.is_view and change.rows is not None:
            self._define_view(change, change.rows)
        elif change.rows is not None:
            changed, rows = self._write_table(change, change.rows)
        elif change.kind == "dropped":
            self.tables.remove(change.table)
        elif change.kind == "renamed":
            self._rename(change)
        text = _describe(change, rows, changed)
        note = describe_copy(change.table) if copies_dataset else ""
        # A copy of a dataset hid it: without the copy its name means the dataset.
        if change.kind == "dropped" and find_name(change.table, self.tables.datasets):
            note = f"{change.table} is the dataset again."
        name = change.new_name or change.table
        self.changes.append(
            {
                "kind": change.kind,
                "name": name,
                "rows": rows,
                "changed_rows": changed,
                "text": f"{text} {note}".strip(),
                "note": note,
            }
        )

    def _write_table(self, change: Change, rows: exp.Expr) -> tuple[int | None, int]:
        """Write the new version of a table; return the number of changed rows and of all."""
        is_new = change.kind in ("created", "replaced")
        # Both are counted before the new version takes the name of the table.
        former = 0 if is_new else self._count(exp.select("count(*)").from_(_quoted(change.table)))
        changed = self._count(change.count_query) if change.count_query is not None else None
        size = self.store(change.table, rows)
        # Functions such as unnest make several rows of one, which the statement's tree does not show.
        if change.keeps_size and size != former:
            raise refuse(
                f"The change of {change.table} would make {size:,} rows of {former:,}: it computes over many "
                "rows. Use CREATE OR REPLACE TABLE ... AS SELECT."
            )
        if is_new or change.note:
            return None, size
        return (abs(size - former) if changed is None else changed), size

    def store(self, name: str, rows: exp.Expr) -> int:
        """Write the rows of a query as the table `name`; return their number."""
        folder = self._new_folder()
        facts: Any = run_sql(
            self._space(folder), write(self.tables.resolve(rows)), 0, memory_bytes=self.memory_bytes
        )
        self._files += 1
        path = self.workspace.output / f"table-{self._files}.parquet"
        (folder / "result.parquet").rename(path)
        shutil.rmtree(folder)
        self.tables.remove(name)
        self.tables.tables[name] = path
        self.profiles[name] = {"rows": facts["row_count"], "columns": facts["columns"]}
        return int(facts["row_count"])

    def _define_view(self, change: Change, rows: exp.Expr) -> None:
        """Keep the SELECT of a view, after its rows were computed once."""
        self.tables.remove(change.table)
        # Named before its rows are computed, so that a view that reads itself is refused.
        self.tables.views[change.table] = write(rows)
        folder = self._new_folder()
        text = write(self.tables.resolve(exp.select("*").from_(_quoted(change.table))))
        facts: Any = run_sql(self._space(folder), text, 0, memory_bytes=self.memory_bytes)
        profile = self._profile(folder / "result.parquet")
        shutil.rmtree(folder)
        self.profiles[change.table] = {
            "columns": facts["columns"],
            "rows": facts["row_count"],
            "profile": profile,
        }

    def _rename(self, change: Change) -> None:
        self.tables.rename(change.table, change.new_name)
        if change.table in self.profiles:
            self.profiles[change.new_name] = self.profiles.pop(change.table)

    def describe_query(self, rows: exp.Expr) -> Columns:
        """Return the columns of a query by running it without rows."""
        resolved = self.tables.resolve(rows)
        folder = self._new_folder()
        # Binding the query gives names and types; its rows are not computed.
        empty = exp.select("*").from_(exp.Subquery(this=resolved)).limit(0)
        facts: Any = run_sql(self._space(folder), write(empty), 0, memory_bytes=self.memory_bytes)
        shutil.rmtree(folder)
        return {column["name"]: _SQL_TYPES.get(column["type"], "VARCHAR") for column in facts["columns"]}

    def _count(self, counting: exp.Expr) -> int:
        folder = self._new_folder()
        facts: Any = run_sql(self._space(folder), write(self.tables.resolve(counting)), 1)
        shutil.rmtree(folder)
        return int(facts["rows"][0][0])

    def close(self) -> None:
        """Remove the files of versions that a later statement replaced."""
        current = set(self.tables.tables.values())
        for path in self.workspace.output.glob("table-*.parquet"):
            if path not in current:
                path.unlink()

    def describe(self) -> dict[str, JsonValue]:
        tables: dict[str, JsonValue] = {}
        # Inputs with a dot are datasets, which the conversation does not own.
        input_of = {path: name for name, path in self.workspace.inputs.items() if "." not in name}
        for name, path in self.tables.tables.items():
            if path in input_of:
                tables[name] = {"input": input_of[path]}
            else:
                tables[name] = {"file": path.name, **self.profiles[name], "profile": self._profile(path)}
        views: dict[str, JsonValue] = {
            name: {"sql": text, **self.profiles.get(name, {})} for name, text in self.tables.views.items()
        }
        return {"changes": self.changes, "workspace": {"tables": tables, "views": views}}

    def _profile(self, path: Path) -> JsonValue:
        return query.statistics(replace(self.workspace, inputs={"table": path}))

    def _space(self, folder: Path) -> CellWorkspace:
        return replace(self.workspace, inputs=self.tables.inputs(), output=folder)

    def _new_folder(self) -> Path:
        folder = self.workspace.output / ".statement"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder


def _quoted(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _describe(change: Change, rows: int | None, changed: int | None) -> str:
    """Describe a change in a sentence."""
    name, noun = change.table, "view" if change.is_view else "table"
    size = describe_count(rows, "row") if rows is not None else ""
    number = describe_count(changed, "row") if changed is not None else ""
    match change.kind:
        case "created" | "replaced":
            verb = change.kind.capitalize()
            return f"{verb} the {noun} {name}{f': {size}' if size else ''}."
        case "inserted":
            return f"Inserted {number} into {name}, which has {size} now."
        case "updated":
            return f"Changed {changed:,} of {size} of {name}."
        case "deleted":
            return f"Deleted {number} of {name}, which has {size} now."
        case "renamed":
            return f"Renamed {name} to {change.new_name}."
        case "dropped":
            return f"Dropped the {noun} {name}."
        case "kept":
            return f"{name} stays as it is."
        case _:
            return change.note
