"""Words of clauses: columns that they name, numbers, and nouns of rows."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

MIN_LIKENESS = 0.85
"""Likeness (of `difflib`, 0 to 1) of a misspelled name: `pirce` is `price`, `total` is not `rate`."""
NUMBER = r"[$€£]?-?\d{1,3}(?:,\d{3})+(?:\.\d{1,15})?|[$€£]?-?\d{1,15}(?:\.\d{1,15})?"
COUNT = r"\d{1,7}"
COLUMN = r"[A-Za-z_]\w{0,60}(?: \w{1,60}){0,3}?"
"""Words that may name a column: which it is says `find_named_column`."""
TABLE_NOUN = r"(?:result|answer|table|rows?|list|data|output|report|records?|entries|numbers?|figures?|totals?)"
GENERIC_ROWS = r"(?:rows?|records?|entries|lines|results?|items|ones|those|them|data)"
ROWS = rf"(?:{GENERIC_ROWS}|[a-z_]\w{{0,40}}s)"
"""Nouns of rows; any plural may be one: `keep the orders where ...`."""
OBJECT = (
    r"(?:it|them|that|this|these|those|everything|"
    rf"(?:the |that |this |all |all of the )(?:\w{{1,20}} )?{TABLE_NOUN})"
)
"""What is meant by the table as it is."""
_NO_COLUMNS = frozenset(
    {"me", "it", "them", "us", "that", "this", "these", "those", "rows", "row", "result", "results", "table"}
    | {"everything", "all", "and", "or", "the", "by", "of", "to", "in", "for", "with", "where", "is", "are"}
    | {"not", "no", "any", "each", "every"}
)
"""Words that name no column, whatever a table has."""


def find_named_column(words: str, columns: Sequence[str]) -> str | None:
    """Return the column that all of the words name; a single word where no columns are known."""
    name = re.sub(r"^(?:the|an?|its|their|his|her) ", "", words.strip(), flags=re.IGNORECASE).strip("\"'`")
    # Before a run the columns of an answer are not known; a single word is then taken for a name.
    if not columns:
        return name if re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in _NO_COLUMNS else None
    key = _make_key(name)
    keys = {column: _make_key(column) for column in columns}
    # The strictest reading that fits decides, and two columns of one reading are ambiguous.
    for matching in (
        [column for column in columns if column == name],
        [column for column, other in keys.items() if other == key],
        [column for column, other in keys.items() if other.removesuffix("s") == key.removesuffix("s")],
        [column for column, other in keys.items() if key in other.split("_")],
    ):
        if matching:
            return matching[0] if len(matching) == 1 else None
    close = get_close_matches(key, keys.values(), n=2, cutoff=MIN_LIKENESS)
    return next(column for column, other in keys.items() if other == close[0]) if len(close) == 1 else None


def _make_key(name: str) -> str:
    return re.sub(r"[ _-]+", "_", name.lower())


def find_named_columns(words: str, columns: Sequence[str]) -> list[str] | None:
    """Return the columns of a list such as `name, city and price`; None if a part names none."""
    parts = re.split(r",? and |, ", words.strip())
    names = [find_named_column(part, columns) for part in parts]
    return [name for name in names if name] if all(names) and len(set(names)) == len(names) else None


def read_number(text: str) -> int | float:
    digits = text.lstrip("$€£").replace(",", "")
    return float(digits) if "." in digits else int(digits)
