"""Tests of rows in words: `price is above 50 and status is not paid`, as conditions of filters."""

import re
from collections.abc import Sequence
from typing import Any

from app.workflows.phrases.clause_words import COLUMN, NUMBER, find_named_column, read_number
from app.workflows.phrases.word_tests import OPPOSITES, Op

_VALUE = (
    rf"(?P<number>{NUMBER})|\"(?P<quoted>[^\"]{{1,200}})\"|'(?P<quoted2>[^']{{1,200}})'|"
    r"(?P<word>[\w.@:/-]{1,100}|(?-i:[A-Z][\w.-]*(?: [A-Z][\w.-]*){1,3}))"
)
_WORDS_OF_OP: tuple[tuple[Op, str], ...] = (
    (">=", r">=|at least|no less than|not less than|not below"),
    ("<=", r"<=|at most|no more than|not more than|not above|up to"),
    (">", r">|above|over|more than|greater than|higher than|larger than|bigger than|exceeds|exceeding|beyond"),
    ("<", r"<|below|under|less than|fewer than|lower than|smaller than|cheaper than"),
    ("!=", r"!=|<>|not equal to|other than|not"),
    ("=", r"==?|equal to|equals|exactly"),
)
_OP = "|".join(f"(?:{words})" for _, words in _WORDS_OF_OP)
_BE = r"(?: (?:is|are|was|were|being|has|have|of|of the))?"
_COMPARED = re.compile(rf"^(?P<column>{COLUMN}){_BE} ?(?P<op>{_OP}) ?(?:{_VALUE})$", re.IGNORECASE)
_IS = re.compile(rf"^(?P<column>{COLUMN}) (?:is|are|equals|of) (?:{_VALUE})$", re.IGNORECASE)
_WITH = re.compile(rf"^(?:an? |the )?(?P<column>{COLUMN}) (?:{_VALUE})$", re.IGNORECASE)
_MISSING = re.compile(
    rf"^(?P<column>{COLUMN}) (?:is|are)(?P<present> not| present| known|n't)?"
    r"(?: (?:null|missing|empty|unknown|blank))?$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"^(?P<column>{COLUMN})(?: is| are)? between (?P<low>{NUMBER}) and (?P<high>{NUMBER})$", re.IGNORECASE
)
# A number behind `and` is the other end of a range.
_PARTS = re.compile(r" (and|or) (?!\d)", re.IGNORECASE)


def read_row_test(words: str, columns: Sequence[str], is_with: bool = False) -> dict[str, Any] | None:
    """Return the condition that all of the words say, or None. `is_with`: a value may follow its column."""
    pieces = _PARTS.split(words.strip())
    links = {link.lower() for link in pieces[1::2]}
    if len(links) > 1:  # "a and b or c" has two meanings
        return None
    tests = [_read_single(piece.strip(), columns, is_with) for piece in pieces[::2]]
    if not all(tests):
        return None
    operands = [test for test in tests if test is not None]
    return operands[0] if len(operands) == 1 else {"kind": links.pop(), "operands": operands}


def _read_single(words: str, columns: Sequence[str], is_with: bool) -> dict[str, Any] | None:
    text = re.sub(r"^(?:the|an?|their|its) ", "", words, flags=re.IGNORECASE)
    between = _BETWEEN.search(text)
    if between is not None:
        column = find_named_column(between["column"], columns)
        ends = {end: _literal(read_number(between[end])) for end in ("low", "high")}
        return {"kind": "between", "operand": _column(column), **ends} if column else None
    return _read_missing(text, columns) or _read_comparison(text, columns, is_with)


def _read_missing(text: str, columns: Sequence[str]) -> dict[str, Any] | None:
    missing = _MISSING.search(text)
    if missing is None or not re.search(r"\b(?:null|missing|empty|unknown|blank|present|known)$", text.lower()):
        return None
    column = find_named_column(missing["column"], columns)
    if column is None:
        return None
    test = {"kind": "is_null", "operand": _column(column)}
    return {"kind": "not", "operand": test} if missing["present"] else test


def _read_comparison(text: str, columns: Sequence[str], is_with: bool) -> dict[str, Any] | None:
    compared = _COMPARED.search(text) or _IS.search(text)
    if compared is None and is_with and columns:
        compared = _WITH.search(text)
    if compared is None:
        return None
    column = find_named_column(compared["column"], columns)
    op = _find_op(compared.groupdict().get("op") or "=")
    if column is None or op is None:
        return None
    value: Any = compared["quoted"] or compared["quoted2"] or compared["word"]
    if compared["number"] is not None:
        value = read_number(compared["number"])
    # A text is not more or less than another one here: `above average` names no value.
    elif op not in ("=", "!="):
        return None
    elif value.lower() in ("true", "false"):
        value = value.lower() == "true"
    return {"kind": "compare", "op": op, "left": _column(column), "right": _literal(value)}


def _find_op(words: str) -> Op | None:
    return next((op for op, pattern in _WORDS_OF_OP if re.fullmatch(pattern, words.lower())), None)


def negate(test: dict[str, Any]) -> dict[str, Any]:
    """Return the test of the rows that are kept where those of `test` are dropped."""
    if test["kind"] == "compare":
        return {**test, "op": OPPOSITES[test["op"]]}
    return test["operand"] if test["kind"] == "not" else {"kind": "not", "operand": test}


def _column(name: str | None) -> dict[str, Any]:
    return {"kind": "column", "name": name}


def _literal(value: Any) -> dict[str, Any]:
    return {"kind": "literal", "value": value}
