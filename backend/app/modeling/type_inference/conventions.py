"""Conventions that all columns of one file share: the decimal mark, and the order of day and month.

One column that can only be read in one way decides for its siblings that could be read in two. Columns that
contradict each other decide nothing for others, and a note says so.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from app.modeling.type_inference.number_spellings import NumberFormat
from app.modeling.type_inference.thousands import prove_thousands
from app.modeling.type_inference.vocabulary import is_missing_word

DecimalMark = Literal[".", ","]
Choice = TypeVar("Choice")

MAX_EVIDENCE_VALUES = 400
"""Distinct values of a column that are examined for evidence: typing errors are rarer than 1 in 400."""
MIN_AGREEING_SHARE = 0.95
"""Share of the decisive values of a column that must agree; the rest are typing errors."""
MIN_NUMBER_SHARE = 0.8
"""Share of a column's values that must be numbers before its marks are evidence: texts hold commas too."""

_NUMBER = re.compile(
    r"(?:[^\d\s.,'()+\-]{1,4}\.? ?)?[+-]?(?P<body>\d[\d.,']*|[.,]\d+)(?:(?<=[.,])[-\u2013\u2014]{1,2})?"
    r" ?(?:[^\d.,'()+\-]{1,14})?"
)
# Most numbers are of this kind, which takes a fifth of the time of the general patterns.
_PLAIN = re.compile(r"[+-]?\d+(?P<mark>[.,])(?:\d{1,2}|\d{4,})", re.ASCII)
_SWAPPED: dict[DecimalMark, str] = {".": ",", ",": "."}
_BODIES: dict[DecimalMark, re.Pattern[str]] = {
    mark: re.compile(
        "|".join(NumberFormat(mark, group).unsigned_pattern for group in (swapped, "'", "")), re.ASCII
    )
    for mark, swapped in _SWAPPED.items()
}
_MARK_NAMES: dict[DecimalMark, str] = {".": "a decimal point", ",": "a decimal comma"}
_ORDER_NAMES = {True: "the day first", False: "the month first"}
_MONTH_YEAR = re.compile(r"(?:0?[1-9]|1[0-2])\.(?:1[5-9]|2[0-4])\d\d", re.ASCII)
_DAY_MONTH = re.compile(r"(?:[^\W\d_]{2,10}\.?,? )?(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?:[T ,].*)?")


@dataclass(frozen=True)
class Conventions:
    """Conventions of a file; None where no column is decisive. `evidence`: a sentence for each decision.

    `notes`: contradictions between columns.
    """

    decimal: DecimalMark | None = None
    day_first: bool | None = None
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """Thousands separator that goes with the decimal mark."""
        return "." if self.decimal == "," else ","


@dataclass(frozen=True)
class _Evidence(Generic[Choice]):
    """A decision of one column, with an example that can be read in one way only.

    `is_direct`: the example shows it by itself, and not by the column that it stands in.
    """

    column: str
    choice: Choice
    example: str
    is_direct: bool = True


def infer_conventions(columns: Mapping[str, Iterable[str]], *, is_comma_free: bool = False) -> Conventions:
    """Infer the conventions of a file from the cells of its columns (name -> raw texts).

    `is_comma_free`: another mark than a comma separates the cells.
    """
    marks: list[_Evidence[DecimalMark]] = []
    orders: list[_Evidence[bool]] = []
    for name, cells in columns.items():
        texts = _decisive_cells(cells)
        if not texts or _are_months(texts):
            continue
        # Dates first: the points of 03.06.2010 are no decimal marks.
        if order := _date_order(name, texts):
            orders.append(order)
        elif mark := _decimal_mark(name, texts) or _mark_by_thousands(name, texts, is_comma_free=is_comma_free):
            marks.append(mark)
    mark_agreement, order_agreement = _agree(marks, _MARK_NAMES), _agree(orders, _ORDER_NAMES)
    return Conventions(
        mark_agreement.choice,
        order_agreement.choice,
        (*mark_agreement.sentences, *order_agreement.sentences),
        (*mark_agreement.notes, *order_agreement.notes),
    )


def _decisive_cells(cells: Iterable[str]) -> list[str]:
    """The first distinct cells with a mark that has several meanings; empty for a column of other cells."""
    texts: dict[str, None] = {}
    marked = 0
    for cell in cells:
        text = cell.strip()
        if text in texts or not (text[:1].isdecimal() or not is_missing_word(text)):
            continue
        texts[text] = None
        marked += any(mark in text for mark in ".,/-")
        if len(texts) == MAX_EVIDENCE_VALUES:
            break
    return list(texts) if marked else []


def _are_months(texts: list[str]) -> bool:
    """Test for months such as `01.2023`, whose point is no decimal mark."""
    months = sum(_MONTH_YEAR.fullmatch(text) is not None for text in texts)
    return months >= MIN_AGREEING_SHARE * len(texts) and any(text.startswith("0") for text in texts)


def _date_order(name: str, texts: list[str]) -> _Evidence[bool] | None:
    pairs = {text: match for text in texts if (match := _DAY_MONTH.fullmatch(text))}
    if len(pairs) < MIN_AGREEING_SHARE * len(texts):
        return None
    by_order = {
        True: [text for text, match in pairs.items() if int(match[1]) > 12],
        False: [text for text, match in pairs.items() if int(match[3]) > 12],
    }
    return _majority(name, by_order)


def _decimal_mark(name: str, texts: list[str]) -> _Evidence[DecimalMark] | None:
    by_mark: dict[DecimalMark, list[str]] = {".": [], ",": []}
    numbers: dict[str, str] = {}
    for text in texts:
        if match := _PLAIN.fullmatch(text):
            by_mark["." if match["mark"] == "." else ","].append(text)
        elif match := _NUMBER.fullmatch(text):
            numbers[text] = match["body"]
    if len(numbers) + sum(map(len, by_mark.values())) < MIN_NUMBER_SHARE * len(texts):
        return None
    for text, body in numbers.items():
        fits: list[DecimalMark] = [mark for mark, pattern in _BODIES.items() if pattern.fullmatch(body)]
        # A body that fits both marks, such as 1.234, is no evidence for either.
        if len(fits) == 1:
            by_mark[fits[0]].append(text)
    return _majority(name, by_mark)


def _mark_by_thousands(name: str, texts: list[str], *, is_comma_free: bool) -> _Evidence[DecimalMark] | None:
    group = prove_thousands(name, texts, is_comma_free=is_comma_free)
    if group is None:
        return None
    example = next(text for text in texts if group in text)
    return _Evidence(name, "," if group == "." else ".", example, is_direct=False)


def _majority(name: str, examples: Mapping[Choice, list[str]]) -> _Evidence[Choice] | None:
    choice = max(examples, key=lambda option: len(examples[option]))
    total = sum(map(len, examples.values()))
    if not total or len(examples[choice]) < MIN_AGREEING_SHARE * total:
        return None
    return _Evidence(name, choice, examples[choice][0])


@dataclass(frozen=True)
class _Agreement(Generic[Choice]):
    """The choice of all columns with its sentence, or a note on columns that contradict each other."""

    choice: Choice | None = None
    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _agree(evidence: list[_Evidence[Choice]], names: Mapping[Choice, str]) -> _Agreement[Choice]:
    if not evidence:
        return _Agreement()
    # What a cell shows decides before what its column makes likely.
    evidence = [item for item in evidence if item.is_direct] or evidence
    first = evidence[0]
    other = next((item for item in evidence if item.choice != first.choice), None)
    if other is None:
        columns = ", ".join(repr(item.column) for item in evidence[:3])
        reason = f"as in {first.example!r}" if first.is_direct else f"since {first.example!r} has thousands"
        return _Agreement(first.choice, (f"{columns}: {names[first.choice]}, {reason}.",))
    note = (
        f"{first.column!r} has {names[first.choice]} ({first.example!r}), {other.column!r}"
        f" {names[other.choice]} ({other.example!r}); each column is read by its own values."
    )
    return _Agreement(notes=(note,))
