"""Names of datasets and of their tables in SQL."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

_ENDINGS = re.compile(
    r"(?i)(\.(csv|tsv|txt|tab|parquet|pq|xlsx?|xlsb|xlsm|ods|json|jsonl|ndjson|gz|zst|bz2|xz|zip)){1,9}$"
)
_RESERVED = frozenset(
    (  # noqa: SIM905 - a list of ninety quoted words is harder to read
        "all analyse analyze and any array as asc between both by case cast check collate column constraint"
        " create cross current date default desc describe distinct do else end except exists extract false"
        " fetch for foreign from full group having if in inner intersect interval into is join lambda lateral"
        " left like limit natural not null offset on only or order outer over partition pivot primary qualify"
        " references returning right row rows sample select set show some summarize table test then to true"
        " union unique unpivot user using values when where window with"
        " asymmetric deferrable initially leading pivot_longer pivot_wider placing symmetric trailing variadic"
    ).split()
)
_MAX_TABLE_NAME_CHARS = 48
"""Characters of a table name without its number, so that statements stay readable."""
_MAX_NAME_CHARS = 120
"""Characters of a dataset's name, which lists show on one line."""


def make_dataset_name(filename: str) -> str:
    """Make a printable name: the last part of a path without the suffixes of table files."""
    # Both separators: the file may come from another system than this one.
    last = re.split(r"[/\\]", filename)[-1]
    printable = "".join(char if char.isprintable() else " " for char in _ENDINGS.sub("", last))
    return " ".join(printable.split())[:_MAX_NAME_CHARS] or "dataset"


def make_table_names(names: Sequence[str], reserved: Iterable[str] = ()) -> list[str]:
    """Make a unique SQL name for each dataset that needs no quotes and is not `reserved`."""
    used = set(reserved)
    tables: list[str] = []
    for name in names:
        base = _slug(name)
        table, n = base, 2
        while table in used:
            table, n = f"{base}_{n}", n + 1
        used.add(table)
        tables.append(table)
    return tables


def _slug(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "_", ascii_only).strip("_")[:_MAX_TABLE_NAME_CHARS].strip("_")
    if not slug or slug in _RESERVED:
        return f"table_{slug}".rstrip("_")
    # A name that begins with a digit would need quotes.
    return f"t_{slug}" if slug[0].isdigit() else slug
