"""Rewording of periods with the highest measure and of counts at a pace: `peak hour of load`, `trips a day`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import unit_of
from app.agents.questions.figures import default_function
from app.agents.questions.matching.column_mentions import find_column
from app.agents.questions.question_reading import is_measurable

_UNIT = r"(?P<unit>hour|day|weekday|week|month|quarter|year)s?(?: of (?:the )?(?:day|week|year))?"
_SIDE = r"(?P<side>highest|lowest|largest|smallest|greatest|least|most|maximum|minimum|max|min|peak|biggest)"
_MEASURE = r"(?:the )?(?P<measure>[\w ]{2,40}?)"
_TAIL = r"(?P<tail>(?: (?:in|at|for|during|since|before|after|per|by|on) .{2,80})?)\W*$"
_ASKING = (
    r"^\W*(?:please )?(?:(?:show|tell|give) me )?(?:(?:what|which) (?:is|was|are|were) )?(?:the |our |my )?"
)
_PEAKS = (
    re.compile(rf"{_ASKING}(?:peak|rush|busiest|top) {_UNIT} (?:of|for|in) {_MEASURE}{_TAIL}", re.IGNORECASE),
    re.compile(
        rf"{_ASKING}{_UNIT} (?:of|with|that has|having) (?:the )?{_SIDE} {_MEASURE}{_TAIL}", re.IGNORECASE
    ),
    re.compile(
        rf"^\W*(?:which|what) {_UNIT} (?:has|had|sees|saw|shows|showed) (?:the )?{_SIDE} {_MEASURE}{_TAIL}",
        re.IGNORECASE,
    ),
    re.compile(rf"{_ASKING}peak (?P<measure>[\w ]{{2,40}}?) {_UNIT}{_TAIL}", re.IGNORECASE),
)
"""Ways to ask for the period in which a measure without an aggregate is highest or lowest."""
_LOW = frozenset({"lowest", "smallest", "least", "minimum", "min"})
_PACE = re.compile(
    r"\b(how many (?!.{0,30}\b(?:in|on|for|of|within|than|over|at)\b.{0,30} an? )"
    r"[a-z_]{2,30}(?: [a-z_]{2,30})?)"
    r" an? (hour|day|night|week|month|year)\b(?! (?:ago|or|old|later|earlier|before|after)\b)",
    re.IGNORECASE,
)
"""A count of each period: `how many trips a day`."""


def reword_peaks_and_paces(question: str, tables: Sequence[TableProfile]) -> str:
    """Say by which figure a period has the most, and `per day` for `a day`."""
    text = _PACE.sub(lambda match: f"{match[1]} per {match[2]}", question)
    for pattern in _PEAKS:
        if (match := pattern.search(text)) and (measure := _find(match["measure"], tables)):
            return _name_peak(match, *measure)
    return text


def _find(phrase: str, tables: Sequence[TableProfile]) -> tuple[TableProfile, Column] | None:
    """The measure that a phrase names and nothing else, with its table."""
    for table in tables:
        name = find_column(phrase, [column.name for column in table.columns])
        column = next((column for column in table.columns if column.name == name), None)
        if column is not None and is_measurable(column):
            return table, column
    return None


def _name_peak(match: re.Match[str], table: TableProfile, measure: Column) -> str:
    side = (match.groupdict().get("side") or "peak").casefold()
    # Hours and weekdays come back: of a series, whose rows are periods, their mean is in the measure's unit.
    comes_back = match["unit"].casefold() in ("hour", "weekday") and any(date.unique for date in table.dates)
    figure = "total" if not comes_back and _adds_up(measure) else "average"
    order = "lowest" if side in _LOW else "highest"
    return f"which {match['unit']} has the {order} {figure} `{measure.name}`{match['tail']}"


def _adds_up(measure: Column) -> bool:
    unit = unit_of(measure)
    return default_function(measure) == "sum" or (unit is not None and unit.dimension == "energy")
