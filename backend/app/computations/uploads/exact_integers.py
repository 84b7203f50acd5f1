"""Whole numbers that 64 bits may not hold: whole numbers if all fit, and text else, as identifiers are."""

import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from app.plans.identifiers import quote_identifier

ColumnTypes = list[tuple[str, str]]
"""Names of columns and their DuckDB types."""
_WIDE = re.compile(r"UBIGINT|HUGEINT|UHUGEINT|DECIMAL\(\d+,0\)")
"""Types of whole numbers that a double would round."""
_LONG_DIGITS = 19
"""Digits of the largest whole number of 64 bits."""
_LONG_INTEGER = re.compile(rb"\d{%d}" % _LONG_DIGITS)
_PIECE_BYTES = 4 << 20
"""Bytes that are searched at a time: little memory, and few calls."""
_MIN_INTEGER = -(2**63)
"""Least whole number of 64 bits."""
_MAX_INTEGER = 2**63 - 1
"""Largest whole number of 64 bits."""


def narrow_integers(
    connection: duckdb.DuckDBPyConnection, source: str, columns: Sequence[tuple[str, str]]
) -> ColumnTypes:
    """Replace the type of wide whole numbers by BIGINT where all fit, and by VARCHAR where one does not."""
    wide = [name for name, type_ in columns if _WIDE.fullmatch(type_)]
    is_narrow = dict(zip(wide, _measure(connection, source, wide, _FITS), strict=True)) if wide else {}
    return [
        (name, type_ if name not in is_narrow else "BIGINT" if is_narrow[name] else "VARCHAR")
        for name, type_ in columns
    ]


def has_long_integer(path: Path) -> bool:
    """Test whether so many digits stand in a row in a text that they may be a number beyond 64 bits."""
    rest = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            if _LONG_INTEGER.search(rest + piece):
                return True
            rest = piece[1 - _LONG_DIGITS :]
    return False


def is_rounded(connection: duckdb.DuckDBPyConnection, query: str) -> bool:
    """Test whether all values of the query's column `v`, which are doubles, are whole: they were rounded."""
    row = connection.execute(f"SELECT {_ROUNDED.replace('{c}', 'v')} FROM ({query})").fetchone()  # noqa: S608
    return bool(row and row[0])


_FITS = f"coalesce(min({{c}}) >= {_MIN_INTEGER} AND max({{c}}) <= {_MAX_INTEGER}, true)"
# Physical measures of this size are written with an exponent, but are whole numbers as well: all must be.
_ROUNDED = f"coalesce(max(abs({{c}})) > {_MAX_INTEGER} AND bool_and({{c}} = trunc({{c}})), false)"


def _measure(
    connection: duckdb.DuckDBPyConnection, source: str, names: Sequence[str], expression: str
) -> tuple[bool, ...]:
    cells = ", ".join(expression.replace("{c}", quote_identifier(name)) for name in names)
    return connection.execute(f"SELECT {cells} FROM {source}").fetchone() or ()  # noqa: S608
