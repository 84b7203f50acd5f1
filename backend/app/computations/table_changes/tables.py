"""The names that SQL of a conversation sees: its own tables and views, and datasets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlglot import exp

from app.computations.sql_policy.select_policy import DATASET, Schemas, names_dataset, require_table
from app.computations.sql_policy.sql_parsing import parse_single
from app.errors import InvalidInput

_VIEW_PREFIX = "view."
"""Prefix of the names of views inside a query. Tables have no dot in their names."""
MAX_VIEW_DEPTH = 20
"""Views that read views: deeper ones make statements that are slow to parse."""


def refuse(detail: str, code: str = "sql_not_admitted", **facts: object) -> InvalidInput:
    return InvalidInput(code, detail, **facts)


def find_name(name: str, names: Mapping[str, object]) -> str | None:
    """Find a name as it is spelled; case is ignored, as in DuckDB."""
    return next((other for other in names if other.casefold() == name.casefold()), None)


@dataclass
class TableScope:
    """`datasets` and `tables`: files by name. `views`: SELECTs by name. Tables and views hide datasets.

    `schemas`: ids of datasets, in lower case, with their names; `"<id>".cities` is then the dataset `cities`.
    """

    datasets: dict[str, Path] = field(default_factory=dict)
    tables: dict[str, Path] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    schemas: Schemas = field(default_factory=dict)

    @classmethod
    def from_inputs(
        cls, inputs: Mapping[str, Path], views: Mapping[str, str], schemas: Schemas
    ) -> "TableScope":
        """Read the inputs of a cell, in which `dataset.cities` is a dataset and `cities` is a table."""
        prefix = f"{DATASET}."
        datasets = {name.removeprefix(prefix): path for name, path in inputs.items() if name.startswith(prefix)}
        tables = {name: path for name, path in inputs.items() if not name.startswith(prefix)}
        return cls(datasets, tables, dict(views), schemas)

    def inputs(self) -> dict[str, Path]:
        """Return the files by the names under which a rewritten SELECT reads them."""
        hidden = {name: path for name, path in self.datasets.items() if self.find(name)}
        visible = {name: path for name, path in self.datasets.items() if name not in hidden}
        return visible | {f"{DATASET}.{name}": path for name, path in hidden.items()} | self.tables

    def find(self, name: str) -> str | None:
        """Find a table or view of the conversation."""
        return find_name(name, self.tables) or find_name(name, self.views)

    def find_readable(self, name: str) -> str:
        """Find a table, view or dataset. Raises InvalidInput with the nearest names."""
        names = {**self.datasets, **self.views, **self.tables}
        require_table(name, names)
        return self.find(name) or find_name(name, self.datasets) or name

    def remove(self, name: str) -> None:
        self.tables.pop(name, None)
        self.views.pop(name, None)

    def rename(self, name: str, new: str) -> None:
        if name in self.tables:
            self.tables[new] = self.tables.pop(name)
        else:
            self.views[new] = self.views.pop(name)

    def resolve(self, query: exp.Expr) -> exp.Expr:
        """Return a query that reads inputs alone: `dataset.name` by the name of its input, views as CTEs.

        Raises InvalidInput for a view that reads itself.
        """
        return self._with_views(query.copy(), ())

    def needs_resolving(self, query: exp.Expr) -> bool:
        return any(
            table.args.get("db") is not None or find_name(table.name, self.views)
            for table in query.find_all(exp.Table)
        )

    def _with_views(self, query: exp.Expr, path: tuple[str, ...]) -> exp.Expr:
        if not isinstance(query, exp.Query):
            query = exp.select("*").from_(exp.Subquery(this=query))
        views: dict[str, exp.Expr] = {}
        for column in query.find_all(exp.Column):
            if column.args.get("db") is not None and names_dataset(column.db, column.table, self.schemas):
                column.set("db", None)  # the table keeps its plain name as its alias
        # A list, since renaming a table changes the tree that is walked.
        for table in [*query.find_all(exp.Table)]:
            self._resolve_table(table, views, path)
        # Each view goes in front of the statement's own WITH, which may read it.
        for name, body in reversed(views.items()):
            alias = exp.TableAlias(this=exp.to_identifier(_VIEW_PREFIX + name, quoted=True))
            cte = exp.CTE(this=body, alias=alias)
            clause = query.args.get("with_")
            if clause is None:
                query.set("with_", exp.With(expressions=[cte]))
            else:
                clause.set("expressions", [cte, *clause.expressions])
        return query

    def _resolve_table(self, table: exp.Table, views: dict[str, exp.Expr], path: tuple[str, ...]) -> None:
        if table.args.get("db") is not None:
            self._resolve_dataset(table)
            return
        view = find_name(table.name, self.views)
        if view is None or not isinstance(table.this, exp.Identifier) or _is_cte(table):
            return
        if view in path or len(path) >= MAX_VIEW_DEPTH:
            reads = "itself" if view in path else "too many other views"
            hint = f" Read the dataset as {DATASET}.{view}." if find_name(view, self.datasets) else ""
            raise refuse(f"The view {view} would read {reads}.{hint}")
        views.setdefault(view, self._with_views(parse_single(self.views[view]), (*path, view)))
        _rename(table, _VIEW_PREFIX + view, view)

    def _resolve_dataset(self, table: exp.Table) -> None:
        """Name the input of `dataset.name`, `name.name` or `"<id>".name`."""
        if table.args.get("catalog") is not None or not names_dataset(table.db, table.name, self.schemas):
            raise refuse(f"{table.sql(dialect='duckdb')} names a schema; name a table alone.", "unknown_table")
        require_table(table.name, self.datasets)
        name = find_name(table.name, self.datasets) or table.name
        table.set("db", None)
        _rename(table, f"{DATASET}.{name}" if self.find(name) else name, table.name)


def write(tree: exp.Expr) -> str:
    """Write a tree as SQL. Names of functions stay as they were spelled, as refusals quote them."""
    return tree.sql(dialect="duckdb", normalize_functions=False, comments=False)


def _rename(table: exp.Table, name: str, alias: str) -> None:
    """Read another table under the same name, so that qualified columns stay as they are."""
    if table.alias == "":
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    table.set("this", exp.to_identifier(name, quoted=True))


def _is_cte(table: exp.Table) -> bool:
    """Test if a table's name is that of a WITH around it, visible where it is read."""
    name, node = table.name.casefold(), table.parent
    within: exp.Expr | None = table
    while node is not None:
        if isinstance(node, exp.With):
            places = [entry.alias.casefold() for entry in node.expressions]
            place = next((n for n, entry in enumerate(node.expressions) if entry is within), 0)
            if name in places[: place + bool(node.args.get("recursive"))]:
                return True
        clause = node.args.get("with_")
        if (
            clause is not None
            and clause is not within
            and name in {c.alias.casefold() for c in clause.expressions}
        ):
            return True
        within, node = node, node.parent
    return False
