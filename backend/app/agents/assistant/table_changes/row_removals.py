"""Rows that are removed: duplicates, those with missing values, and those that meet a condition."""

import re

from app.agents.assistant.table_changes.change import (
    ROW_NUMBER,
    ChangeRequest,
    ChangeStatements,
    Reading,
    UnclearTableChange,
    list_names,
    quote,
    rewrite_in_order,
    write_table,
)
from app.agents.assistant.table_changes.column_phrases import TableColumns, explain_no_column, find_columns
from app.agents.assistant.table_changes.gap_phrases import GAP, GAPS, find_gaps
from app.agents.assistant.table_changes.row_conditions import read_condition
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.plans import build
from app.plans.compiler import compile_plan
from app.plans.expressions import Expression
from app.plans.plan import DatasetSource, Plan

_ROWS = r"(?:rows?|records?|entries|lines|observations)"
_REMOVE = r"(?:remove|drop|delete|eliminate|discard|get rid of|filter out)"
_DUPLICATES = re.compile(
    rf"(?:{_REMOVE}(?: all)?(?: the| any)?(?: exact)? duplicate[sd]?(?: (?:{_ROWS}|values?))?"
    r"|de-?duplicate|dedupe)"
    r"(?: (?:in |of |from )?(?P<scope>(?:the )?\w{1,63}))??"
    r"(?: (?:by|on|based on|with the same|per|for|of|in|from) (?P<keys>.{1,200}?))?"
    r"(?:,? (?:and )?keep(?:ing)? (?:only )?the (?P<side>first|last|latest|newest)(?: one| row| record)?)?",
    re.IGNORECASE,
)
_ONE_PER = re.compile(
    rf"keep (?:only )?(?:one|the first|a single)(?: {_ROWS})? (?:per|for each|for every|of each) "
    r"(?P<keys>.{1,200})",
    re.IGNORECASE,
)
_INCOMPLETE = re.compile(
    rf"(?:{_REMOVE}|dropna)(?: all)?(?: the| any)?(?: (?P<noun>\w{{1,40}}))?"
    r"(?: (?:with|that have|having|containing|which have|where there are|where))?(?: an?| any| some)? "
    rf"(?:(?:{GAPS}|nulls|nans)(?: (?:in|of|for|from) (?P<columns>.{{1,100}}?))?"
    rf"|(?P<subject>.{{1,100}}?) (?:is|are) {GAP}|{GAP} (?P<other>.{{1,100}}?))",
    re.IGNORECASE,
)
_DROP_NA = re.compile(
    r"(?:drop ?na|drop nulls|drop nans?)(?: (?:in|of|from) (?P<columns>.{1,100}))?", re.IGNORECASE
)
_CONDITION = re.compile(
    r"(?:delete (?:all )?(?:the )?(?P<rows>\w{1,40}) (?P<condition>.{1,200})"
    r"|(?:remove|drop|discard) (?:all )?(?:the )?(?P<nouns>\w{1,40})"
    r" (?P<restriction>(?:where|with|that|which|whose|from|of|in|before|after|since|until|having|above|below"
    r"|over|under|between) .{1,200}))",
    re.IGNORECASE,
)
"""Rows to remove. `Remove` and `drop` are said of other things, too: only certain words make a condition."""
_FROM_TABLE = re.compile(r" (?:from|in|of) (?:the |my )?(?:table|data|dataset|data set)$", re.IGNORECASE)
_THIS_TABLE = frozenset(
    {"the table", "table", "the data", "data", "it", "them", "this", "my data", "this table"}
)


def remove_duplicates(request: ChangeRequest) -> Reading:
    """Read `remove duplicates`, `deduplicate orders by customer_id`, `keep one row per email`."""
    match = _DUPLICATES.fullmatch(request.text)
    scope = match["scope"] if match else None
    match = match or _ONE_PER.fullmatch(request.text)
    if match is None:
        return None
    side = match.groupdict().get("side") or "first"
    table, phrase = request.find_table(scope or ""), match["keys"]
    if phrase and (table_of_keys := request.find_table(phrase)) is not None:
        table, phrase = table_of_keys, None
    elif scope and table is None and scope.casefold() not in _THIS_TABLE:
        phrase = phrase or scope
    if phrase and phrase.casefold() not in _THIS_TABLE:
        tables = (table,) if table else request.tables
        columns = find_columns(phrase, request.narrow(tables))
        if not isinstance(columns, TableColumns):
            return columns or explain_no_column(phrase, request)
        rows = f"rows with the same {list_names(columns.names)}"
        return _keep_one(columns.table, columns.names, rows, side.casefold())
    if table is None and len(request.tables) > 1:
        names = list_names([table.name for table in request.tables])
        example = f"remove duplicates of {request.tables[0].name}"
        return UnclearTableChange(f"Say of which table: {names}. For example: {example}.")
    table = table or request.tables[0]
    return _keep_one(table, [column.name for column in table.columns], "equal rows", side.casefold())


def _keep_one(table: TableProfile, keys: list[str], rows: str, side: str) -> ChangeStatements:
    partition = ", ".join(map(quote, keys))
    order = "" if side == "first" else " DESC"
    condition = f"row_number() OVER (PARTITION BY {partition} ORDER BY {quote(ROW_NUMBER)}{order}) = 1"
    statement = rewrite_in_order(table.name, {}, condition)
    return ChangeStatements(
        table.name,
        statement,
        f"Kept the {'first' if side == 'first' else 'last'} of {rows} in {table.name}.",
        rows_before=table.rows,
    )


def remove_incomplete_rows(request: ChangeRequest) -> Reading:
    """Read `drop rows with missing age`, `remove rows where age is missing`, `dropna`."""
    match = _DROP_NA.fullmatch(request.text)
    phrase = match["columns"] if match else None
    if match is None:
        match = _INCOMPLETE.fullmatch(request.text)
        if match is None or not _means_rows(match["noun"], request):
            return None
        request = _narrow_to_noun(match["noun"], request)
        phrase = match["columns"] or match["subject"] or match["other"]
    columns = find_gaps(phrase, request)
    if not isinstance(columns, TableColumns):
        return columns
    name = columns.table.name
    # The rows in which the condition is not true stay, so no row is lost by an unknown value.
    gaps = build.either([build.is_missing(build.column(column)) for column in columns.names])
    which = "" if len(columns.names) == 1 else "one of "
    sentence = f"Removed the rows of {name} in which {which}{list_names(columns.names)} is missing."
    return ChangeStatements(name, _write_rest(request, name, gaps), sentence, rows_before=columns.table.rows)


def _narrow_to_noun(noun: str | None, request: ChangeRequest) -> ChangeRequest:
    """Narrow a request to the table whose rows a noun calls by its name: `patients with missing weight`."""
    names = {noun.casefold(), f"{noun.casefold()}s"} if noun else set[str]()
    tables = [table for table in request.tables if table.name.casefold() in names]
    return request.narrow(tables) if tables else request


def _means_rows(noun: str | None, request: ChangeRequest) -> bool:
    """Tell if a noun is one for rows: a general one, or the name of a table."""
    if noun is None or re.fullmatch(_ROWS, noun, re.IGNORECASE):
        return True
    names = {table.name.casefold() for table in request.tables}
    return not names.isdisjoint({noun.casefold(), f"{noun.casefold()}s"})


def remove_rows(request: ChangeRequest) -> Reading:
    """Read `delete the orders where quantity is above 8`: the condition is read as that of a question."""
    match = _CONDITION.fullmatch(_FROM_TABLE.sub("", request.text))
    if match is None or not _means_rows(match["rows"] or match["nouns"], request):
        return None
    words = match["condition"] or match["restriction"]
    condition = read_condition(match["rows"] or match["nouns"], words, request)
    if isinstance(condition, UnclearTableChange):
        return UnclearTableChange(f"I removed no rows: {condition.reason}")
    name = condition.table
    rows = next(table.rows for table in request.tables if table.name == name)
    sentence = " ".join((f"Removed the rows of {name} {words}.", *condition.readings))
    return ChangeStatements(name, _write_rest(request, name, condition.expression), sentence, rows_before=rows)


def _write_rest(request: ChangeRequest, table: str, condition: Expression) -> str:
    """Write a table without the rows that meet a condition; those of which it is not known stay."""
    rest = build.either([build.negate(condition), build.is_missing(condition)])
    plan = Plan(source=DatasetSource(kind="dataset", table=table), steps=[build.keep(rest)])
    return write_table(table, compile_plan(plan, make_table_schemas(request.tables)).sql)
