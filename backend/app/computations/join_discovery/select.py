"""The SELECT that makes one table of several, one row for each row of the first."""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.computations.join_discovery.keys import Key
from app.computations.join_discovery.tables import Side, key_cell
from app.computations.uploads import sql
from app.modeling.type_inference.parsers import NumberParser

MAX_SUMMED = 40
"""Columns of a many-sided table that are summed up."""


@dataclass(frozen=True)
class Branch:
    """A table with those that hang on it; `key` says how it hangs on its parent."""

    side: Side
    key: Key | None = None
    branches: list["Branch"] = field(default_factory=list)


def select(root: Branch, parts: Sequence[str] = ()) -> str:
    """`parts`: tables with the root's columns, whose rows are added to it. Rows keep the order of the files."""
    place = _free_name(root.side)
    body, _ = _whole(root, "t", [root.side.name, *parts], place)
    return f"SELECT * EXCLUDE ({sql.name(place)}) FROM ({body}) AS whole ORDER BY whole.{sql.name(place)}"


def _free_name(side: Side) -> str:
    name = "place"
    while name in _folded(side.types):
        name += "_"
    return name


def _whole(
    branch: Branch, alias: str, parts: Sequence[str], place: str | None = None
) -> tuple[str, dict[str, str]]:
    """A SELECT of a table with its branches joined, and the columns it has with their types.

    `place`: a column to number the rows in.
    """
    source = " UNION ALL BY NAME ".join(f"SELECT * FROM {sql.name(part)}" for part in parts)
    if place:
        source = f"SELECT *, row_number() OVER () AS {sql.name(place)} FROM ({source}) AS rows_in_order"
    columns = {**branch.side.types, **_read_as(branch.side)} | ({place: "integer"} if place else {})
    if not branch.branches:
        return source, columns
    cells, joins = [f"{alias}.*"], [f"FROM ({source}) AS {alias}"]
    for number, child in enumerate(branch.branches, start=1):
        beside = f"{alias}_{number}"
        body, given, on = _beside(child, alias, beside, branch.side, source)
        if child.key and child.key.is_lookup and not _folded(columns) & _folded(given):
            cells.append(f"{beside}.* EXCLUDE ({', '.join(sql.name(name) for name in _not_given(child))})")
            columns |= given
            given = {}
        for name, kind in given.items():
            shown = name if name.casefold() not in _folded(columns) else f"{child.side.name}_{name}"
            if shown.casefold() in _folded(columns):
                continue
            cells.append(f"{beside}.{sql.name(name)}" + (f" AS {sql.name(shown)}" if shown != name else ""))
            columns[shown] = kind
        joins.append(f"LEFT JOIN ({body}) AS {beside} ON {on}")
    return f"SELECT {', '.join(cells)} {' '.join(joins)}", columns


def _not_given(child: Branch) -> list[str]:
    keys = [pair[1] for pair in child.key.pairs] if child.key else []
    return [*keys, *child.side.hidden]


def _read_as(side: Side) -> dict[str, str]:
    return {name: kind for name, kind in side.kinds.items() if name in side.types}


def _folded(columns: Mapping[str, str]) -> set[str]:
    return {name.casefold() for name in columns}


def _beside(
    child: Branch, alias: str, beside: str, parent: Side, source: str
) -> tuple[str, dict[str, str], str]:
    """What stands on the right of a join: its SELECT, the columns that it gives, and on what it is joined.

    `source`: the parent's rows.
    """
    key = child.key
    if key is None:
        raise ValueError("only the root hangs on nothing")
    body, columns = _whole(child, f"{beside}_t", [child.side.name])
    theirs = [pair[1] for pair in key.pairs]
    if key.is_lookup:
        on = " AND ".join(
            f"{key_cell(alias, parent, mine)} = {key_cell(beside, child.side, other)}"
            for mine, other in key.pairs
        )
        return body, {name: kind for name, kind in columns.items() if name not in theirs}, on
    sums = _summed(child.side, columns, theirs)
    shown = [f"{cell} AS {sql.name(name)}" for name, (cell, _) in sums.items()]
    given = {name: kind for name, (_, kind) in sums.items()}
    names = [f"key_{place}" for place in range(len(theirs))]
    cells = [key_cell(alias, parent, mine) for mine, _ in key.pairs]
    keys = [f"{key_cell('m', child.side, other)} AS {name}" for other, name in zip(theirs, names, strict=True)]
    on = " AND ".join(f"{cell} = {beside}.{name}" for cell, name in zip(cells, names, strict=True))
    if key.as_of is None:
        return _grouped(keys + shown, f"({body}) AS m", len(names)), given, on
    mine, other = key.as_of
    moments = [
        f"{key_cell('p', parent, own)} AS {name}" for (own, _), name in zip(key.pairs, names, strict=True)
    ]
    asked = f"SELECT DISTINCT {', '.join([*moments, f'p.{sql.name(mine)} AS moment'])} FROM ({source}) AS p"
    meets = [f"a.{name} = {key_cell('m', child.side, one)}" for one, name in zip(theirs, names, strict=True)]
    earlier = f"m.{sql.name(other)} < a.moment"
    met = f"({asked}) AS a JOIN ({body}) AS m ON {' AND '.join([*meets, earlier])}"
    by = [*(f"a.{name}" for name in names), "a.moment"]
    on += f" AND {alias}.{sql.name(mine)} = {beside}.moment"
    return _grouped(by + shown, met, len(by)), given, on


def _grouped(cells: Sequence[str], source: str, by: int) -> str:
    """`source` summed up by the first cells."""
    return f"SELECT {', '.join(cells)} FROM {source} GROUP BY {', '.join(map(str, range(1, by + 1)))}"


def _summed(side: Side, columns: Mapping[str, str], keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Name -> (aggregate, type): how many rows, means and extremes of numbers, the last of all by time."""
    table = side.name
    sums = {f"{table}_rows": ("count(*)", "integer")}
    dated = next(
        (name for name, kind in columns.items() if kind == "datetime" and name not in (*keys, *side.ways)), None
    )
    for name, kind in [item for item in columns.items() if item[0] not in keys][:MAX_SUMMED]:
        cell = f"m.{sql.name(name)}"
        if kind in ("integer", "number", "boolean") and (number := _number(side, name, cell, kind)):
            sums[f"{table}_{name}_mean"] = (f"avg({number})", "number")
            sums[f"{table}_{name}_max"] = (f"max({number})", "number")
        elif kind == "datetime" and name not in side.ways:
            sums[f"{table}_{name}_last"] = (f"max({cell})", "datetime")
        elif kind == "text":
            sums[f"{table}_{name}_kinds"] = (f"count(DISTINCT {cell})", "integer")
        if dated and name != dated and name not in side.ways:
            sums[f"{table}_{name}_last"] = (f"max_by({cell}, m.{sql.name(dated)})", kind)
    return sums


def _number(side: Side, name: str, cell: str, kind: str) -> str | None:
    way = side.ways.get(name)
    if way is None:
        return f"CAST({cell} AS DOUBLE)"
    if not isinstance(way, NumberParser) or any(factor != 1 for factor in way.after.values()):
        return None
    if kind != "number" or way.missing:
        return None
    plain = f"regexp_replace({cell}, '[^0-9eE.,+-]', '', 'g')"
    if way.group:
        plain = f"replace({plain}, {sql.text(way.group)}, '')"
    return f"TRY_CAST(replace({plain}, {sql.text(way.decimal)}, '.') AS DOUBLE)"
