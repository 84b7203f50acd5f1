"""Join keys of two tables, by column names and by common values."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import duckdb

from app.computations.join_discovery.tables import JoinTable, count_rows_and_keys, match_shares, stem_words

MIN_NAMED_MATCH = 0.5
"""Share of keys that must match, of columns with the same name."""
MIN_VALUE_MATCH = 0.95
"""Share of keys that must match, of columns with different names."""
MIN_KEYS = 10
"""Distinct keys: fewer repeated values are categories, unless the column is named as a key."""
_KEY_WORDS = frozenset({"id", "key", "code", "no", "nr", "number", "uuid", "sku"})


@dataclass(frozen=True)
class JoinKey:
    """A join of two tables on `pairs` of columns (left, right).

    `left_match`: share of the left's keys that the right has; `right_match`: share of the right's that the left
    has. `rows` and distinct `keys` of the right. `as_of`: time columns (left, right); only earlier rows of the
    right count.
    """

    left: str
    right: str
    pairs: tuple[tuple[str, str], ...]
    by: str
    left_match: float = 0.0
    right_match: float = 0.0
    rows: int = 0
    keys: int = 0
    as_of: tuple[str, str] | None = None

    @property
    def is_lookup(self) -> bool:
        """True if the right has at most one row per key, so that rows do not multiply."""
        return self.rows == self.keys

    @property
    def strength(self) -> tuple[float, ...]:
        return (self.by == "name", self.is_lookup, max(self.left_match, self.right_match), -len(self.pairs))


def find_key(
    connection: duckdb.DuckDBPyConnection, left: JoinTable, right: JoinTable
) -> tuple[JoinKey | None, str]:
    """Find the best key that joins two tables; or None with the reason."""
    measured = [_measure(connection, key, left, right) for key in _candidates(left, right)]
    valid = [key for key in measured if _is_valid(key)]
    valid += _combine_keys(connection, valid, left, right)
    if valid:
        return max(valid, key=lambda key: key.strength), ""
    if same_name := [key for key in measured if key.by == "name"]:
        names = ", ".join(f"`{key.pairs[0][0]}`" for key in same_name[:3])
        return None, f"their columns {names} have hardly any value in common"
    return None, f"it shares no column with `{left.name}`"


def _candidates(left: JoinTable, right: JoinTable) -> Iterator[JoinKey]:
    for left_column, kind in left.types.items():
        for right_column, right_kind in right.types.items():
            if not _comparable(kind, right_kind):
                continue
            if _same_name(left, left_column, right, right_column):
                yield JoinKey(left.name, right.name, ((left_column, right_column),), "name")
            # Texts of numbers and dates are measurements, whose values coincide without a relation.
            elif kind == right_kind == "text" and not {left_column, right_column} & {*left.kinds, *right.kinds}:
                yield JoinKey(left.name, right.name, ((left_column, right_column),), "values")


def _comparable(kind: str, other: str) -> bool:
    return (kind == other and kind in ("integer", "text", "datetime")) or {kind, other} == {"integer", "text"}


def _same_name(left: JoinTable, left_column: str, right: JoinTable, right_column: str) -> bool:
    """Return true for equal names, or `id` of one table and `<table>_id` of the other."""
    left_words, right_words = stem_words(left_column), stem_words(right_column)
    if left_words == right_words:
        return True
    return _names_table(left_words, right_words, right) or _names_table(right_words, left_words, left)


def _names_table(longer: tuple[str, ...], shorter: tuple[str, ...], table: JoinTable) -> bool:
    """Return true if `longer` is the table's name before its key: `customer_id` for the `id` of customers."""
    words = stem_words(table.name)
    return len(shorter) == 1 and shorter[0] in _KEY_WORDS and longer in ((*words, shorter[0]), words)


def _measure(connection: duckdb.DuckDBPyConnection, key: JoinKey, left: JoinTable, right: JoinTable) -> JoinKey:
    left_match, right_match = match_shares(connection, left, right, key.pairs)
    if not left_match:
        return key
    rows, keys = count_rows_and_keys(connection, right, [pair[1] for pair in key.pairs])
    return replace(key, left_match=left_match, right_match=right_match, rows=rows, keys=keys)


def _is_valid(key: JoinKey) -> bool:
    """Return true if enough keys match; a few repeated values, such as a status, only count if named as a
    key."""
    if not key.keys:
        return False
    if not key.is_lookup and key.keys < MIN_KEYS and not _KEY_WORDS & set(stem_words(key.pairs[0][1])):
        return False
    if key.by == "name":
        # One side is enough: the orders of a month name few of all customers.
        return max(key.left_match, key.right_match) >= MIN_NAMED_MATCH
    # Without a name the values alone must say it, and rows must not multiply.
    return key.left_match >= MIN_VALUE_MATCH and key.is_lookup


def _combine_keys(
    connection: duckdb.DuckDBPyConnection, keys: list[JoinKey], left: JoinTable, right: JoinTable
) -> list[JoinKey]:
    """Combine all columns with equal names to one key, if they identify the right's rows and no single one
    does."""
    same_name = [key for key in keys if key.by == "name"]
    if len(same_name) < 2 or any(key.is_lookup for key in same_name):
        return []
    pairs = tuple(key.pairs[0] for key in same_name)
    combined = _measure(connection, JoinKey(left.name, right.name, pairs, "name"), left, right)
    return (
        [combined]
        if combined.rows
        and combined.is_lookup
        and max(combined.left_match, combined.right_match) >= MIN_NAMED_MATCH
        else []
    )
