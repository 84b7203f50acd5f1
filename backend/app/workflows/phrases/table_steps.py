"""Operations on tables in words: a filter, a sort, the top rows, no duplicates."""

import re
from typing import Any

from app.modeling.problem.name_resolution import nearest_names
from app.workflows.phrases.word_tests import OPPOSITES

_TOP = re.compile(r"\btop (?P<k>\d+)(?: (?:by|of) (?:the )?(?P<by>[\w ]+))?")
_SORT = re.compile(
    r"\b(?:sort(?:ed)?|order(?:ed)?)(?: \w{1,40})? by (?:the )?(?P<by>[\w ]{1,60}?)(?: (?P<way>descending|"
    r"ascending|desc|asc))?(?:$|[,.;]| (?:after|before|at|from|every))"
)
_LIMIT = re.compile(r"\blimit (?:of |to )?(?P<rows>\d+)\b|\bfirst (?P<rows2>\d+) rows\b")
_FILTER = re.compile(
    r"\b(?:filter|where|keep only|only|drop rows|remove rows)\b.{0,60}?(?:for |where |with |on |rows "
    r")?(?P<column>[A-Za-z_]\w{0,60}) ?"
    r"(?P<op>=|!=|<=|>=|<|>|is not|is|equals|over|above|under|below|more than|less than|at least|at "
    r"most) ?(?P<value>\"[^\"]{1,120}\"|'[^']{1,120}'|[\w.-]+)"
)
_OPS = {
    "is": "=",
    "equals": "=",
    "is not": "!=",
    "over": ">",
    "above": ">",
    "more than": ">",
    "under": "<",
    "below": "<",
    "less than": "<",
    "at least": ">=",
    "at most": "<=",
}
_WITHOUT = re.compile(
    r"\b(?:drop|remove|exclude|leave out)\b.{0,80}?\bwithout (?:an? |the )?(?P<column>\w+)|\bnulls?\b(?: "
    r"(?:in|of) (?:the )?(?P<column2>\w+))?"
)


def read_table_step(message: str, columns: list[str]) -> tuple[str, dict[str, Any]] | None:
    """Return type and configuration of a node, or None if the words name no operation that can be read."""
    text = message.strip(" .!")
    lower = text.lower()
    if re.search(r"\b(?:duplicates?|distinct|dedup\w*)\b", lower):
        return "distinct", {}
    top = _TOP.search(lower)
    if top is not None and top["by"]:
        return "top_k", {"k": int(top["k"]), "by": _column(_first_words(top["by"], columns), columns)}
    sort = _SORT.search(lower)
    if sort is not None:
        key = {
            "column": _column(sort["by"], columns),
            "descending": bool(sort["way"]) and sort["way"].startswith("desc"),
        }
        return "sort", {"keys": [key]}
    limit = _LIMIT.search(lower)
    if limit is not None:
        return "limit", {"rows": int(limit["rows"] or limit["rows2"])}
    missing = _WITHOUT.search(lower)
    if missing is not None and (missing["column"] or missing["column2"]):
        operand = {"kind": "column", "name": _column(missing["column"] or missing["column2"], columns)}
        return "filter", {"condition": {"kind": "not", "operand": {"kind": "is_null", "operand": operand}}}
    return _read_filter(text, columns)


def _read_filter(text: str, columns: list[str]) -> tuple[str, dict[str, Any]] | None:
    words = _FILTER.search(text)
    if words is None:
        return None
    op = _OPS.get(words["op"].lower(), words["op"])
    # A filter keeps rows, so that those to drop are named by the opposite test.
    if re.search(r"\b(?:drop|remove|exclude)\b", text.lower()):
        op = OPPOSITES[op]
    value: Any = words["value"].strip("\"'")
    if re.fullmatch(r"-?\d+(?:\.\d+)?", value):
        value = float(value) if "." in value else int(value)
    # Order is compared with numbers alone.
    elif op not in ("=", "!="):
        return None
    column = {"kind": "column", "name": _column(words["column"], columns)}
    return "filter", {
        "condition": {"kind": "compare", "op": op, "left": column, "right": {"kind": "literal", "value": value}}
    }


def _first_words(words: str, columns: list[str]) -> str:
    # Columns may have several words; of unknown ones the first word is the name, and the rest is its place.
    return next((column for column in columns if words.startswith(column.lower())), words.split(" ")[0])


def _column(words: str, columns: list[str]) -> str:
    """Return the column that the words name; as they stand where none is close, which validation then says."""
    name = words.strip()
    exact = [column for column in columns if column.lower() == name.lower()]
    close = exact or nearest_names(name.replace(" ", "_"), columns)
    return str(close[0]) if close else name.replace(" ", "_")
