"""The SELECT that joins several tables, with one row for each row of the first."""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.computations.join_discovery.keys import JoinKey
from app.computations.join_discovery.tables import JoinTable, key_cell
from app.computations.uploads.cell_sql import number_cell
from app.modeling.type_inference.parsers import NumberParser
from app.plans.identifiers import quote_identifier

MAX_AGGREGATED = 40
"""Columns of a table with several rows per key that are aggregated, each into up to three."""


@dataclass(frozen=True)
class JoinNode:
    """A table with the tables joined to it; `key` joins it to its parent."""

    side: JoinTable
    key: JoinKey | None = None
    children: list["JoinNode"] = field(default_factory=list)
    output_columns: list[str] = field(default_factory=list)
    """Columns of the joined table that come from this one and its branches; `build_select` fills them."""


def build_select(root: JoinNode, parts: Sequence[str] = ()) -> str:
    """Build the SELECT of the joined table; rows keep the order of the files.

    `parts`: tables with the root's columns, whose rows are appended to it.
    """
    row_column = _free_column_name(root.side)
    body, _ = _join_children(root, "t", [root.side.name, *parts], row_column)
    return (
        f"SELECT * EXCLUDE ({quote_identifier(row_column)}) FROM ({body}) AS joined ORDER BY"
        f" joined.{quote_identifier(row_column)}"
    )


def _free_column_name(side: JoinTable) -> str:
    name = "place"
    while name in _folded(side.types):
        name += "_"
    return name


def _join_children(
    branch: JoinNode, alias: str, parts: Sequence[str], row_column: str | None = None
) -> tuple[str, dict[str, str]]:
    """A SELECT of a table with its branches joined, and the columns it has with their types.

    `row_column`: a column to number the rows in.
    """
    source = " UNION ALL BY NAME ".join(f"SELECT * FROM {quote_identifier(part)}" for part in parts)
    if row_column:
        # DuckDB keeps no order through a join, so rows are numbered before it.
        source = (
            f"SELECT *, row_number() OVER () AS {quote_identifier(row_column)} FROM ({source}) AS rows_in_order"
        )
    columns = {**branch.side.types, **_parsed_types(branch.side)} | (
        {row_column: "integer"} if row_column else {}
    )
    if not branch.children:
        return source, columns
    cells, joins = [f"{alias}.*"], [f"FROM ({source}) AS {alias}"]
    for number, child in enumerate(branch.children, start=1):
        child_alias = f"{alias}_{number}"
        body, child_columns, on = _join_source(child, alias, child_alias, branch.side, source)
        if child.key and child.key.is_lookup and not _folded(columns) & _folded(child_columns):
            hidden = ", ".join(map(quote_identifier, _hidden_columns(child)))
            cells.append(f"{child_alias}.* EXCLUDE ({hidden})")
            columns |= child_columns
            child.output_columns.extend(name for name in child_columns if name not in child.side.hidden)
            child_columns = {}
        for name, kind in child_columns.items():
            output_name = name if name.casefold() not in _folded(columns) else f"{child.side.name}_{name}"
            if output_name.casefold() in _folded(columns):
                continue
            cells.append(
                f"{child_alias}.{quote_identifier(name)}"
                + (f" AS {quote_identifier(output_name)}" if output_name != name else "")
            )
            columns[output_name] = kind
            child.output_columns.append(output_name)
        # A row of the base without a match stays one row.
        joins.append(f"LEFT JOIN ({body}) AS {child_alias} ON {on}")
    return f"SELECT {', '.join(cells)} {' '.join(joins)}", columns


def _hidden_columns(child: JoinNode) -> list[str]:
    keys = [pair[1] for pair in child.key.pairs] if child.key else []
    return [*keys, *child.side.hidden]


def _parsed_types(side: JoinTable) -> dict[str, str]:
    return {name: kind for name, kind in side.kinds.items() if name in side.types}


def _folded(columns: Mapping[str, str]) -> set[str]:
    return {name.casefold() for name in columns}


def _join_source(
    child: JoinNode, alias: str, child_alias: str, parent: JoinTable, source: str
) -> tuple[str, dict[str, str], str]:
    """The right side of a join: its SELECT, the types of its output columns, and the join condition.

    `source`: the parent's rows.
    """
    key = child.key
    if key is None:
        raise ValueError("only the root has no key")
    body, columns = _join_children(child, f"{child_alias}_t", [child.side.name])
    right_columns = [pair[1] for pair in key.pairs]
    if key.is_lookup:
        on = " AND ".join(
            f"{key_cell(alias, parent, mine)} = {key_cell(child_alias, child.side, other)}"
            for mine, other in key.pairs
        )
        return body, {name: kind for name, kind in columns.items() if name not in right_columns}, on
    return _join_aggregates(child, key, alias, child_alias, parent, source, body, columns)


def _join_aggregates(
    child: JoinNode,
    key: JoinKey,
    alias: str,
    child_alias: str,
    parent: JoinTable,
    source: str,
    body: str,
    columns: Mapping[str, str],
) -> tuple[str, dict[str, str], str]:
    """The same for a table with several rows per key, `body` with `columns`: one row of aggregates for each."""
    right_columns = [pair[1] for pair in key.pairs]
    aggregates = _aggregates(child.side, columns, right_columns)
    cells_of_aggregates = [f"{cell} AS {quote_identifier(name)}" for name, (cell, _) in aggregates.items()]
    output_types = {name: kind for name, (_, kind) in aggregates.items()}
    names = [f"key_{place}" for place in range(len(right_columns))]
    cells = [key_cell(alias, parent, mine) for mine, _ in key.pairs]
    keys = [
        f"{key_cell('m', child.side, other)} AS {name}"
        for other, name in zip(right_columns, names, strict=True)
    ]
    on = " AND ".join(f"{cell} = {child_alias}.{name}" for cell, name in zip(cells, names, strict=True))
    if key.as_of is None:
        return _group_by(keys + cells_of_aggregates, f"({body}) AS m", len(names)), output_types, on
    # Rows of the joined table count for a row of the parent only if they are earlier than it: a mean over later
    # ones would give the future away. So aggregates are made for each key and moment of the parent (`a`), not
    # for each key; `m` is the joined table, `p` the parent.
    mine, other = key.as_of
    moments = [
        f"{key_cell('p', parent, own)} AS {name}" for (own, _), name in zip(key.pairs, names, strict=True)
    ]
    moments_query = (
        f"SELECT DISTINCT {', '.join([*moments, f'p.{quote_identifier(mine)} AS moment'])} FROM ({source}) AS p"
    )
    matches = [
        f"a.{name} = {key_cell('m', child.side, column)}"
        for column, name in zip(right_columns, names, strict=True)
    ]
    earlier = f"m.{quote_identifier(other)} < a.moment"
    source_rows = f"({moments_query}) AS a JOIN ({body}) AS m ON {' AND '.join([*matches, earlier])}"
    by = [*(f"a.{name}" for name in names), "a.moment"]
    on += f" AND {alias}.{quote_identifier(mine)} = {child_alias}.moment"
    return _group_by(by + cells_of_aggregates, source_rows, len(by)), output_types, on


def _group_by(cells: Sequence[str], source: str, by: int) -> str:
    """Aggregate `source` by the first cells."""
    return f"SELECT {', '.join(cells)} FROM {source} GROUP BY {', '.join(map(str, range(1, by + 1)))}"


def _aggregates(side: JoinTable, columns: Mapping[str, str], keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Map names to (aggregate, type): row counts, means and extremes of numbers, and the latest values by
    time."""
    table = side.name
    aggregates = {f"{table}_rows": ("count(*)", "integer")}
    time_column = next(
        (name for name, kind in columns.items() if kind == "datetime" and name not in (*keys, *side.parsers)),
        None,
    )
    for name, kind in [item for item in columns.items() if item[0] not in keys][:MAX_AGGREGATED]:
        cell = f"m.{quote_identifier(name)}"
        if kind in ("integer", "number", "boolean") and (number := _numeric_cell(side, name, cell, kind)):
            aggregates[f"{table}_{name}_mean"] = (f"avg({number})", "number")
            aggregates[f"{table}_{name}_max"] = (f"max({number})", "number")
        elif kind == "datetime" and name not in side.parsers:
            aggregates[f"{table}_{name}_last"] = (f"max({cell})", "datetime")
        elif kind == "text":
            aggregates[f"{table}_{name}_kinds"] = (f"count(DISTINCT {cell})", "integer")
        if time_column and name != time_column and name not in side.parsers:
            aggregates[f"{table}_{name}_last"] = (f"max_by({cell}, m.{quote_identifier(time_column)})", kind)
    return aggregates


def _numeric_cell(side: JoinTable, name: str, cell: str, kind: str) -> str | None:
    """Return the SQL of a cell as DOUBLE; None if its text is read by rules that SQL does not have."""
    parser = side.parsers.get(name)
    if parser is None:
        return f"CAST({cell} AS DOUBLE)"
    if not isinstance(parser, NumberParser) or kind != "number" or parser.missing:
        return None
    return number_cell(cell, *parser.formats)
