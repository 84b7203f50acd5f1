"""Rewriting of ALTER TABLE."""

from sqlglot import exp

from app.computations.table_changes.change import Change, Describe
from app.computations.table_changes.statement_parsing import require_new_name, require_only
from app.computations.table_changes.syntax_trees import (
    Columns,
    changed_table,
    find_column,
    null_as,
    own_name,
    read_table,
    require_row_values,
    star,
    table_node,
    table_of,
)
from app.computations.table_changes.tables import TableScope, find_name, refuse


def rewrite_alter(statement: exp.Alter, tables: TableScope, describe: Describe) -> Change:
    """Rewrite ALTER TABLE. Raises InvalidInput in words that say what would do."""
    require_only(statement, frozenset({"this", "kind", "exists", "actions", "options"}), {})
    actions = statement.args.get("actions") or []
    if len(actions) != 1:
        raise refuse("Write one change for each ALTER TABLE, as DuckDB does.")
    action, options = actions[0], statement.args.get("options") or []
    if isinstance(action, exp.AlterRename) and not options:
        return _rename_table(statement, action, tables)
    name = changed_table(table_of(statement), tables)
    columns = describe(read_table(name))
    match action:
        case exp.ColumnDef():
            return _add_column(action, name, columns)
        case exp.Drop():
            return _drop_column(action, name, columns)
        case exp.RenameColumn():
            return _rename_column(action.this.name, action.args["to"].name, name, columns)
        case exp.AlterRename():  # RENAME a TO b, without COLUMN
            return _rename_column(action.this.name, options[0].this.name, name, columns)
        case exp.AlterColumn() if action.args.get("dtype"):
            column = find_column(action.this.name, columns, name)
            value = action.args.get("using") or exp.column(exp.to_identifier(column, quoted=True))
            cast = exp.cast(value.copy(), action.args["dtype"])
            # The value of USING is one of each row.
            require_row_values([cast])
            changed = read_table(name, None, star(replace={column: cast}))
            note = f"Changed the type of the column {column} of {name}."
            return Change("altered", name, changed, keeps_size=True, note=note)
        case _:
            raise refuse(
                f"{action.sql(dialect='duckdb')} is not admitted: ADD, DROP and RENAME COLUMN, ALTER TYPE and "
                "RENAME TO are."
            )


def _add_column(action: exp.ColumnDef, name: str, columns: Columns) -> Change:
    if find_name(action.name, columns):
        if action.args.get("exists"):
            return Change("kept", name)
        raise refuse(f"{name} has a column {action.name} already.", "wrong_columns")
    if action.args.get("constraints") or not action.args.get("kind"):
        raise refuse(
            f"Add the column {action.name} with a type alone, and set its values with UPDATE: constraints and "
            "defaults are not kept."
        )
    rows = exp.select("*", null_as(action.name, action.args["kind"])).from_(table_node(name))
    return Change("altered", name, rows, keeps_size=True, note=f"Added the column {action.name} to {name}.")


def _drop_column(action: exp.Drop, name: str, columns: Columns) -> Change:
    dropped = (action.args.get("tables") or [action.this])[0].name
    if action.args.get("exists") and not find_name(dropped, columns):
        return Change("kept", name)
    column = find_column(dropped, columns, name)
    if len(columns) == 1:
        raise refuse(f"{column} is the only column of {name}: use DROP TABLE {name}.", "wrong_columns")
    note = f"Dropped the column {column} of {name}."
    return Change("altered", name, read_table(name, None, star(without=column)), keeps_size=True, note=note)


def _rename_column(former: str, new: str, name: str, columns: Columns) -> Change:
    column = find_column(former, columns, name)
    # A column may change the case of its own name.
    if new.casefold() != column.casefold() and find_name(new, columns):
        raise refuse(f"{name} has a column {new} already.", "wrong_columns")
    cells = [
        exp.alias_(
            exp.column(exp.to_identifier(other, quoted=True)), new if other == column else other, quoted=True
        )
        for other in columns
    ]
    note = f"Renamed the column {column} of {name} to {new}."
    return Change("altered", name, exp.select(*cells).from_(table_node(name)), keeps_size=True, note=note)


def _rename_table(statement: exp.Alter, action: exp.AlterRename, tables: TableScope) -> Change:
    name, new = own_name(table_of(statement)), action.this.name
    existing = tables.find(name)
    if existing is None:
        # Raises for a table that does not exist; what remains is a dataset.
        name = tables.find_readable(name)
        raise refuse(f"{name} is a dataset: make a copy, CREATE TABLE {new} AS FROM {name}.")
    require_new_name(new)
    if tables.find(new) and new.casefold() != existing.casefold():
        raise refuse(f"There is a table {tables.find(new)} already: drop it first.", "table_exists")
    return Change("renamed", existing, new_name=new)
