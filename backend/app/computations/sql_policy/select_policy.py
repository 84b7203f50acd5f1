"""The policy for SQL: one SELECT over the given tables, with functions of the allow-list. Pure.

Two parsers must agree. `require_select` parses the text with sqlglot and explains refusals;
`require_plain_tree` walks the tree that DuckDB itself parsed and will run, so nothing hides in a difference
between the parsers.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.computations.sql_policy.sql_functions import FUNCTIONS, TABLE_FUNCTIONS
from app.computations.sql_policy.sql_parsing import parse_sql
from app.errors import InvalidInput
from app.modeling.problem.name_resolution import hint_names, nearest_names

MAX_CHARACTERS = 20_000
"""Length of a query: longer ones are generated, and slow to parse."""

_QUESTIONS = (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)
_FORBIDDEN_PARTS: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.DDL, "a statement that changes data"),
    (exp.DML, "a statement that changes data"),
    (exp.Command, "a command"),
    (exp.Into, "SELECT INTO"),
    (exp.Lock, "FOR UPDATE"),
    (exp.Parameter, "a parameter"),
    (exp.Placeholder, "a parameter"),
    (exp.Version, "AT (a version of a table)"),
)


DATASET = "dataset"
"""Schema under which every dataset can be read by its own name: `dataset.cities`."""
_RESERVED_SCHEMAS = frozenset({"information_schema", "main", "memory", "pg_catalog", "system", "temp"})
"""Schemas and catalogs of DuckDB itself: no dataset's name stands for them."""


Schemas = Mapping[str, str]
"""Further schemas that stand for one table each: ids of datasets, in lower case, with their tables."""
_NO_SCHEMAS: Schemas = {}


def require_select(
    text: str, tables: Iterable[str], schemas: Schemas = _NO_SCHEMAS
) -> frozenset[tuple[str, str]]:
    """Check the text of a query; raises InvalidInput that names what is not admitted.

    Returns the folded names of schemas with their tables, as of `orders.orders` and `dataset.orders`.
    """
    if len(text) > MAX_CHARACTERS:
        raise _refused("sql_too_long", f"The query has more than {MAX_CHARACTERS:,} characters.")
    if "\x00" in text:
        raise _refused("sql_invalid", "The query holds a NUL character.")
    try:
        statements = parse_statements(text)
    except SqlglotError as error:
        raise _refused("sql_invalid", f"The query cannot be read: {_first_line(error)}") from error
    if len(statements) != 1:
        raise _refused("sql_not_admitted", f"Send one SELECT, not {len(statements)} statements.")
    statement = statements[0]
    if not isinstance(statement, _QUESTIONS):
        raise _refused("sql_not_admitted", f"{_statement_name(statement)} is not admitted; send a SELECT.")
    for part, words in _FORBIDDEN_PARTS:
        if statement.find(part):
            raise _refused("sql_not_admitted", f"The query holds {words}; only SELECT is admitted.")
    qualified = _require_tables(statement, tables, schemas)
    # Functions that sqlglot has a class for are checked in DuckDB's tree, by the names that DuckDB gives them.
    for call in statement.find_all(exp.Anonymous):
        require_function(call.name)
    return qualified


@lru_cache(maxsize=16)
def parse_statements(text: str) -> tuple[exp.Expr, ...]:
    """Parse the statements of a text, as `parse_sql`. Raises SqlglotError.

    The trees are kept, since a query is looked at several times: who changes one copies it first.
    """
    return tuple(parse_sql(text))


def require_select_tree(tree: Mapping[str, Any], tables: Iterable[str], schemas: Schemas = _NO_SCHEMAS) -> None:
    """Check the tree of DuckDB's `json_serialize_sql`; raises as `require_select`."""
    if tree.get("error"):
        raise _refused("sql_invalid", f"The query cannot be read: {tree.get('error_message', '')}")
    if len(tree["statements"]) != 1:
        raise _refused("sql_not_admitted", "Send one SELECT.")
    _check_tree(tree["statements"][0]["node"], frozenset(name.casefold() for name in tables), schemas)


def require_function(name: str, table: bool = False) -> None:
    admitted = TABLE_FUNCTIONS if table else FUNCTIONS
    if name.casefold() in admitted:
        return
    close = nearest_names(name, admitted)
    hint = f" Did you mean {', '.join(close)}?" if close else ""
    kind = "table function" if table else "function"
    raise _refused(
        "function_not_admitted", f"The {kind} {name} is not admitted.{hint}", function=name, nearest=close
    )


def require_table(name: str, tables: Iterable[str]) -> None:
    """Check that a table exists; case is ignored, as in DuckDB."""
    names = sorted(tables)
    if name.casefold() in {table.casefold() for table in names}:
        return
    close = nearest_names(name, names)
    detail = f"There is no table {name}. {hint_names(close, names)}"
    raise _refused("unknown_table", detail, table=name, nearest=close)


def translate_unknown_column(problem: str, columns: Iterable[str]) -> InvalidInput | None:
    """Translate DuckDB's error about a missing column, with the nearest names; None for other errors."""
    match = re.search(r'[Cc]olumn "([^"]+)" (?:was )?not found|does not have a column named "([^"]+)"', problem)
    if not match:
        return None
    name = match[1] or match[2]
    # Columns of subqueries and functions are named by DuckDB alone, the nearest of them.
    names = list(dict.fromkeys([*_candidates(problem), *columns]))
    close = nearest_names(name, names)
    # Without names nothing is claimed: of a list of values DuckDB names no column.
    hint = f" {hint_names(close, names)}" if names else ""
    detail = f"There is no column {name}.{hint}"
    return _refused("unknown_column", detail, column=name, nearest=close)


def _candidates(problem: str) -> list[str]:
    """Return the names in double quotes of the line of DuckDB's error that lists candidates."""
    lines = [line for line in problem.splitlines() if line.startswith("Candidate bindings:")]
    return [name for line in lines for name in line.split('"')[1::2]]


def names_dataset(schema: str, table: str, schemas: Schemas = _NO_SCHEMAS) -> bool:
    """Test if a schema stands for a table's dataset: by the name that both have, as `dataset`, or by its id."""
    if schemas.get(schema.casefold(), "").casefold() == table.casefold():
        return True
    return schema.casefold() in {table.casefold(), DATASET} - _RESERVED_SCHEMAS


def _require_tables(statement: exp.Expr, tables: Iterable[str], schemas: Schemas) -> frozenset[tuple[str, str]]:
    """Check every table; return the folded names of schemas with their tables."""
    qualified = set()
    # Every name of a WITH counts everywhere here; `_with_own_tables` checks its scope in DuckDB's tree.
    cte_names = {cte.alias.casefold() for cte in statement.find_all(exp.CTE)}
    for table in statement.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            continue  # DuckDB's own tree names the table function.
        if table.catalog or (table.db and not names_dataset(table.db, table.name, schemas)):
            raise _refused("unknown_table", f"{table.sql()} names a schema; name a table alone.")
        if table.db:
            qualified.add((table.db.casefold(), table.name.casefold()))
        if table.db or table.name.casefold() not in cte_names:
            require_table(table.name, tables)
    return frozenset(qualified)


_REFERENCES = {
    "BASE_TABLE",
    "SUBQUERY",
    "JOIN",
    "TABLE_FUNCTION",
    "EMPTY",
    "EXPRESSION_LIST",
    "PIVOT",
    "SHOW_REF",
}
_REFUSED_TYPES = {
    "SHOW_REF": "SHOW, DESCRIBE or SUMMARIZE",
    "COLUMN_DATA": "a scan of internal data",
    "DELIM_GET": "a scan of internal data",
    "BOUND_TABLE_REF": "a bound table",
    "VALUE_PARAMETER": "a parameter",
    "VALUE_DEFAULT": "DEFAULT",
}


def _check_tree(node: Any, tables: frozenset[str], schemas: Schemas) -> None:
    if isinstance(node, list):
        for part in node:
            _check_tree(part, tables, schemas)
    if not isinstance(node, dict):
        return
    tables = _with_own_tables(node, tables, schemas)
    _check_node(node, tables, schemas)
    for key, part in node.items():
        if key == "from_table" and part.get("type") not in _REFERENCES:
            raise _refused("sql_not_admitted", f"The query reads from {part['type']}, which is not admitted.")
        # The bodies of a WITH were checked in order of definition, each with the names before it.
        if key != "cte_map":
            _check_tree(part, tables, schemas)


def _with_own_tables(node: Mapping[str, Any], tables: frozenset[str], schemas: Schemas) -> frozenset[str]:
    """The scope below a node: names of a WITH may be read after their definition, and in it if recursive."""
    for entry in (node.get("cte_map") or {}).get("map", []):
        _check_tree(entry["value"], tables, schemas)
        # A new set, so the name ends with the node that defines it.
        tables |= {str(entry["key"]).casefold()}
    if node.get("type") == "RECURSIVE_CTE_NODE":
        tables |= {str(node.get("cte_name", "")).casefold()}
    return tables


def _check_node(node: Mapping[str, Any], tables: frozenset[str], schemas: Schemas) -> None:
    kind = node.get("type")
    if isinstance(kind, str) and kind in _REFUSED_TYPES:
        raise _refused("sql_not_admitted", f"{_REFUSED_TYPES[kind]} is not admitted; send a SELECT.")
    if kind == "BASE_TABLE":
        _check_table(node, tables, schemas)
    elif kind == "TABLE_FUNCTION":
        require_function(_function_name(node["function"]), table=True)
    elif "function_name" in node:
        require_function(_function_name(node))


def _check_table(node: Mapping[str, Any], tables: frozenset[str], schemas: Schemas) -> None:
    schema = node.get("schema_name")
    if node.get("catalog_name") or (schema and not names_dataset(schema, node["table_name"], schemas)):
        raise _refused("unknown_table", f"{node['table_name']} is named with its schema; name a table alone.")
    if node.get("at_clause"):
        raise _refused("sql_not_admitted", "AT (a version of a table) is not admitted.")
    require_table(node["table_name"], tables)


def _function_name(node: Mapping[str, Any]) -> str:
    """The last part of a path: `name.upper()` has the same tree as a function of a schema `name`."""
    path = (node.get("qualified_name") or {}).get("path") or [node["function_name"]]
    return str(path[-1])


def _statement_name(statement: exp.Expr) -> str:
    if isinstance(statement, exp.Command):
        return str(statement.this).upper()
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(statement).__name__).upper()


def _first_line(error: Exception) -> str:
    return (
        re.sub(r"\x1b\[\d+m", "", str(error)).splitlines()[0][:300] if str(error) else "it is nested too deep."
    )


def _refused(code: str, detail: str, **facts: object) -> InvalidInput:
    return InvalidInput(code, detail, **facts)
