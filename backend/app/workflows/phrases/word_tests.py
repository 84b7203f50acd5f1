"""Tests in words: of the number of rows, of a figure of a column, or of a value that some row has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from app.number_words import NUMBER_WORDS
from app.workflows.document import EdgeCondition
from app.workflows.phrases.notices import find_column

Op = Literal["=", "!=", "<", "<=", ">", ">="]
OPPOSITES: dict[str, Op] = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_NUMBERS = {"zero": 0, **NUMBER_WORDS}
_NUMBER = rf"[$€£]?(?P<number>-?\d[\d,]{{0,15}}(?:\.\d{{1,15}})?|{'|'.join(_NUMBERS)})\b"
_BELOW = r"(?:below|under|less than|fewer than|lower than|cheaper than|smaller than|beneath|<)"
_ABOVE = r"(?:above|over|more than|greater than|higher than|larger than|exceeds?|exceeding|beyond|>)"
_COMPARED = re.compile(
    r"(?:(?P<at_most>at most|no more than|not more than|up to|<=)|(?P<at_least>at least|no fewer than|"
    r"no less than|not less than|not fewer than|a minimum of|>=)"
    rf"|(?P<below>{_BELOW})|(?P<above>{_ABOVE})"
    rf"|(?P<equal>exactly|equal to|equals|precisely)) {_NUMBER}(?P<rest>.*)"
)
_OR_MORE = re.compile(rf"{_NUMBER}(?P<noun> \w{{1,30}})? or (?P<way>more|less|fewer)\b(?P<rest>.*)")
_BETWEEN = re.compile(r"\bbetween (?P<low>\d{1,9}) and (?P<high>\d{1,9})(?P<rest>.*)")
_ROW_COUNT = re.compile(
    rf"\b(?:there (?:are|is|were)|we have|it has|has|have|gives|finds|leaves) {_NUMBER}(?P<rest>.*)"
)
_ROWS = r"(?:rows?|results?|records?|entries|lines|items|hits|matches|data)"
_NO_ROWS = re.compile(
    rf"\b(?:no|zero|without(?: any)?) {_ROWS}\b|\bnothing\b|\bnone (?:are|is|were|came)\b|\bempty\b"
    rf"|\b(?:not|n't) any {_ROWS}\b"
)
_NOT_EMPTY = re.compile(r"\bnot empty\b|\bisn't empty\b")
_SOME_ROWS = re.compile(
    r"\b(?:there (?:are|is|were)|any|some|has|have|finds?|returns?|gives?|leaves?|at least one) "
    rf"(?:any |some |new )?{_ROWS}\b|\b(?:something|anything)\b"
)
_MOVED = re.compile(
    r"\b(?:drops?|falls?|sinks?|goes (?:down|up)|rises?|climbs?|increases?|decreases?|changes?)\b"
)
_FUNCTIONS = (
    ("min", r"lowest|minimum|min|smallest|cheapest|least|every|all|each"),
    ("max", r"highest|maximum|max|largest|biggest|greatest|most expensive|dearest|any|some"),
    ("mean", r"average|mean|avg"),
    ("sum", r"total|sum|overall"),
)
_LINK = re.compile(r"^ ?(?:of|is|are|=) ?")
_NONE_HAS = re.compile(
    r"\b(?:no|none of the|not any|not a single) (?:\w{1,30} )?(?:has|have|is|are|with) (?P<rest>.+)$",
    re.IGNORECASE,
)
_IS = re.compile(
    r"^(?P<noun>.{1,80}?) ?(?:\bis\b|\bare\b|\bequals\b|=|\bbecomes\b|\bsays\b) ?(?P<value>.+)$", re.IGNORECASE
)


@dataclass(frozen=True)
class RowsTest:
    """A test of the number of rows. `upper`: of a range, its other end, included."""

    op: Op
    value: int
    upper: int | None = None

    def negate(self) -> "RowsTest":
        return replace(self, op=OPPOSITES[self.op])

    def make_condition(self) -> EdgeCondition:
        return EdgeCondition(field="rows", op=self.op, value=self.value)

    def describe(self) -> str:
        return f"rows {self.op} {self.value}" + ("" if self.upper is None else f" and rows <= {self.upper}")


@dataclass(frozen=True)
class FigureTest:
    """A test of a figure of a column, as a `condition` node makes it. `passes`: False if it is not to hold."""

    config: dict[str, Any]
    passes: bool = True

    def negate(self) -> "FigureTest":
        return replace(self, passes=not self.passes)

    def describe(self) -> str:
        config = self.config
        figure = f"{config['function']} of {config['column']} {config['op']} {config.get('value', '')}".strip()
        return figure if self.passes else f"not {figure}"


@dataclass(frozen=True)
class ValueTest:
    """A test for rows with a value, or another one: there are some, or none of them."""

    column: str
    op: Literal["=", "!="]
    value: str | float
    exists: bool = True

    def negate(self) -> "ValueTest":
        return replace(self, exists=not self.exists)

    def make_filter(self) -> dict[str, Any]:
        operands = {
            "left": {"kind": "column", "name": self.column},
            "right": {"kind": "literal", "value": self.value},
        }
        return {"condition": {"kind": "compare", "op": self.op, **operands}}

    def make_condition(self) -> EdgeCondition:
        return EdgeCondition(field="rows", op=">" if self.exists else "=", value=0)

    def describe(self) -> str:
        return f"{'some' if self.exists else 'no'} {self.column} {self.op} {self.value}"


WordTest = RowsTest | FigureTest | ValueTest


def read_test(words: str, columns: Sequence[str]) -> WordTest | None:
    """Read the words behind an `if`. `columns`: those of the table, where known."""
    text = re.sub(r"\s+", " ", words.lower()).strip(" ,.!:")
    test = _read_counts(text, columns) or _read_figure(text, [*columns])
    return test if test or _MOVED.search(text) else _read_value(words.strip(" ,.!:"), [*columns])


def _read_counts(text: str, columns: Sequence[str]) -> RowsTest | None:
    between = _BETWEEN.search(text)
    if between is not None and _is_about_rows(text[: between.start()], between["rest"], columns):
        return RowsTest(">=", int(between["low"]), int(between["high"]))
    if _NOT_EMPTY.search(text):
        return RowsTest(">", 0)
    if _NO_ROWS.search(text):
        return RowsTest("=", 0)
    compared = _COMPARED.search(text)
    if compared is not None and _is_about_rows(text[: compared.start()], compared["rest"], columns):
        op, number = _find_op(compared), _read_number(compared["number"])
        return RowsTest(op, int(number)) if number.is_integer() else None
    either = _OR_MORE.search(text)
    if either is not None and _is_about_rows(text[: either.start()], either["noun"] or either["rest"], columns):
        return RowsTest(">=" if either["way"] == "more" else "<=", int(_read_number(either["number"])))
    row_count = _ROW_COUNT.search(text)
    if row_count is not None and re.search(rf"^ {_ROWS}\b", row_count["rest"]):
        return RowsTest("=", int(_read_number(row_count["number"])))
    return RowsTest(">", 0) if _SOME_ROWS.search(text) else None


def _is_about_rows(before: str, after: str, columns: Sequence[str]) -> bool:
    """Check if a number counts rows: `more than 10 orders`, not `a price of more than 10`."""
    noun = re.search(r"^ ?(?P<noun>[a-z]\w*)", after)
    if noun is None:
        return re.search(rf"\b{_ROWS}\b|\bnumber of\b|\bcount\b", before) is not None
    names = {part for column in columns for part in (column.lower(), *column.lower().split("_"))}
    if re.fullmatch(_ROWS, noun["noun"]):
        return True
    is_column = noun["noun"] in names or noun["noun"].removesuffix("s") in names
    words = {part for word in re.findall(r"[a-z_]\w*", before) for part in (word, word.removesuffix("s"))}
    return not is_column and not names & words and noun["noun"].endswith("s")


def _find_op(compared: "re.Match[str]") -> Op:
    ops: dict[str, Op] = {"at_most": "<=", "at_least": ">=", "below": "<", "above": ">", "equal": "="}
    return next(op for name, op in ops.items() if compared[name])


def _read_number(text: str) -> float:
    return float(_NUMBERS[text]) if text in _NUMBERS else float(text.replace(",", ""))


def _read_figure(text: str, columns: list[str]) -> FigureTest | None:
    compared = _COMPARED.search(text)
    either = _OR_MORE.search(text) if compared is None else None
    if compared is not None:
        before, op, number = text[: compared.start()], _find_op(compared), compared["number"]
    elif either is not None:
        before, op, number = text[: either.start()], ">=" if either["way"] == "more" else "<=", either["number"]
    else:
        return None
    function = next(
        (name for name, pattern in _FUNCTIONS if re.search(rf"\b(?:{pattern})\b", before)),
        # `if the price is below 5` means some row: the least decides.
        "min" if op in ("<", "<=") else "max",
    )
    if re.search(r"\b(?:any|some)\b", before):  # one of them is enough
        function = "min" if op in ("<", "<=") else "max"
    # All of them are below a value if the largest is, and above it if the smallest is.
    if re.search(r"\b(?:every|all|each)\b", before):
        function = "max" if op in ("<", "<=") else "min"
    column = find_column(_without_functions(before), columns)
    if column is None:
        return None
    return FigureTest({"function": function, "column": column, "op": op, "value": _read_number(number)})


def _without_functions(words: str) -> str:
    pattern = "|".join(pattern for _, pattern in _FUNCTIONS)
    return re.sub(
        rf"\b(?:{pattern}|drops?|falls?|goes|down|up|to|rises?|of|is|are|gets?|order|orders)\b", " ", words
    )


class _Name(NamedTuple):
    """A column that words name, with the words before and behind it."""

    before: str
    column: str
    behind: str


def _read_value(words: str, columns: list[str]) -> ValueTest | None:
    none_has = _NONE_HAS.search(words)
    if none_has is not None:
        name = _find_name(none_has["rest"], columns)
        value = _LINK.sub("", name.behind).strip(" \"'") if name else ""
        return ValueTest(name.column, "=", _read_cell(value), False) if name and value else None
    is_ = _IS.search(words)
    name = _find_name(is_["noun"], columns) if is_ else None
    if is_ is None or name is None or name.behind.strip():
        return None
    value = is_["value"].strip(" \"'")
    is_negative = value.lower().startswith("not ")
    return ValueTest(name.column, "!=" if is_negative else "=", _read_cell(value[4:] if is_negative else value))


def _find_name(words: str, columns: list[str]) -> _Name | None:
    """Find the longest name of a column in words."""
    # `unit_price` before `price`, which it ends with.
    for column in sorted(columns, key=len, reverse=True):
        start = words.lower().rfind(column.lower())
        before, behind = words[: max(start, 0)], words[start + len(column) :]
        if start >= 0 and not before[-1:].isalnum() and not behind[:1].isalnum():
            return _Name(before, column, behind)
    return None


def _read_cell(text: str) -> str | float:
    is_number = re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", text)
    return text.strip() if is_number is None else float(text) if "." in text else int(text)
