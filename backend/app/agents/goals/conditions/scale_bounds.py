"""Bounds on steps of scales: "in good or better condition", "size L or larger", "at least sometimes"."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.tables.ordinal_scales import ordered_values
from app.agents.goals.tables.profiles import Column, TableProfile

_UP = "higher|more|larger|bigger|greater|above|over|up|stronger|longer|older|later"
_DOWN = "lower|less|fewer|smaller|below|under|down|weaker|shorter|younger|earlier"
_JUDGED = "better|worse"
_SIDE = rf"(?P<side>{_UP}|{_DOWN}|{_JUDGED})"
MIN_WORD_LETTERS = 3
"""Letters from which a step is known in small letters too."""
_HARMS = frozenset(("severe", "critical", "major", "serious", "extreme", "fatal", "urgent", "heavy", "obese"))
"""Steps that are worse the higher they stand."""


class ScaleBound(NamedTuple):
    """A bound on a text column of a table, where it stands in the goal, and the values that meet it."""

    span: tuple[int, int]
    table: TableProfile
    column: Column
    values: tuple[str, ...]

    @property
    def condition(self) -> RowCondition:
        return RowCondition(column=self.column.name, values=[*self.values])


def find_scale_bounds(text: str, tables: Sequence[TableProfile]) -> list[ScaleBound]:
    """Find the bounds of a text; of two columns with one step, that of the first."""
    bounds: list[ScaleBound] = []
    for table in tables:
        for column in table.columns:
            for bound in _bounds_of(text, table, column):
                if not any(
                    bound.span[0] < end and start < bound.span[1] for start, end in (b.span for b in bounds)
                ):
                    bounds.append(bound)
    return bounds


def _bounds_of(text: str, table: TableProfile, column: Column) -> Iterator[ScaleBound]:
    steps = ordered_values(column)
    if steps is None:
        return
    # Of `poor` and `very poor` the longer one is meant where it stands.
    longest_first = "|".join(re.escape(step) for step in sorted(steps, key=len, reverse=True))
    step = rf"(?<![\w-])(?P<step>{longest_first})(?![\w-])"
    forms = (
        (rf"{step},? (?:or|and) {_SIDE}\b", True),
        (rf"\b(?P<least>at least|no less than) {step}", True),
        (rf"\b(?P<most>at most|no more than|up to) {step}", True),
        (rf"\b{_SIDE} than {step}", False),
        (r"\b(?P<side>above|over|below|under) " + step, False),
    )
    for form, is_inclusive in forms:
        for match in re.finditer(form, text, re.IGNORECASE):
            # The letter of a size is written large: "over s" has no size in it.
            if len(match["step"]) < MIN_WORD_LETTERS and match["step"] not in steps:
                continue
            place = next(i for i, value in enumerate(steps) if value.casefold() == match["step"].casefold())
            values = (
                steps[place + (not is_inclusive) :] if _goes_up(match, steps) else steps[: place + is_inclusive]
            )
            if values:
                yield ScaleBound(match.span(), table, column, tuple(values))


def _goes_up(match: re.Match[str], steps: Sequence[str]) -> bool:
    groups = match.groupdict()
    if groups.get("least") or groups.get("most"):
        return bool(groups.get("least"))
    side = match["side"].casefold()
    if side in _JUDGED.split("|"):
        return (side == "better") != bool(_HARMS & {steps[-1].casefold(), steps[-1].casefold().split()[-1]})
    return side in _UP.split("|")
