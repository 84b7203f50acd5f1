"""Columns of the records that a JSON text begins with, counted before a reader lists them."""

import re
from pathlib import Path

from app.computations.uploads.column_names import MAX_COLUMNS, check_width

_HEAD_CHARS = 8 << 20
"""A record of MAX_COLUMNS columns with names and values of 1,000 characters; scanned in about 0.5 s."""
# A text that the head cuts off ends with it: without that, each quotation mark in it would begin a search anew.
_TOKEN = re.compile(r'"(?:[^"\\]|\\[\s\S])*+(?:"|\\?\Z)|[{}\[\]:]')


def check_json_width(path: Path) -> None:
    """Raise TooLarge where one object, or the records of the text's beginning together, have too many columns.

    Keys whose values are objects or arrays do not count: an object may hold its rows by their times.
    """
    with path.open(encoding="utf-8") as file:
        head = file.read(_HEAD_CHARS)
    counts: list[int] = []
    names: set[str] = set()
    name = ""
    tokens = [match.group() for match in _TOKEN.finditer(head)]
    for place, mark in enumerate(tokens):
        if mark in "{[":
            counts.append(0)
        elif mark in "}]":
            if counts:
                counts.pop()
        elif mark != ":":
            name = mark
        elif counts and tokens[place + 1 : place + 2] not in (["{"], ["["]):
            counts[-1] += 1
            if counts[-1] > MAX_COLUMNS:
                check_width(counts[-1], at_least=True)
            # Records at the top, or in an array there; deeper objects become text where they differ.
            if len(counts) <= _RECORD_DEPTH:
                names.add(name)
                check_width(len(names), at_least=True)


_RECORD_DEPTH = 2
"""Brackets that may be open at a record: those of the list and of the record itself."""
