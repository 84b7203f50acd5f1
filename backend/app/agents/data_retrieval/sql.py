"""SELECTs that make one table of what the plan names.

Names are quoted here, and the SELECT is parsed and admitted again where it runs (`computations.query`).
"""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from collections.abc import Sequence

from app.agents.planner.output import Cut
from app.agents.planner.tables import Table, join_key


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def cut_name(target: str, cut: Cut) -> str:
    return f"{target}_{'above' if cut.above else 'below'}_{cut.value:g}"


def with_cut(source: str, target: str, cut: Cut) -> str:
    """The source with the target replaced by a yes or no: is it above (below) the value?"""
    sign = ">" if cut.above else "<"
    made = f"CASE WHEN {quoted(target)} {sign} {cut.value:g} THEN 'yes' ELSE 'no' END"
    return (
        f"SELECT * EXCLUDE ({quoted(target)}), {made} AS {quoted(cut_name(target, cut))} "
        f"FROM ({source}) AS whole WHERE {quoted(target)} IS NOT NULL"
    )


def whole(table: str) -> str:
    return f"SELECT * FROM {quoted(table)}"


def joined(home: Table, others: Sequence[Table]) -> str | None:
    """The first table with the others beside it, one row for each of its own; None where no key is shared.

    A table with several rows for a key is summed up first: numbers by their mean, and how many rows there are.
    """
    parts, columns = [f"{quoted(home.name)} AS t0"], ["t0.*"]
    taken = {column.name for column in home.columns}
    for place, other in enumerate(others, start=1):
        key = join_key(home, other)
        if key is None:
            continue
        alias, side = f"t{place}", _side(other, key)
        new = [name for name in side.names if name not in taken]
        taken |= set(new)
        columns += [f"{alias}.{quoted(name)}" for name in new]
        parts.append(f"LEFT JOIN ({side.select}) AS {alias} ON t0.{quoted(key)} = {alias}.{quoted(key)}")
    return f"SELECT {', '.join(columns)} FROM {' '.join(parts)}" if len(parts) > 1 else None


class _Side:
    def __init__(self, select: str, names: Sequence[str]) -> None:
        self.select, self.names = select, names


def _side(table: Table, key: str) -> _Side:
    column = table.column(key)
    others = [c for c in table.columns if c.name != key]
    if column is None or column.unique or column.distinct >= table.rows:
        return _Side(whole(table.name), [c.name for c in others])
    numbers = [c.name for c in others if c.is_number and c.hint != "id"]
    means = [f"avg({quoted(name)}) AS {quoted(f'{table.name}_{name}_mean')}" for name in numbers]
    count = f"{table.name}_rows"
    select = ", ".join([quoted(key), f"count(*) AS {quoted(count)}", *means])
    names = [count, *(f"{table.name}_{name}_mean" for name in numbers)]
    return _Side(f"SELECT {select} FROM {quoted(table.name)} GROUP BY {quoted(key)}", names)
