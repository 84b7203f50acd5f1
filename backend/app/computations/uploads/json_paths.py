"""Paths of lists and numbers inside DuckDB's types of JSON, such as `STRUCT(data STRUCT(id BIGINT)[])`."""

import re
from collections.abc import Iterator, Sequence

from app.plans.identifiers import quote_identifier

MAX_DEPTH = 4
"""Levels that are searched for records, as in `{"result": {"data": {"records": [...]}}}`."""
SCHEMA_KEY = "schema"
"""Object that describes the columns, as pandas' `orient="table"` writes it: its lists are no rows."""
Keys = tuple[str, ...]
"""Names of nested fields, from the outermost to the innermost."""


def list_paths(
    columns: Sequence[tuple[str, str]], depth: int, element: str = "STRUCT", keys: Keys = ()
) -> Iterator[Keys]:
    """Yield the paths of lists of records under the fields of nested records, the outer ones first."""
    for name, type_ in columns if depth else ():
        if type_.startswith(f"{element}(") and type_.endswith(")[]"):
            yield (*keys, name)
        elif name != SCHEMA_KEY and is_record(type_):
            yield from list_paths(split_fields(type_), depth - 1, element, (*keys, name))


def double_paths(columns: Sequence[tuple[str, str]], keys: Keys = ()) -> Iterator[Keys]:
    """Yield the paths of doubles in records and in lists, at any depth."""
    for name, type_ in columns:
        element = type_.rstrip("[]")
        if element == "DOUBLE":
            yield (*keys, name)
        elif is_record(element):
            yield from double_paths(split_fields(element), (*keys, name))


def replace_type(type_: str, keys: Keys, new: str) -> str:
    """Replace the type at a path; lists on the way are kept."""
    element = type_.rstrip("[]")
    lists = type_[len(element) :]
    if not keys:
        return new + lists
    fields = (
        f"{quote_identifier(name)} {replace_type(inner, keys[1:], new) if name == keys[0] else inner}"
        for name, inner in split_fields(element)
    )
    return f"STRUCT({', '.join(fields)}){lists}"


def unnest_path(columns: Sequence[tuple[str, str]], keys: Keys, source: str) -> str:
    """The SQL of a single column `v` with all values at a path; lists on the way are unnested."""
    types = dict(columns)
    query = f"SELECT {quote_identifier(keys[0])} AS v FROM {source}"  # noqa: S608 - the name is quoted
    type_ = types[keys[0]]
    for place, _ in enumerate(keys):
        if place:
            query = f"SELECT v.{quote_identifier(keys[place])} AS v FROM ({query})"  # noqa: S608 - quoted
        while type_.endswith("[]"):
            query = f"SELECT unnest(v) AS v FROM ({query})"  # noqa: S608 - no text of the file
            type_ = type_.removesuffix("[]")
        type_ = dict(split_fields(type_)).get(keys[place + 1], "") if place + 1 < len(keys) else type_
    return query


def is_record(type_: str) -> bool:
    return type_.startswith("STRUCT(") and type_.endswith(")")


def split_fields(record: str) -> list[tuple[str, str]]:
    """Split `STRUCT(a BIGINT, "b c" STRUCT(x BIGINT))` into pairs of name and type."""
    inside = record.removeprefix("STRUCT(")[:-1]
    parts, depth, quoted, start = [], 0, False, 0
    for at, mark in enumerate(inside):
        quoted ^= mark == '"'
        if not quoted:
            depth += (mark in "([") - (mark in ")]")
            if mark == "," and depth == 0:
                parts.append(inside[start:at].strip())
                start = at + 1
    parts.append(inside[start:].strip())
    matches = (re.fullmatch(r'(?s)("(?:[^"]|"")*"|\S+)\s+(.*)', part) for part in parts)
    return [(match[1].strip('"').replace('""', '"'), match[2]) for match in matches if match]
