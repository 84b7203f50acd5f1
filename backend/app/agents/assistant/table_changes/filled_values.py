"""Missing values that are filled: with a value, a statistic of the column or a group, or the value before."""

import re

from app.agents.assistant.table_changes.change import (
    ChangeRequest,
    ChangeStatements,
    Reading,
    UnclearTableChange,
    list_names,
    quote,
    quote_text,
    replace_columns,
    rewrite_in_order,
    select_rows,
)
from app.agents.assistant.table_changes.column_phrases import TableColumns, explain_no_column, find_columns
from app.agents.assistant.table_changes.gap_phrases import GAP, GAPS, find_gaps
from app.agents.goals.tables.profiles import Column
from app.counts import describe_count

_FILL = re.compile(
    r"(?P<verb>fill|impute|replace|set|substitute)(?: in| up)?(?: all)?(?: the| any)? "
    rf"(?:(?P<gaps>{GAPS}|gaps|holes|them|those|these|it)(?: (?:in|of|for|from) (?P<columns>.{{1,100}}?))?"
    rf"|{GAP} (?P<other>.{{1,100}}?)|(?P<plain>.{{1,100}}?))"
    r" (?:with|by|to|as|using) (?P<value>.{1,60}?)"
    r"(?: (?:of|for|in|within|per|by) (?:each |every |its |their |the same )?(?P<group>[\w ]{1,40}))?",
    re.IGNORECASE,
)
_FORWARD = re.compile(
    r"(?:forward[ -]?fill|ffill|carry forward|fill down) (?P<columns>.{1,100}?)"
    r"(?: (?:by|along|over) (?P<time>[\w ]{1,40}))?",
    re.IGNORECASE,
)
_SET_WHERE = re.compile(
    rf"set (?P<columns>.{{1,60}}?) (?:to|as) (?P<value>.{{1,60}}?) (?:where|when|if|wherever) "
    rf"(?:it is |it's |they are |the value is )?{GAP}",
    re.IGNORECASE,
)
_WITHOUT_VALUE = re.compile(
    rf"(?:fill|impute|handle|treat|deal with|fix|clean)(?: in| up)?(?: all)?(?: the| any)? {GAPS}"
    r"(?: (?:in|of|for|from) (?P<columns>.{1,100}))?",
    re.IGNORECASE,
)
_FILLS = frozenset({"fill", "impute"})
"""Verbs of missing values, also where the message does not say that they are missing."""
_STATISTICS = {
    "median": ("median", "median value"),
    "avg": ("mean", "average", "mean value", "average value"),
    "mode": ("mode", "most frequent", "most common", "most frequent value", "most common value", "commonest"),
    "min": ("minimum", "min", "lowest value", "smallest value"),
    "max": ("maximum", "max", "highest value", "largest value"),
}
"""Functions of SQL, and the words for them."""
_STATISTIC_NOUNS = {
    "median": "median",
    "avg": "mean",
    "mode": "commonest value",
    "min": "lowest value",
    "max": "highest value",
}
_GROUP_BEFORE = re.compile(
    r"(?:the |its |their )?(?P<group>[\w ]{1,40}?)(?:'s)? (?P<statistic>median|mean|average|mode)",
    re.IGNORECASE,
)
_OF_NUMBERS = frozenset({"median", "avg"})
"""Statistics that only numbers have."""
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")
_ARTICLES = ("the ", "its ", "their ", "a ", "an ", "column ", "each column's ", "respective ")


def fill_missing(request: ChangeRequest) -> Reading:
    """Read `fill missing age with the median`, `fill them with 0`, `... with the mean of each class`."""
    if match := _FORWARD.fullmatch(request.text):
        return _fill_forward(match["columns"], match["time"], request)
    if match := _SET_WHERE.fullmatch(request.text):
        columns = find_columns(match["columns"], request)
        return _fill(columns, _strip_article(match["value"])) if isinstance(columns, TableColumns) else columns
    match = _FILL.fullmatch(request.text)
    if match is None:
        bare = _WITHOUT_VALUE.fullmatch(request.text)
        return _ask_for_value(find_gaps(bare["columns"], request)) if bare else None
    # `replace yes by 1` and `set price to 3` are about values that are there.
    if match["plain"] and match["verb"].casefold() not in _FILLS:
        return None
    phrase = match["columns"] or match["other"] or match["plain"]
    columns = find_gaps(phrase, request, points_back=match["gaps"] is not None)
    if not isinstance(columns, TableColumns):
        return columns
    if group_median := _GROUP_BEFORE.fullmatch(match["value"]):
        # `the ward median` is that of each ward.
        owner = _find_group(group_median["group"], columns, request)
        if isinstance(owner, Column):
            return _fill(columns, group_median["statistic"], owner)
    group = _find_group(match["group"], columns, request)
    if isinstance(group, UnclearTableChange):
        return group
    # Words behind that are no group belong to the value: `fill city with city of London`.
    is_value = group is None and match["group"] and not _names_itself(match["group"], columns, request)
    value = f"{match['value']} {match['group']}" if is_value else match["value"]
    return _fill(columns, _strip_article(value), group)


def _ask_for_value(columns: TableColumns | UnclearTableChange) -> UnclearTableChange:
    if isinstance(columns, UnclearTableChange):
        return columns
    name = columns.names[0]
    value = "the median" if _list_numbers(columns) else "the commonest value"
    return UnclearTableChange(
        f"Values of {list_names(columns.names)} in {columns.table.name} are missing. Say what they are filled "
        f"with, for example: fill missing {name} with {value}; or: drop rows with missing {name}."
    )


def _find_group(
    phrase: str | None, columns: TableColumns, request: ChangeRequest
) -> Column | UnclearTableChange | None:
    """Find the column in whose groups a statistic is taken; None without one, or for the column itself."""
    group = find_columns(phrase, request) if phrase else None
    if not isinstance(group, TableColumns):
        return group
    is_other = (
        group.table is columns.table and len(group.columns) == 1 and group.columns[0] not in columns.columns
    )
    return group.columns[0] if is_other else None


def _names_itself(phrase: str, columns: TableColumns, request: ChangeRequest) -> bool:
    """Tell if `the median of age` names the column that is filled."""
    columns_of_phrase = find_columns(phrase, request)
    is_column = isinstance(columns_of_phrase, TableColumns) and set(columns_of_phrase.names) <= set(
        columns.names
    )
    return is_column or phrase.casefold() in ("column", "the column", "columns")


def _strip_article(value: str) -> str:
    plain = value.strip(" `\"'.")
    for word in _ARTICLES:
        plain = plain.removeprefix(word)
    return plain


def _fill(columns: TableColumns, value: str, group: Column | None = None) -> Reading:
    statistic = _find_statistic(value)
    if statistic is None:
        return _fill_with_value(columns, "0" if value.casefold() == "zero" else value)
    noun = _STATISTIC_NOUNS[statistic]
    usable = _list_numbers(columns) if statistic in _OF_NUMBERS else columns.columns
    if not usable:
        return UnclearTableChange(
            f"Only numbers have a {noun}, and {list_names(columns.names)} is none. Fill it with the commonest "
            "value, or with a text."
        )
    table, names = columns.table.name, [column.name for column in usable]
    if group is None:
        # A subquery and no window, which would not keep the order of the rows.
        statement = replace_columns(
            table,
            {
                name: f"coalesce({quote(name)}, ({select_rows(table, f'{statistic}({quote(name)})')}))"
                for name in names
            },
        )
    else:
        window = f"OVER (PARTITION BY {quote(group.name)})"
        statement = rewrite_in_order(
            table, {name: f"coalesce({quote(name)}, {statistic}({quote(name)}) {window})" for name in names}
        )
    filled = f"the {noun}{f' of each `{group.name}`' if group else ''}"
    left_out = [name for name in columns.names if name not in names]
    rest = f" {list_names(left_out)} stayed: only numbers have a {noun}." if left_out else ""
    return ChangeStatements(table, statement, _describe(columns, usable, filled) + rest)


def _find_statistic(words: str) -> str | None:
    return next((name for name, nouns in _STATISTICS.items() if words.casefold() in nouns), None)


def _list_numbers(columns: TableColumns) -> tuple[Column, ...]:
    return tuple(column for column in columns.columns if column.is_number and not column.is_stored_as_text)


def _describe(columns: TableColumns, usable: tuple[Column, ...], value: str) -> str:
    names = list_names([column.name for column in usable])
    count = sum(round(column.missing * columns.table.rows) for column in usable)
    if not count:
        return f"No value of {names} in {columns.table.name} was missing."
    return f"Filled {describe_count(count, 'missing value')} of {names} in {columns.table.name} with {value}."


def _fill_with_value(columns: TableColumns, value: str) -> Reading:
    """Fill with one value. A number fills numbers where there are some, and any text fills texts."""
    numbers = _list_numbers(columns)
    is_number = _NUMBER.fullmatch(value) is not None
    texts = tuple(column for column in columns.columns if column.type == "text" or column.is_stored_as_text)
    usable = (numbers or texts) if is_number else texts
    if not usable:
        return UnclearTableChange(
            f"{list_names(columns.names)} of {columns.table.name} cannot hold “{value}”. Fill it with a "
            "number, the median, the mean or the commonest value."
        )
    literal = value if numbers and is_number else quote_text(value)
    expressions = {column.name: f"coalesce({quote(column.name)}, {literal})" for column in usable}
    statement = replace_columns(columns.table.name, expressions)
    return ChangeStatements(columns.table.name, statement, _describe(columns, usable, value))


def _fill_forward(phrase: str, time_phrase: str | None, request: ChangeRequest) -> Reading:
    """Fill each gap with the value before it in time."""
    columns = find_columns(phrase, request)
    if not isinstance(columns, TableColumns):
        return columns or explain_no_column(phrase, request)
    table = columns.table
    times = [column for column in table.dates if not column.is_stored_as_text]
    if time_phrase:
        order = find_columns(time_phrase, request)
        times = [*order.columns] if isinstance(order, TableColumns) and order.table is table else []
    if len(times) != 1:
        return UnclearTableChange(
            f"The value before a gap needs an order of the rows. Say by which column of {table.name}, for "
            f"example: forward fill {columns.names[0]} by {times[0].name if times else 'a date'}."
        )
    time = times[0].name
    window = f"OVER (ORDER BY {quote(time)} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    expressions = {
        name: f"coalesce({quote(name)}, last_value({quote(name)} IGNORE NULLS) {window})"
        for name in columns.names
    }
    return ChangeStatements(
        table.name,
        rewrite_in_order(table.name, expressions),
        f"Filled the gaps of {list_names(columns.names)} in {table.name} with the value before by `{time}`.",
    )
