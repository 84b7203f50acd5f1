"""Orders of the rows of an answer: `sort it descending`, `by revenue, lowest first`, `newest first`."""

import re
from collections.abc import Mapping, Sequence

from app.agents.assistant.follow_ups.changed_plan import ChangedPlan
from app.agents.assistant.follow_ups.shown_columns import find_shown_column
from app.plans import editing
from app.plans.plan import Plan, SortStep
from app.plans.schema import TableSchema

_SORT = re.compile(
    r"(?:re-?)?(?:sort|order|rank|arrange)(?:ed)?"
    r"(?: (?:(?:the|this|that|these|those) (?:rows?|table|list|results?|answer|groups|ones|entries|bars|chart)"
    r"|them|it|this|that|these|those))?"
    r"(?: by| on)? ?(?P<column>.*?)",
    re.IGNORECASE,
)
_DIRECTION_INSIDE = re.compile(
    r"\b(?P<way>(?:in )?(?:ascending|descending|asc|desc)(?: order)?)"
    r" (?:by|on|of) (?P<column>.+)$",
    re.IGNORECASE,
)
"""A direction before its column: `descending by revenue`, `in descending order of revenue`."""
_ORDERED_BY = re.compile(
    r"\b(?:sort|order|rank|arrange)(?:ed)?\b[^.]{0,60}?\b(?:by|on) (?P<column>.{1,60})$", re.I
)
_FROM = r"(?:from )?(?:the )?"
_HIGH_SIZES = (
    r"(?:highest|largest|biggest|greatest|longest|heaviest|tallest|widest|deepest|busiest|richest|strongest|best"
    r"|priciest|most(?: [a-z]{2,20})?)"
)
_LOW_SIZES = (
    r"(?:lowest|smallest|shortest|fewest|lightest|narrowest|poorest|weakest|cheapest|worst"
    r"|least(?: [a-z]{2,20})?)"
)
_HIGH, _LOW = rf"(?:{_HIGH_SIZES}|high|large|big|great)", rf"(?:{_LOW_SIZES}|low|small|little|few)"
_NEW, _OLD = r"(?:newest|latest|most recent)", r"(?:oldest|earliest)"
_FIRST = r"(?: ones?)? (?:first|on top|at the top)"
_DIRECTION = re.compile(
    r",? ?\(?\b(?:in )?(?P<way>ascending|descending|asc|desc|alphabetical(?:ly)?"
    rf"|(?:the )?(?:{_NEW}|{_OLD})(?: [a-z]{{2,20}})? first"
    rf"|(?:the )?(?:{_HIGH_SIZES}|{_LOW_SIZES}){_FIRST}"
    rf"|{_FROM}(?:{_HIGH} (?:to (?:the )?{_LOW}|first)|{_LOW} (?:to (?:the )?{_HIGH}|first))"
    rf"|{_FROM}(?:highest|largest|biggest|most|lowest|smallest|least))(?: order)?\)?$",
    re.IGNORECASE,
)
_UPWARDS = re.compile(rf"(?:ascending|asc|alphabetical|{_FROM}{_LOW}\b|(?:the )?{_OLD})", re.IGNORECASE)
_BY_SIZE = re.compile(rf"{_FROM}(?:{_HIGH}|{_LOW})\b", re.IGNORECASE)
_BY_TIME = re.compile(rf"(?:the )?(?:{_NEW}|{_OLD})\b", re.IGNORECASE)
_FIGURE_NOUNS = re.compile(
    r"(?:the |its |their )?(?:values?|numbers?|counts?|figures?|amounts?|totals?|results?|sizes?)",
    re.IGNORECASE,
)
"""Nouns for the figure of any groups."""
_TIME_KINDS = ("date", "datetime")
_NUMBER_KINDS = ("integer", "number")


def sort_answer(plan: Plan, words: str, schema: TableSchema, is_order_chosen: bool) -> ChangedPlan | None:
    """Order an answer as words ask for; None where they ask for no order, or for one by another column.

    `is_order_chosen`: the answer stands in an order that its user asked for.
    """
    if inside := _DIRECTION_INSIDE.search(words):
        verb = words[: inside.start()].strip(" ,") or "sort"
        words = f"{verb} by {inside['column']} {inside['way']}"
    direction = _DIRECTION.search(words)
    match = _SORT.fullmatch(words[: direction.start()] if direction else words)
    if match is None and (direction is None or words[: direction.start()].strip()):
        return None
    way = direction["way"] if direction else ""
    is_up = bool(_UPWARDS.match(way)) if way else None
    column = match["column"].strip() if match else ""
    if column:
        name = _find_ordering_column(column, plan, [*schema])
    else:
        name = _choose_column(plan, way, is_up, schema, is_order_chosen)
    if name is None:
        return None
    is_down = not is_up if is_up is not None else schema[name] in _NUMBER_KINDS
    reading = f"Sorted by `{name}`, {'descending' if is_down else 'ascending'}."
    return ChangedPlan(editing.sort_by(plan, name, is_down), [reading])


def orders_by_column(message: str, columns: Sequence[str]) -> bool:
    """Test for a message that asks for an order by one of the columns."""
    words = message.strip(" .?!")
    direction = _DIRECTION.search(words)
    match = _ORDERED_BY.search(words[: direction.start()] if direction else words)
    return match is not None and find_shown_column(match["column"], columns) is not None


def _find_ordering_column(words: str, plan: Plan, columns: Sequence[str]) -> str | None:
    name = find_shown_column(words, columns)
    measures = editing.split_plan(plan).measures
    return measures[0] if name is None and measures and _FIGURE_NOUNS.fullmatch(words) else name


def _choose_column(
    plan: Plan, way: str, is_up: bool | None, schema: Mapping[str, str], is_order_chosen: bool
) -> str | None:
    """Choose the column of an order without one: that of the present order, or the first figure.

    Groups stand in the order of their keys before anyone asked for it. Nobody sorts names by letters who does
    not say so, and nobody asks for the order that there is; only dates and numbers are turned round as such.
    """
    parts = editing.split_plan(plan)
    order = parts.find(SortStep)
    present = order.keys[0] if order else None
    keys = parts.group.keys if parts.group else ()
    if way.casefold().startswith("alphabetical"):
        return next((key for key in keys if schema.get(key) == "text"), present.column if present else None)
    if _BY_TIME.match(way):
        return next(
            (key for key in keys if schema.get(key) in _TIME_KINDS), present.column if present else None
        )
    if not parts.measures or (present and present.column in parts.measures):
        return present.column if present else None
    if present is None or _BY_SIZE.match(way):
        return parts.measures[0]
    is_same = is_up is None or present.descending != is_up
    is_turned = not is_same and schema.get(present.column) in (*_TIME_KINDS, *_NUMBER_KINDS)
    return present.column if is_order_chosen or is_turned else parts.measures[0]
