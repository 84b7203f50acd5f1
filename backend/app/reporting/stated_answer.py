"""An answer in words. Each of its figures is found in a recorded result, or quoted from a recorded text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.recorded_call import RecordedCall
from app.reporting.claims import MAX_DECIMALS
from app.reporting.evidence import RecordedFact, successful_calls

ANSWERS = ("answer_by_sql", "answer_by_plan", "answer_by_program", "find_unusual_rows", "find_row_groups")
LOOKS = ("run_python", "run_sql")
"""Tools whose results an answer may cite besides the answers themselves."""
MAX_FACTS = 20_000
"""Recorded values that a figure is looked for in: two hundred rows of a hundred columns."""
_NEAREST = 3
"""Recorded values that are named where a figure is none of them."""
_SLACK = 1e-9
"""Relative difference below which two figures are equal: the error of a sum of many rows in another order."""

_TOKEN = re.compile(r"[^\W_][\w.,:/+-]*")
_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_PART = re.compile(r"[^-:/,]+")


@dataclass(frozen=True)
class StatedFigure:
    """A figure of a text, from `start` to `end`. `fact`: its source, shown in `style`; None for a quotation."""

    start: int
    end: int
    fact: RecordedFact | None = None
    style: str = ""


@dataclass(frozen=True)
class UnknownFigure:
    """A figure that no recorded result holds, with the recorded ones that are nearest to it."""

    text: str
    nearest: tuple[float, ...] = ()

    def __str__(self) -> str:
        near = ", ".join(f"{value:.10g}" for value in self.nearest)
        return f"{self.text} (nearest: {near})" if near else self.text


class AnswerSources:
    """The results that an answer may cite, the newest answer first, and the texts that it may quote."""

    def __init__(self, calls: Sequence[RecordedCall], quoted: Sequence[str]) -> None:
        citable = successful_calls([call for call in calls if call.tool in (*ANSWERS, *LOOKS)])
        citable.reverse()
        # Sorting is stable: answers come before looks, and each of both newest first.
        newest = sorted(citable, key=lambda call: call.tool not in ANSWERS)
        cells = [cell for call in newest for cell in _cells(RecordedFact(call, "", call.result))][:MAX_FACTS]
        self._facts = [fact for fact in cells if _is_number(fact.value)]
        self._question = " ".join(quoted).casefold()
        codes = [str(call.request.get("code", call.request.get("sql", ""))) for call in newest if call.request]
        texts = [fact.value for fact in cells if isinstance(fact.value, str)]
        self._texts = " ".join([*codes, *texts]).casefold()

    def find_all(self, text: str) -> tuple[list[StatedFigure], list[UnknownFigure]]:
        """Find the source of every figure of a text; the second list has those without one."""
        figures: list[StatedFigure] = []
        unknown: list[UnknownFigure] = []
        for start, end in _tokens(text):
            for figure in self._find(text, start, end):
                (figures if isinstance(figure, StatedFigure) else unknown).append(figure)  # type: ignore[arg-type]  # two lists, one for each type
        return figures, unknown

    def find_value(self, value: object) -> RecordedFact | None:
        """Find the recorded value that a stated value is, rounded or as it is."""
        source = self.find_shown(value)
        return source[0] if source else None

    def find_shown(self, value: object) -> tuple[RecordedFact, str] | None:
        """Find a stated value as `find_value` does, with the style that shows it as it was stated."""
        if not _is_number(value):
            return None
        fact, style = self._number_source(repr(value), is_percent=False)
        return (fact, style) if fact else None

    def nearest(self, number: float) -> tuple[float, ...]:
        by_distance = sorted({float(fact.value) for fact in self._facts}, key=lambda value: abs(value - number))
        return tuple(by_distance[:_NEAREST])

    def _find(self, text: str, start: int, end: int) -> Iterator[StatedFigure | UnknownFigure]:
        token = text[start:end]
        if _NUMBER.fullmatch(token):
            # A hyphen after a letter or a digit joins words or spans, as in 2019-2021.
            is_signed = text[start - 1 : start] == "-" and not text[max(0, start - 2) : start - 1].isalnum()
            signed = f"-{token}" if is_signed else token
            fact, style = self._number_source(signed, is_percent=text[end : end + 1] == "%")
            if fact is not None:
                yield StatedFigure(start - is_signed, end, fact, style)
            elif self._is_quoted(token):
                yield StatedFigure(start, end)
            else:
                yield UnknownFigure(signed, self.nearest(float(signed.replace(",", ""))))
        elif self._is_quoted(token):
            yield StatedFigure(start, end)
        else:
            parts = [(start + part.start(), start + part.end()) for part in _PART.finditer(token)]
            if len(parts) < 2:
                yield UnknownFigure(token)
                return
            for first, last in parts:
                if any(letter.isdigit() for letter in text[first:last]):
                    yield from self._find(text, first, last)

    def _is_quoted(self, token: str) -> bool:
        return _contains(self._question, token) or _contains(self._texts, token)

    def _number_source(self, token: str, *, is_percent: bool) -> tuple[RecordedFact | None, str]:
        """Return the recorded value that a number shows, with its style: equal values before rounded ones."""
        mantissa, _, exponent = token.lower().partition("e")
        number = float(token.replace(",", ""))
        decimals = min(len(mantissa.partition(".")[2]), MAX_DECIMALS)
        step = 10.0 ** (int(exponent or 0) - decimals)
        shape = "scientific" if exponent else "grouped" if "," in token else "fixed"
        equal = self._nearest_fact(number, 1, 0.0)
        if equal is not None:
            return equal, f"{shape}_{decimals}"
        if not exponent and not decimals and _contains(self._question, token):
            return None, ""  # a whole number of the question is a quotation rather than a rounded result
        # Shares are recorded from 0 to 1, so before a percent sign the hundredfold is the likelier reading.
        scales = ((100, "hundredfold"), (1, shape)) if is_percent else ((1, shape), (100, "hundredfold"))
        for scale, name in scales:
            # Rounding moves a figure by half a unit of its last place at most.
            rounded = self._nearest_fact(number, scale, step / 2)
            if rounded is not None:
                return rounded, f"{name}_{decimals}"
        return None, ""

    def _nearest_fact(self, number: float, scale: int, tolerance: float) -> RecordedFact | None:
        """Return the first recorded value that is this number within the tolerance."""
        bound = tolerance + _SLACK * abs(number)
        # The first, not the nearest: facts are in the order of their likelihood, the last answer first.
        return next((fact for fact in self._facts if abs(fact.value * scale - number) <= bound), None)


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    """Yield the words of a text that hold digits, without the punctuation that ends them."""
    for match in _TOKEN.finditer(text):
        token = match.group().rstrip(".,:/+-")
        if any(letter.isdigit() for letter in token):
            yield match.start(), match.start() + len(token)


def _contains(texts: str, token: str) -> bool:
    """Tell if a text holds a token as a word of its own."""
    word, start = token.casefold(), 0
    while (place := texts.find(word, start)) >= 0:
        neighbours = texts[max(0, place - 1) : place] + texts[place + len(word) : place + len(word) + 1]
        if not any(letter.isalnum() for letter in neighbours):
            return True
        start = place + 1
    return False


def _cells(fact: RecordedFact) -> Iterator[RecordedFact]:
    """Yield the numbers and texts of a recorded result, in its order; its source code is none of them."""
    for name, child in fact.children():
        if isinstance(child.value, str | int | float):
            yield child
        elif name != "readings":
            yield from _cells(child)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
