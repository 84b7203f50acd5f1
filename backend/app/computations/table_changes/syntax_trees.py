"""Parts of statements and of the SELECTs that they become."""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from app.computations.table_changes.tables import TableScope, find_name, refuse, write
from app.modeling.problem.name_resolution import hint_names, nearest_names

Columns = Mapping[str, str]
"""Columns of a table in order: `{name: type in SQL}`."""


def table_of(statement: exp.Expr) -> exp.Table:
    """Return the table that a statement changes."""
    target = statement.this.this if isinstance(statement.this, exp.Schema) else statement.this
    if not isinstance(target, exp.Table) or not isinstance(target.this, exp.Identifier):
        raise refuse("Name the table that is changed.")
    return target


def own_name(table: exp.Table) -> str:
    """Return the name of a table that is changed; those of other schemas are read only."""
    if table.args.get("db") is not None:
        raise refuse(f"{table.sql(dialect='duckdb')} can be read, not changed: name a table alone.")
    return table.name


def changed_table(table: exp.Table, tables: TableScope) -> str:
    """Find the table whose rows change: one of the conversation, or a dataset of which it gets a copy."""
    name = tables.find_readable(own_name(table))
    if name in tables.views:
        raise refuse(f"{name} is a view: change the tables that it reads, or use CREATE OR REPLACE VIEW.")
    return name


def find_column(name: str, columns: Columns, table: str) -> str:
    """Find a column as it is spelled. Raises InvalidInput with the nearest names."""
    column = find_name(name, columns)
    if column is not None:
        return column
    close = nearest_names(name, columns)
    detail = f"{table} has no column {name}. {hint_names(close, columns)}"
    raise refuse(detail, "unknown_column", column=name, nearest=close)


def table_node(name: str, alias: str = "") -> exp.Table:
    """Return a table by name, perhaps under an alias."""
    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    if alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    return table


def read_table(name: str, target: exp.Table | None = None, *cells: str | exp.Expr) -> exp.Select:
    """Build a SELECT over a table, of all columns unless others are given."""
    return exp.select(*(cells or ("*",))).from_(table_node(name, label_of(target, name) if target else ""))


def label_of(target: exp.Table, name: str) -> str:
    """Return the name by which expressions qualify the columns of a table."""
    return target.alias or name


def star(replace: Mapping[str, exp.Expr] | None = None, without: str = "") -> exp.Star:
    """Build `*`, with replaced columns or without one."""
    star = exp.Star()
    if replace:
        star.set("replace", [exp.alias_(value, column, quoted=True) for column, value in replace.items()])
    if without:
        star.set("except_", [exp.to_identifier(without, quoted=True)])
    return star


def cast_as(value: exp.Expr, kind: str | exp.DataType, name: str) -> exp.Expr:
    """Build a column of a type and a name."""
    return exp.alias_(exp.cast(value, kind, dialect="duckdb"), name, quoted=True)


def null_as(name: str, kind: str | exp.DataType) -> exp.Expr:
    """Build a column of nulls."""
    return cast_as(exp.null(), kind.copy() if isinstance(kind, exp.DataType) else kind, name)


def require_row_values(values: Sequence[exp.Expr]) -> None:
    """Refuse aggregates over the changed table: as a SELECT they would make one row of all."""
    for value in values:
        for part in value.find_all(exp.AggFunc, exp.Window):
            # Within a subquery an aggregate gives one value for each row, so it may stay.
            if part.find_ancestor(exp.Subquery, exp.Exists) is None:
                raise refuse(
                    f"{write(part)} computes over many rows: write it as a subquery in parentheses, or use "
                    "CREATE OR REPLACE TABLE ... AS SELECT."
                )
