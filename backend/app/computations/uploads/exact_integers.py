"""Whole numbers that 64 bits may not hold: whole numbers if all fit, and text else, as identifiers are."""

import re
from collections.abc import Sequence

import duckdb

from app.plans.identifiers import quote_identifier

ColumnTypes = list[tuple[str, str]]
"""Names of columns and their DuckDB types."""
_WIDE = re.compile(r"UBIGINT|HUGEINT|UHUGEINT|DECIMAL\(\d+,0\)")
"""Types of whole numbers that a double would round."""
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


def find_rounded(
    connection: duckdb.DuckDBPyConnection, source: str, columns: Sequence[tuple[str, str]]
) -> list[str]:
    """Columns of JSON that are doubles although all of their numbers are whole: they were rounded."""
    doubles = [name for name, type_ in columns if type_ == "DOUBLE"]
    flags = _measure(connection, source, doubles, _ROUNDED) if doubles else ()
    return [name for name, is_rounded in zip(doubles, flags, strict=True) if is_rounded]


_FITS = f"coalesce(min({{c}}) >= {_MIN_INTEGER} AND max({{c}}) <= {_MAX_INTEGER}, true)"
# Physical measures of this size are written with an exponent, but are whole numbers as well: all must be.
_ROUNDED = f"coalesce(max(abs({{c}})) > {_MAX_INTEGER} AND bool_and({{c}} = trunc({{c}})), false)"


def _measure(
    connection: duckdb.DuckDBPyConnection, source: str, names: Sequence[str], expression: str
) -> tuple[bool, ...]:
    cells = ", ".join(expression.replace("{c}", quote_identifier(name)) for name in names)
    return connection.execute(f"SELECT {cells} FROM {source}").fetchone() or ()  # noqa: S608
