"""Rewriting of one statement into the SELECT whose rows are the new version of its table.

DuckDB's own parser describes SELECT only, so only SELECTs reach the database, each under both readings of the
policy.
"""

from sqlglot import exp

from app.computations.table_changes.alter_table import rewrite_alter
from app.computations.table_changes.change import Change, Describe
from app.computations.table_changes.statement_parsing import require_new_name, require_only
from app.computations.table_changes.syntax_trees import (
    cast_as,
    changed_table,
    find_column,
    label_of,
    null_as,
    own_name,
    read_table,
    require_row_values,
    star,
    table_of,
)
from app.computations.table_changes.tables import TableScope, find_name, refuse

_ONE_ANSWER = "The rows that were changed are told. Read them with a SELECT after it."
_JOIN_ADVICE = "Use CREATE OR REPLACE TABLE ... AS SELECT with a join, or a subquery in parentheses."


def rewrite(statement: exp.Expr, tables: TableScope, describe: Describe) -> Change:
    """Rewrite a statement that changes a table. Raises InvalidInput in words that say what would do."""
    match statement:
        case exp.Create():
            return _create(statement, tables)
        case exp.Insert():
            return _insert(statement, tables, describe)
        case exp.Update():
            return _update(statement, tables, describe)
        case exp.Delete():
            return _delete(statement, tables)
        case exp.Alter():
            return rewrite_alter(statement, tables, describe)
        case exp.Drop():
            return _drop(statement, tables)
        case _:
            raise TypeError(f"{type(statement).__name__} changes no table.")


def _create(statement: exp.Create, tables: TableScope) -> Change:
    properties = statement.args.get("properties")
    if properties is not None:
        words = ", ".join(part.sql(dialect="duckdb") for part in properties.expressions)
        raise refuse(
            f"CREATE with {words} is not admitted: a table stays in the conversation until it is dropped."
        )
    require_only(statement, frozenset({"this", "kind", "replace", "expression", "exists"}), {})
    kind = str(statement.args["kind"])
    if kind not in ("TABLE", "VIEW"):
        raise refuse(f"CREATE {kind} is not admitted: create a TABLE or a VIEW from a SELECT.")
    name, query = own_name(table_of(statement)), statement.args.get("expression")
    require_new_name(name)
    existing = tables.find(name)
    if existing and statement.args.get("exists"):
        return Change("kept", existing)
    if existing and not statement.args.get("replace"):
        raise refuse(
            f"There is a {kind.lower()} {existing} already: use CREATE OR REPLACE {kind}.", "table_exists"
        )
    if isinstance(statement.this, exp.Schema):
        if query is not None or kind == "VIEW":
            raise refuse("A list of columns before AS is not admitted: give the columns of the SELECT aliases.")
        query = _empty_table(statement.this)
    if query is None:
        raise refuse(f"CREATE {kind} needs AS and a SELECT.")
    return Change("replaced" if existing else "created", existing or name, query, kind == "VIEW")


def _empty_table(schema: exp.Schema) -> exp.Expr:
    columns = []
    for column in schema.expressions:
        if not isinstance(column, exp.ColumnDef) or column.args.get("constraints"):
            raise refuse(f"Constraints and defaults are not kept: leave out {column.sql(dialect='duckdb')}.")
        columns.append(null_as(column.name, column.args["kind"]))
    # A SELECT of no rows, since only SELECTs reach the database.
    return exp.select(*columns).where(exp.false())


def _insert(statement: exp.Insert, tables: TableScope, describe: Describe) -> Change:
    require_only(
        statement,
        frozenset({"this", "expression", "by_name", "with_"}),
        {
            "conflict": "Tables have no keys: use CREATE OR REPLACE TABLE ... AS SELECT.",
            "alternative": "Tables have no keys: use CREATE OR REPLACE TABLE ... AS SELECT.",
            "returning": _ONE_ANSWER,
            "default": "Name a value for each column.",
        },
    )
    name = changed_table(table_of(statement), tables)
    columns = describe(read_table(name))
    source = _source_query(statement)
    source_columns = [*describe(source)]
    column_list = (
        [part.name for part in statement.this.expressions] if isinstance(statement.this, exp.Schema) else None
    )
    targets = source_columns if statement.args.get("by_name") else column_list or [*columns]
    if len(targets) != len(source_columns):
        raise refuse(
            f"{name} takes {len(targets)} values a row here, not {len(source_columns)}.", "wrong_columns"
        )
    places = {find_column(target, columns, name): place for place, target in enumerate(targets)}
    if len(places) != len(targets):
        raise refuse(f"A column of {name} is named twice.", "wrong_columns")
    # By place, since columns of the source may share a name or have none.
    labels = [exp.to_identifier(f"c{place}", quoted=True) for place in range(len(source_columns))]
    cells = [
        # Cast to the column's type, as INSERT does; UNION would widen the column to both types.
        cast_as(exp.column(labels[places[column]].copy()), kind, column)
        if column in places
        else null_as(column, kind)
        for column, kind in columns.items()
    ]
    added = exp.select(*cells).from_(
        exp.Subquery(this=source, alias=exp.TableAlias(this=exp.to_identifier("added"), columns=labels))
    )
    return Change("inserted", name, exp.union(read_table(name), added, distinct=False))


def _source_query(statement: exp.Insert) -> exp.Expr:
    source = statement.args.get("expression")
    if source is None:
        raise refuse("INSERT needs VALUES or a SELECT.")
    source = source.copy()
    if isinstance(source, exp.Values):
        source = exp.select("*").from_(source)
    clause = statement.args.get("with_")
    if clause is not None:
        if source.args.get("with_"):
            raise refuse("Write one WITH, after INSERT INTO.")
        source.set("with_", clause.copy())
    return source


def _update(statement: exp.Update, tables: TableScope, describe: Describe) -> Change:
    require_only(
        statement,
        frozenset({"this", "expressions", "where"}),
        {"from_": _JOIN_ADVICE, "returning": _ONE_ANSWER, "with_": "Write it as a subquery."},
    )
    name, target = changed_table(table_of(statement), tables), table_of(statement)
    if target.args.get("joins"):
        raise refuse(f"A join in UPDATE is not admitted. {_JOIN_ADVICE}")
    columns = describe(read_table(name))
    where = statement.args.get("where")
    replaced: dict[str, exp.Expr] = {}
    for part in statement.expressions:
        if not isinstance(part, exp.EQ) or not isinstance(part.this, exp.Column):
            raise refuse("Set one column at a time: SET a = 1, b = 2.")
        column = find_column(part.this.name, columns, name)
        if column in replaced:
            raise refuse(f"The column {column} is set twice.", "wrong_columns")
        # The column keeps its type. Values read the row as it was, so SET a = b, b = a swaps both.
        value: exp.Expr = exp.cast(part.expression.copy(), columns[column], dialect="duckdb")
        if where is not None:
            own = exp.column(exp.to_identifier(column, quoted=True), table=label_of(target, name))
            value = exp.Case().when(where.this.copy(), value).else_(own)
        replaced[column] = value
    require_row_values([*replaced.values()])
    # The rewritten table has all rows, so the changed ones are counted apart.
    counting = read_table(name, target, "count(*)")
    return Change(
        "updated",
        name,
        read_table(name, target, star(replace=replaced)),
        count_query=counting.where(where.this.copy()) if where is not None else counting,
        keeps_size=True,
    )


def _delete(statement: exp.Delete, tables: TableScope) -> Change:
    require_only(
        statement,
        frozenset({"this", "where"}),
        {
            "using": "Use WHERE ... IN (SELECT ...).",
            "returning": _ONE_ANSWER,
            "with_": "Write it as a subquery.",
        },
    )
    name, where = changed_table(table_of(statement), tables), statement.args.get("where")
    # Rows whose condition is null stay: DELETE takes those where it is true.
    stays = (
        exp.Not(this=exp.Is(this=exp.paren(where.this.copy()), expression=exp.true())) if where else exp.false()
    )
    return Change("deleted", name, read_table(name, table_of(statement)).where(stays))


def _drop(statement: exp.Drop, tables: TableScope) -> Change:
    kind = str(statement.args["kind"])
    if kind not in ("TABLE", "VIEW"):
        raise refuse(f"DROP {kind} is not admitted: a conversation has tables and views.")
    dropped = statement.args.get("tables") or [statement.this]
    if len(dropped) != 1:
        raise refuse("Write one DROP for each table.")
    name = own_name(dropped[0])
    existing = tables.find(name)
    if existing is None and find_name(name, tables.datasets):
        raise refuse(f"{name} is a dataset, which a conversation cannot drop: DELETE /datasets does.")
    if existing is None and statement.args.get("exists"):
        return Change("kept", name)
    if existing is None:
        # Raises with the nearest names.
        tables.find_readable(name)
        raise refuse(f"There is no table {name}.", "unknown_table")
    if (existing in tables.views) != (kind == "VIEW"):
        raise refuse(
            f"{existing} is a {'view' if existing in tables.views else 'table'}, not a {kind.lower()}."
        )
    return Change("dropped", existing, is_view=kind == "VIEW")
