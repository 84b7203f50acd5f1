"""Clauses that compute tables: each is read as a whole, or not at all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.workflows.phrases.clause_words import (
    COLUMN,
    COUNT,
    GENERIC_ROWS,
    NUMBER,
    ROWS,
    find_named_column,
    find_named_columns,
    read_number,
)
from app.workflows.phrases.row_tests import negate, read_row_test


class TableClause(NamedTuple):
    """Nodes that a clause asks for, and the columns of their table; none where they are not known."""

    nodes: Sequence[tuple[str, dict[str, Any]]]
    columns: Sequence[str]


@dataclass(frozen=True)
class TableState:
    """The table that a clause is about. `columns`: empty where they are not known.

    `figure`: the only figure of its groups. `is_sorted`: the last step ordered its rows. `measures`: columns
    that clauses before compared with numbers or computed.
    """

    columns: Sequence[str] = ()
    figure: str | None = None
    is_sorted: bool = False
    measures: Sequence[str] = ()


_KEEP = r"(?:keep|take|use|select|leave|want|show|list|get|give|return|find)(?: me| us)?(?: only| just)?"
_DROP = r"(?:drop|remove|exclude|discard|filter out|leave out|ignore|skip|delete|throw away)"
_NOUN = rf"(?:(?:only |just )?(?:the |all |any |all the |all of the )?{ROWS})"
_LINK = r"(?P<link>where|whose|for which|in which|that have|which have|with|having)"
_KEEP_ROWS = re.compile(rf"^(?:{_KEEP}|only) {_NOUN} {_LINK} (?P<test>.+)$", re.IGNORECASE)
_FILTER_ROWS = re.compile(
    rf"^(?:(?:add |insert )?(?:an? )?filter(?: {_NOUN})? (?:for|by|on|where|to)|(?P<link>where)) (?P<test>.+)$",
    re.IGNORECASE,
)
_DROP_ROWS = re.compile(rf"^{_DROP} {_NOUN} {_LINK} (?P<test>.+)$", re.IGNORECASE)
_WITHOUT = re.compile(
    rf"^{_DROP} {_NOUN} (?:without|with no|with (?:an? )?(?:missing|empty|unknown)) (?:an? |any )?"
    rf"(?P<column>{COLUMN})$",
    re.IGNORECASE,
)
_DISTINCT = re.compile(
    rf"^(?:{_DROP} (?:the |all |any )?(?:duplicates?|duplicate(?:d)? {ROWS})|(?:deduplicate|dedupe)"
    rf"(?: it| them| the {ROWS})?)$",
    re.IGNORECASE,
)
_HIGH, _LOW = r"highest|largest|greatest|biggest|most", r"lowest|smallest|least|fewest"
_TOP = re.compile(
    rf"^(?:{_KEEP} )?(?:only )?(?:the |its )?(?P<end>top|best|bottom) (?P<k>{COUNT})"
    rf"(?: (?P<noun>{ROWS}))?(?: (?:by|in|with the (?P<high>{_HIGH})|with the (?P<low>{_LOW})) (?:the )?"
    rf"(?P<by>{COLUMN}))?$",
    re.IGNORECASE,
)
_EXTREME = re.compile(
    rf"^(?:{_KEEP} )?(?:only )?(?:the )?(?P<k>{COUNT})(?: {ROWS})? (?:with|of|by) the "
    rf"(?:(?P<high>{_HIGH})|(?:{_LOW})) "
    rf"(?P<by>{COLUMN})$",
    re.IGNORECASE,
)
_PRICED = re.compile(
    rf"^(?:{_KEEP} )?(?:only )?(?:the )?(?P<k>{COUNT}) (?:(?P<high>most expensive|dearest|priciest)|cheapest|"
    rf"least expensive)(?: {ROWS})?$",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    rf"^(?:(?:limit|cut|restrict)(?: it| them| the {ROWS})? (?:to|at) (?:the first )?(?P<rows>{COUNT})|"
    rf"(?:{_KEEP} )?(?:only )?(?:the )?first (?P<rows2>{COUNT}))(?: {ROWS})?$",
    re.IGNORECASE,
)
_ORDER = re.compile(rf"^(?:sort|order|rank|arrange)(?:ed)?(?: {_NOUN}| it)?(?P<keys>.*)$", re.IGNORECASE)
_KEY = re.compile(
    rf"^(?:by )?(?:the )?(?P<by>{COLUMN})(?:,? (?:in )?(?P<way>descending|ascending|desc|asc|(?:{_HIGH}) first|"
    rf"(?:{_LOW}) first|from high(?:est)? to low(?:est)?|from low(?:est)? to high(?:est)?)(?: order)?)?$",
    re.IGNORECASE,
)
_WAY_ALONE = re.compile(
    rf"^(?:sort(?:ed)? |order(?:ed)? )?(?:it |them )?(?:in )?"
    rf"(?P<way>descending|ascending|(?:{_HIGH}) first|(?:{_LOW}) first)"
    r"(?: order)?$",
    re.IGNORECASE,
)
_FUNCTIONS = {
    "sum": "total|sum|sum up|add up",
    "mean": "average|mean|avg",
    "median": "median",
    "min": "minimum|lowest|smallest|min",
    "max": "maximum|highest|largest|max",
}
_STEMS = {"sum": "total", "mean": "average", "median": "median", "min": "lowest", "max": "highest"}
_FUNCTION = "|".join(_FUNCTIONS.values())
_COMPUTE = r"(?:(?:compute|calculate|show|get|find|give|take|make)(?: me| us)? )?(?:the )?"
_FIGURE = rf"(?P<function>{_FUNCTION})(?: of)?(?: the)? (?P<column>{COLUMN})"
_ROW_COUNT = rf"(?:count|number|number of|count of)(?: the| all)?(?: {ROWS})?"
_BY = r"(?:by|per|for each|for every|in each|of each)(?: the)?"
_GROUP_BY = r"group(?:ed)?(?: it| them| the \w{1,40})? by(?: the)?"
_GROUPED = (
    re.compile(rf"^{_COMPUTE}(?:{_FIGURE}|{_ROW_COUNT}) {_BY} (?P<keys>.+)$", re.IGNORECASE),
    re.compile(
        rf"^{_GROUP_BY} (?P<keys>.+?),? (?:and )?(?:then )?{_COMPUTE}(?:{_FIGURE}|{_ROW_COUNT})$",
        re.IGNORECASE,
    ),
)
_DERIVED = re.compile(
    r"^(?:(?:add|make|create|insert|compute|calculate) (?:an? |the )?(?:new )?column"
    r"(?: called| named)?|compute|calculate) "
    r"(?P<name>[A-Za-z_]\w{0,60}) ?(?:=|as|from|that is|which is|being) ?(?P<value>.+)$",
    re.IGNORECASE,
)
_SUM = re.compile(
    rf"^(?P<left>{COLUMN}|{NUMBER}) ?(?P<op>\*|/|\+|-|times|multiplied by|divided by|over|plus|minus) ?"
    rf"(?P<right>{COLUMN}|{NUMBER})$",
    re.IGNORECASE,
)
_OPS = {"times": "*", "multiplied by": "*", "divided by": "/", "over": "/", "plus": "+", "minus": "-"}
_SELECTED = re.compile(
    rf"^{_KEEP} (?:(?P<noun>(?:the |these )?columns? )|the )?(?P<columns>[A-Za-z_].*)$", re.IGNORECASE
)


def read_table_clause(words: str, state: TableState) -> TableClause | None:
    """Return the nodes that all of the words ask for, or None."""
    text = words.strip()
    # The selection last: `keep ...` of its pattern would take what the others read more exactly.
    for read in (_read_filter, _read_top, _read_limit, _read_order, _read_group, _read_derived, _read_selected):
        clause = read(text, state)
        if clause is not None:
            return clause
    return TableClause([("distinct", {})], state.columns) if _DISTINCT.search(text) else None


def _keep(type_: str, config: dict[str, Any], state: TableState) -> TableClause:
    return TableClause([(type_, config)], state.columns)


def _read_filter(text: str, state: TableState) -> TableClause | None:
    without = _WITHOUT.search(text)
    if without is not None:
        column = find_named_column(without["column"], state.columns)
        test = {"kind": "is_null", "operand": {"kind": "column", "name": column}}
        return _keep("filter", {"condition": negate(test)}, state) if column else None
    dropped = _DROP_ROWS.search(text)
    clause = dropped or _KEEP_ROWS.search(text) or _FILTER_ROWS.search(text)
    if clause is None:
        return None
    condition = read_row_test(clause["test"], state.columns, clause["link"] in ("with", "having"))
    if condition is None:
        return None
    return _keep("filter", {"condition": negate(condition) if dropped else condition}, state)


def _read_top(text: str, state: TableState) -> TableClause | None:
    priced = _PRICED.search(text)
    if priced is not None:
        return _make_top(priced["k"], find_named_column("price", state.columns), bool(priced["high"]), state)
    extreme = _EXTREME.search(text)
    if extreme is not None:
        by = find_named_column(extreme["by"], state.columns)
        return _make_top(extreme["k"], by, bool(extreme["high"]), state)
    top = _TOP.search(text)
    if top is None:
        return None
    is_high = top["end"].lower() != "bottom" and not top["low"]
    if top["by"]:
        return _make_top(top["k"], find_named_column(top["by"], state.columns), is_high, state)
    # After an order the top is the first rows, whatever they were ordered by.
    if state.is_sorted and is_high:
        return _keep("limit", {"rows": int(top["k"])}, state)
    if top["noun"] and not re.fullmatch(GENERIC_ROWS, top["noun"].lower()):
        return None  # "the top 5 prices" are of the prices, "the top 5 cities" of something else
    # Without a column the only measure is meant; of several, none is guessed.
    by = state.figure or (state.measures[0] if len(set(state.measures)) == 1 else None)
    return _make_top(top["k"], by, is_high, state)


def _make_top(k: str, by: str | None, is_high: bool, state: TableState) -> TableClause | None:
    if by is None or int(k) == 0:
        return None
    return _keep("top_k", {"k": int(k), "by": by, **({} if is_high else {"descending": False})}, state)


def _read_limit(text: str, state: TableState) -> TableClause | None:
    limit = _LIMIT.search(text)
    return _keep("limit", {"rows": int(limit["rows"] or limit["rows2"])}, state) if limit else None


def _read_order(text: str, state: TableState) -> TableClause | None:
    alone = _WAY_ALONE.search(text)
    if alone is not None:
        key = {"column": state.figure, "descending": _is_descending(alone["way"])}
        return _keep("sort", {"keys": [key]}, state) if state.figure else None
    order = _ORDER.search(text)
    if order is None or not order["keys"].strip().lower().startswith("by "):
        return None
    keys = []
    for part in re.split(r",? (?:and|then) (?:then )?|, ", order["keys"].strip()):
        key_words = _KEY.search(part)
        column = find_named_column(key_words["by"], state.columns) if key_words else None
        if key_words is None or column is None:
            return None
        keys.append({"column": column, "descending": _is_descending(key_words["way"] or "")})
    return _keep("sort", {"keys": keys}, state)


def _is_descending(way: str) -> bool:
    return re.match(rf"desc|(?:{_HIGH}) first|from high", way.lower()) is not None


def _read_group(text: str, state: TableState) -> TableClause | None:
    grouped = next((match for pattern in _GROUPED if (match := pattern.search(text))), None)
    if grouped is None:
        return None
    keys = find_named_columns(grouped["keys"], state.columns)
    if keys is None:
        return None
    aggregation = {"name": "count", "function": "count"}
    if grouped["function"]:
        words = grouped["function"].lower()
        function = next(name for name, names in _FUNCTIONS.items() if re.fullmatch(names, words))
        column = find_named_column(grouped["column"], state.columns)
        if column is None:
            return None
        aggregation = {"name": f"{_STEMS[function]}_{column}", "function": function, "column": column}
    if aggregation["name"] in keys:
        return None
    config = {"keys": keys, "aggregations": [aggregation]}
    return TableClause([("group_by", config)], [*keys, aggregation["name"]])


def _read_derived(text: str, state: TableState) -> TableClause | None:
    derived = _DERIVED.search(text)
    terms = _SUM.search(derived["value"].strip()) if derived else None
    if derived is None or terms is None:
        return None
    first, second = (_read_operand(terms[side], state.columns) for side in ("left", "right"))
    if first is None or second is None:
        return None
    op = _OPS.get(terms["op"].lower(), terms["op"])
    expression = {"kind": "arithmetic", "op": op, "left": first, "right": second}
    # Unknown columns stay unknown: a list of the new one alone would refuse all others.
    columns = [*state.columns, derived["name"]] if state.columns else []
    config = {"columns": [{"name": derived["name"], "expression": expression}]}
    return TableClause([("derive", config)], columns)


def _read_operand(words: str, columns: Sequence[str]) -> dict[str, Any] | None:
    if re.fullmatch(NUMBER, words):
        return {"kind": "literal", "value": read_number(words)}
    column = find_named_column(words, columns)
    return {"kind": "column", "name": column} if column else None


def _read_selected(text: str, state: TableState) -> TableClause | None:
    selected = _SELECTED.search(text)
    if selected is None:
        return None
    names = find_named_columns(selected["columns"].removeprefix("only "), state.columns)
    # `keep the price` may mean rows or a column; `keep the column price` cannot.
    if names is None or (len(names) < 2 and not selected["noun"]):
        return None
    return TableClause([("select", {"columns": [{"name": name} for name in names]})], names)
