"""Description of Parquet and JSON files as tables of plain types."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from app.computations.uploads import sql
from app.computations.uploads.column_names import check_width, mend_names
from app.computations.uploads.exact_integers import has_long_integer, is_rounded, narrow_integers
from app.computations.uploads.expansion_limits import check_columnar
from app.computations.uploads.foreign_text import read_head
from app.computations.uploads.json_faults import refuse_broken_json
from app.computations.uploads.json_paths import (
    MAX_DEPTH,
    Keys,
    double_paths,
    is_record,
    list_paths,
    replace_type,
    split_fields,
    unnest_path,
)
from app.errors import InvalidInput, TooLarge
from app.plans.identifiers import quote_identifier

_QUOTED_PATH = re.compile(r""" (['"])/[^'"]*\1""")
"""A path of this machine in a message of DuckDB, which users do not see."""

# DuckDB's type, up to its first bracket -> plain type and SQL. Types that are not types_sql become text.
_PLAIN: dict[str, tuple[str, str]] = {
    "BOOLEAN": ("boolean", "{c}"),
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"),
        ("integer", "CAST({c} AS BIGINT)"),
    ),
    # Whole numbers beyond 64 bits with a sign.
    "UBIGINT": ("number", "CAST({c} AS DOUBLE)"),
    "HUGEINT": ("number", "CAST({c} AS DOUBLE)"),
    "UHUGEINT": ("number", "CAST({c} AS DOUBLE)"),
    "DECIMAL": ("number", "CAST({c} AS DOUBLE)"),
    "FLOAT": ("number", "CASE WHEN isfinite({c}) THEN CAST({c} AS DOUBLE) END"),
    "DOUBLE": ("number", "CASE WHEN isfinite({c}) THEN {c} END"),
    "VARCHAR": ("text", "{c}"),
    "ENUM": ("text", "CAST({c} AS VARCHAR)"),
    "UUID": ("text", "CAST({c} AS VARCHAR)"),
    "TIME": ("text", "CAST({c} AS VARCHAR)"),
    **dict.fromkeys(
        ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
        ("datetime", "CAST({c} AS TIMESTAMP)"),
    ),
    "TIMESTAMP WITH TIME ZONE": ("datetime", "timezone('UTC', {c})"),
    "NULL": ("text", "CAST({c} AS VARCHAR)"),
    # Texts among numbers, without their quotes.
    "JSON": ("text", "({c} ->> '$')"),
}
_NESTED = "CAST(to_json({c}) AS VARCHAR)"
_MAX_OBJECT_BYTES = 64 << 20
"""Size of one JSON object: a file of columns is a single one, and DuckDB's own limit is 16 MiB."""
_MIN_LISTS = 3
"""Lists of one length in an object from which they are columns, and its other members describe them."""
_MAX_SHOWN_LISTS = 3
"""Lists of an object that a note names besides the one that is read."""
_NUMBER_BYTES = 8
"""Bytes of a number, and of a text's place."""
_LENGTHS = {"VARCHAR": "strlen", "BLOB": "octet_length"}
"""Functions that count bytes without a look at them."""
MAX_LEVELS = 16
"""Levels of lists and records in a column: DuckDB plans its JSON in 0.05 s at 16, in over a minute at 60."""
_SHOWN_NAME = 60
"""Characters of a column's name in a message."""
_PARQUET_END_BYTES = 8
"""Bytes of the end of a Parquet file: the length of the footer before them, and `PAR1`."""
MAX_FOOTER_BYTES = 48 << 20
"""Bytes of a Parquet file's description of its row groups: half a million columns of row groups, which take ten
times as much memory, in a cell of a gigabyte. A billion rows in groups of the usual size have less."""
MAX_SMALL_GROUPS = 5_000
"""Row groups of few rows: each takes two milliseconds in a cell, however little is in it."""
MIN_GROUP_ROWS = 1_000
"""Rows of a group on average from which groups are not small."""
_MAX_ELEMENTS_PER_COLUMN = 8
"""Schema elements of a column: lists and maps take up to 5, and a record's fields become columns themselves."""


def parquet_table(connection: duckdb.DuckDBPyConnection, path: Path) -> sql.SourceTable:
    """Describe a Parquet file. Raises InvalidInput if it is damaged, TooLarge for too many columns or row
    groups, before they are read."""
    check_width(_schema_elements(path) // _MAX_ELEMENTS_PER_COLUMN, at_least=True)
    _check_footer(path)
    _check_row_groups(connection, path)
    source = f"read_parquet({sql.text(path)})"
    check_columnar(path.stat().st_size, _cell_bytes(connection, source, path.stat().st_size))
    return _plain_table(connection, source, {"kind": "parquet"}, "parquet")


def _cell_bytes(connection: duckdb.DuckDBPyConnection, source: str, size_bytes: int) -> int:
    """Count the bytes of all cells; only of texts that are longer than a number where values must repeat.

    A row of a file that takes less than a byte repeats earlier ones, as a dictionary's entry that a hundred
    million rows name. The texts of other files are bounded by their size, and not read twice.
    """
    columns = _list_columns(connection, source, "parquet")
    (rows,) = connection.execute(f"SELECT count(*) FROM {source}").fetchone() or (0,)  # noqa: S608
    lengths = [
        f"coalesce(sum({_LENGTHS[type_]}({quote_identifier(name)})), 0)"
        for name, type_ in columns
        if type_ in _LENGTHS
    ]
    text_bytes = 0
    if lengths and rows > size_bytes:
        query = f"SELECT {' + '.join(lengths)} FROM {source}"  # noqa: S608
        (text_bytes,) = connection.execute(query).fetchone() or (0,)
    return int(rows * _NUMBER_BYTES * len(columns) + text_bytes)


def _check_footer(path: Path) -> None:
    """Refuse a file that ends before its footer does, or whose footer lists too many row groups."""
    size_bytes = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size_bytes - _PARQUET_END_BYTES))
        end = file.read()
    footer_bytes = int.from_bytes(end[:4], "little")
    # `PARE`: an encrypted footer, of which the reader says so.
    if end[4:] not in (b"PAR1", b"PARE") or footer_bytes > size_bytes - _PARQUET_END_BYTES:
        raise InvalidInput(
            "damaged_file",
            "The Parquet file is cut short: its end, which describes its columns, is missing. Send the file"
            " again, or write it again where it comes from.",
        )
    if footer_bytes > MAX_FOOTER_BYTES:
        raise _too_many_groups(f"describes its row groups in {footer_bytes:,} bytes", MAX_FOOTER_BYTES)


def _check_row_groups(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a file of many row groups of few rows; a damaged file is reported where its columns are listed."""
    query = f"SELECT num_row_groups, num_rows FROM parquet_file_metadata({sql.text(path)})"  # noqa: S608
    with suppress(duckdb.InvalidInputException):
        groups, rows = connection.execute(query).fetchone() or (0, 0)
        if groups > MAX_SMALL_GROUPS and rows < groups * MIN_GROUP_ROWS:
            raise _too_many_groups(f"has {groups:,} row groups for {rows:,} rows", MAX_SMALL_GROUPS)


def _too_many_groups(fault: str, limit: int) -> TooLarge:
    return TooLarge(
        "too_many_row_groups",
        f"The Parquet file {fault}; at most {limit:,} are read. Write it with larger row groups, of 100,000"
        " rows or more.",
        limit=limit,
    )


def _schema_elements(path: Path) -> int:
    """Count the elements of a Parquet file's schema by its footer; 0 if the footer is not understood.

    The footer is Thrift's compact protocol, of which the first fields are read: the version, and the head of
    the list of elements. Reading all of a footer of a million columns takes seconds and a gigabyte.
    """
    with path.open("rb") as file:
        size_bytes = path.stat().st_size
        file.seek(max(0, size_bytes - _PARQUET_END_BYTES))
        footer_bytes = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size_bytes - _PARQUET_END_BYTES - footer_bytes))
        head = file.read(32)
    match = re.match(rb"(?s)\x15[\x80-\xff]*[\x00-\x7f]\x19([\x0c-\xfc])([\x80-\xff]*[\x00-\x7f])", head)
    if match is None:
        return 0
    short = match[1][0] >> 4
    return short if short < 15 else sum((byte & 127) << (7 * place) for place, byte in enumerate(match[2]))


@dataclass(frozen=True)
class _JsonSource:
    """SQL of the objects of a JSON file, and its columns: to list them is to parse the complete file."""

    sql: str
    columns: list[tuple[str, str]]


def json_table(connection: duckdb.DuckDBPyConnection, path: Path) -> sql.SourceTable:
    """Describe JSON: an array of objects, an object per line, or one object that holds such an array or its
    columns."""
    # All records are looked at: a field may occur for the first time in the last one.
    select = f"read_json({sql.text(path)}, maximum_object_size={_MAX_OBJECT_BYTES}, sample_size=-1)"
    try:
        source = _JsonSource(select, _list_columns(connection, select, "JSON"))
    except InvalidInput as error:
        refuse_broken_json(path, str(error))
        raise
    depth = MAX_DEPTH if read_head(path).lstrip().startswith("{") else 1
    if any(list_paths(source.columns, depth, "MAP")):
        # Records with few fields in common, which DuckDB takes for maps.
        select = f"{select.removesuffix(')')}, map_inference_threshold=-1)"
        source = _JsonSource(select, _list_columns(connection, select, "JSON"))
    source = _exact_source(connection, path, source)
    rows = _unnest_rows(connection, source, depth)
    columns = source.columns if rows.source == source.sql else None
    table = _plain_table(connection, rows.source, {"kind": "json"}, "JSON", columns)
    return replace(table, notes=(*rows.notes, *table.notes))


def _exact_source(connection: duckdb.DuckDBPyConnection, path: Path, source: _JsonSource) -> _JsonSource:
    """The objects with long whole numbers as text, which DuckDB would round to doubles."""
    doubles = list(double_paths(source.columns))
    if not doubles or not has_long_integer(path):
        return source
    types = dict(source.columns)
    for keys in doubles:
        if is_rounded(connection, unnest_path(source.columns, keys, source.sql)):
            types[keys[0]] = replace_type(types[keys[0]], keys[1:], "VARCHAR")
    if types == dict(source.columns):
        return source
    types_sql = ", ".join(f"{quote_identifier(name)}: {sql.text(type_)}" for name, type_ in types.items())
    select = f"{source.sql.removesuffix(')')}, columns={{{types_sql}}})"
    return _JsonSource(select, _list_columns(connection, select, "JSON"))


@dataclass(frozen=True)
class JsonRows:
    """SQL of the rows of a JSON file, with a note on where in an object they stand."""

    source: str
    notes: tuple[str, ...] = ()


def _unnest_rows(connection: duckdb.DuckDBPyConnection, objects: _JsonSource, depth: int) -> JsonRows:
    """Find the rows that a single object holds as a list of records or as lists that are columns.

    Without either, and for files of several objects, they are `objects` themselves.
    """
    source, columns = objects.sql, objects.columns
    lists = [name for name, type_ in columns if type_.endswith("[]")]
    records = list(list_paths(columns, depth))
    if not records and (not lists or (len(lists) < len(columns) and len(lists) < _MIN_LISTS)):
        return JsonRows(source)
    # Two rows are enough to tell one object from several, without reading the file.
    (rows,) = connection.execute(f"SELECT count(*) FROM (FROM {source} LIMIT 2)").fetchone() or (0,)  # noqa: S608
    if rows != 1:
        return JsonRows(source)
    if records:
        # Lists of records are tables of their own, which have no rows in common.
        return _longest_list(connection, source, records)
    if len(lists) < len(columns) and not _have_one_length(connection, source, lists):
        return JsonRows(source)
    cells = ", ".join(f"unnest({quote_identifier(name)}) AS {quote_identifier(name)}" for name in lists)
    return JsonRows(f"(SELECT {cells} FROM {source})")  # noqa: S608


def _longest_list(connection: duckdb.DuckDBPyConnection, source: str, paths: Sequence[Keys]) -> JsonRows:
    cells = {path: ".".join(map(quote_identifier, path)) for path in paths}
    lengths = ", ".join(f"coalesce(len({cell}), 0)" for cell in cells.values())
    row = connection.execute(f"SELECT {lengths} FROM {source}").fetchone() or ()  # noqa: S608
    (longest, _), *others = sorted(zip(paths, map(int, row), strict=True), key=lambda item: -item[1])
    rows = f"(SELECT unnest({cells[longest]}, max_depth := 2) FROM {source})"  # noqa: S608
    if len(longest) == 1 and not others:
        return JsonRows(rows)
    names = [f"{'.'.join(other)} ({length:,})" for other, length in others[:_MAX_SHOWN_LISTS]]
    note = f"The rows are those of {'.'.join(longest)}"
    return JsonRows(rows, (f"{note}, not of {', '.join(names)}." if names else f"{note}.",))


def _have_one_length(connection: duckdb.DuckDBPyConnection, source: str, lists: Sequence[str]) -> bool:
    """Test for lists of one length, beside a status or title (`{"s": "ok", "t": [1, 2], "c": [3, 4], ...}`)."""
    lengths = ", ".join(f"len({quote_identifier(name)})" for name in lists)
    row = connection.execute(f"SELECT {lengths} FROM {source}").fetchone() or ()  # noqa: S608
    return len(set(row)) == 1


def _list_columns(connection: duckdb.DuckDBPyConnection, source: str, kind: str) -> list[tuple[str, str]]:
    """Return names and DuckDB types. Raises InvalidInput with DuckDB's reason, without the file's path."""
    try:
        rows = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        if "maximum_object_size" in first:
            raise TooLarge(
                "too_large_to_read",
                f"The JSON file has an object of more than {_MAX_OBJECT_BYTES >> 20} MiB: send its rows as a"
                " list of objects, or one object per line.",
                limit=_MAX_OBJECT_BYTES,
            ) from error
        message = _QUOTED_PATH.sub("", first)[:300]
        raise InvalidInput("damaged_file", f"The {kind} file cannot be read: {message}") from error
    return [(row[0], row[1]) for row in rows]


def plain_columns(
    described: Iterable[tuple[str, str, str]],
) -> tuple[list[sql.Column], list[str], list[str]]:
    """Convert `(name, DuckDB type, SQL path)` of each column: plain columns, the SQL of each, and notes."""
    leaves = [leaf for name, type_, path in described for leaf in _leaves(name, type_, path)]
    names, notes = mend_names([leaf.name for leaf in leaves])
    notes += [f"{name}: {leaf.note}" for name, leaf in zip(names, leaves, strict=True) if leaf.note]
    columns = [{"name": name, "type": leaf.type} for name, leaf in zip(names, leaves, strict=True)]
    cells = [f"{leaf.sql} AS {quote_identifier(name)}" for name, leaf in zip(names, leaves, strict=True)]
    return columns, cells, notes


def _plain_table(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    format_: dict[str, object],
    kind: str,
    own_columns: list[tuple[str, str]] | None = None,
) -> sql.SourceTable:
    """Describe the rows of a source; `own_columns`: its columns, if they are known already."""
    stored_columns = own_columns or _list_columns(connection, source, kind)
    for name, type_ in stored_columns:
        if _levels(type_) > MAX_LEVELS:
            raise InvalidInput(
                "nested_too_deeply",
                f"The column {name[:_SHOWN_NAME]!r} nests values more than {MAX_LEVELS} levels deep.",
                limit=MAX_LEVELS,
            )
    typed = narrow_integers(connection, source, stored_columns)
    columns, cells, notes = plain_columns(
        (name, type_, _exact_path(name, type_, before))
        for (name, type_), (_, before) in zip(typed, stored_columns, strict=True)
    )
    return sql.SourceTable(f"SELECT {', '.join(cells)} FROM {source}", columns, format_, tuple(notes))  # noqa: S608


def _exact_path(name: str, type_: str, stored_type: str) -> str:
    cell = quote_identifier(name)
    return cell if type_ == stored_type else f"CAST({cell} AS {type_})"


def _levels(type_: str) -> int:
    """Count the levels of lists and records of a DuckDB type: `STRUCT(a BIGINT[], b DATE)[]` has three."""
    deepest, current, quoted = [0], 0, False
    for mark in type_:
        quoted ^= mark == '"'
        if quoted:
            continue
        if mark == "(":
            deepest.append(0)
            current = 0
        elif mark == "[":
            current += 1
        elif mark in ",)":
            deepest[-1] = max(deepest[-1], current)
            current = deepest.pop() + 1 if mark == ")" and len(deepest) > 1 else 0
    return max(*deepest, current)


class _Leaf:
    """A plain column; `path` is the SQL of its source."""

    def __init__(self, name: str, path: str, type_: str) -> None:
        base = re.split(r"[(\[]", type_, maxsplit=1)[0].strip()
        nested = type_.endswith("]") or base in ("STRUCT", "MAP", "UNION", "LIST", "VARIANT")
        plain, how = ("text", _NESTED) if nested else _PLAIN.get(base, ("text", "CAST({c} AS VARCHAR)"))
        self.name = name
        self.type = plain
        self.sql = how.replace("{c}", path)
        self.note = ""
        if nested:
            self.note = "nested values are kept as JSON text."
        elif base not in _PLAIN:
            self.note = f"values of type {base} are kept as text."


def _leaves(name: str, type_: str, path: str) -> list[_Leaf]:
    """Split a record into columns `record.field`, one level deep."""
    if not is_record(type_):
        return [_Leaf(name, path, type_)]
    return [
        _Leaf(f"{name}.{field}", f"{path}.{quote_identifier(field)}", inner)
        for field, inner in split_fields(type_)
    ]
