"""Which columns join two tables: found by name, and by the values that both have."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import duckdb

from app.computations.join_discovery.tables import Side, rows_and_keys, shared_values, stems

ENOUGH = 0.5
"""Share of keys that must find a partner, of columns of one name."""
NEARLY_ALL = 0.95
"""Share that is needed where only the values speak."""
MIN_KEYS = 10
_KEY_WORDS = frozenset({"id", "key", "code", "no", "nr", "number", "uuid", "sku"})


@dataclass(frozen=True)
class Key:
    """`pairs` of columns (left, right). `found`: share of the left's keys that the right has, `back`: of the
    right's that the left has. `rows` and different `keys` of the right. `as_of`: moments (left, right); rows of
    the right count that came before."""

    left: str
    right: str
    pairs: tuple[tuple[str, str], ...]
    by: str
    found: float = 0.0
    back: float = 0.0
    rows: int = 0
    keys: int = 0
    as_of: tuple[str, str] | None = None

    @property
    def is_lookup(self) -> bool:
        """The right has at most one row for a key, so nothing can multiply."""
        return self.rows == self.keys

    @property
    def strength(self) -> tuple[float, ...]:
        return (self.by == "name", self.is_lookup, max(self.found, self.back), -len(self.pairs))


def find_key(connection: duckdb.DuckDBPyConnection, left: Side, right: Side) -> tuple[Key | None, str]:
    """The best key that joins two tables; or None and why there is none."""
    tried = [_measured(connection, key, left, right) for key in _candidates(left, right)]
    kept = [key for key in tried if _holds(key)]
    kept += _together(connection, kept, left, right)
    if kept:
        return max(kept, key=lambda key: key.strength), ""
    if named := [key for key in tried if key.by == "name"]:
        names = ", ".join(f"`{key.pairs[0][0]}`" for key in named[:3])
        return None, f"their columns {names} have hardly a value in common"
    return None, f"it shares no column with `{left.name}`"


def _candidates(left: Side, right: Side) -> Iterator[Key]:
    for mine, kind in left.types.items():
        for theirs, other in right.types.items():
            if not _comparable(kind, other):
                continue
            if _same_name(left, mine, right, theirs):
                yield Key(left.name, right.name, ((mine, theirs),), "name")
            elif kind == other == "text" and not {mine, theirs} & {*left.kinds, *right.kinds}:
                yield Key(left.name, right.name, ((mine, theirs),), "values")


def _comparable(kind: str, other: str) -> bool:
    return (kind == other and kind in ("integer", "text", "datetime")) or {kind, other} == {"integer", "text"}


def _same_name(left: Side, mine: str, right: Side, theirs: str) -> bool:
    """One name, or `id` of one table and `<table>_id` in the other."""
    ours, other = stems(mine), stems(theirs)
    if ours == other:
        return True
    return _names_table(ours, other, right) or _names_table(other, ours, left)


def _names_table(longer: tuple[str, ...], shorter: tuple[str, ...], table: Side) -> bool:
    """`customer_id` is the `id` of customers, and so is `customer`."""
    words = stems(table.name)
    return len(shorter) == 1 and shorter[0] in _KEY_WORDS and longer in ((*words, shorter[0]), words)


def _measured(connection: duckdb.DuckDBPyConnection, key: Key, left: Side, right: Side) -> Key:
    found, back = shared_values(connection, left, right, key.pairs)
    if not found:
        return key
    rows, keys = rows_and_keys(connection, right, [pair[1] for pair in key.pairs])
    return replace(key, found=found, back=back, rows=rows, keys=keys)


def _holds(key: Key) -> bool:
    """Few keys that repeat, such as a status, hold two tables together only where they are called keys."""
    if not key.keys:
        return False
    if not key.is_lookup and key.keys < MIN_KEYS and not _KEY_WORDS & set(stems(key.pairs[0][1])):
        return False
    if key.by == "name":
        return max(key.found, key.back) >= ENOUGH
    return key.found >= NEARLY_ALL and key.is_lookup


def _together(connection: duckdb.DuckDBPyConnection, kept: list[Key], left: Side, right: Side) -> list[Key]:
    """All columns of one name as one key, where they name the right's rows and no single one does."""
    named = [key for key in kept if key.by == "name"]
    if len(named) < 2 or any(key.is_lookup for key in named):
        return []
    pairs = tuple(key.pairs[0] for key in named)
    whole = _measured(connection, Key(left.name, right.name, pairs, "name"), left, right)
    return [whole] if whole.rows and whole.is_lookup and max(whole.found, whole.back) >= ENOUGH else []
