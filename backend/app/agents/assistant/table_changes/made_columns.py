"""Columns made in words: of arithmetic, of a condition as a flag, and of two values by a condition."""

import re

from app.agents.assistant.table_changes.change import (
    ChangeRequest,
    ChangeStatements,
    Reading,
    UnclearTableChange,
    list_names,
    quote,
    select_rows,
    write_table,
)
from app.agents.assistant.table_changes.column_phrases import TableColumns, find_columns
from app.agents.assistant.table_changes.operand_words import write_arithmetic
from app.agents.assistant.table_changes.row_conditions import WordedCondition, read_condition
from app.agents.assistant.tables.column_expressions import list_columns, parse_expression
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.plans import build
from app.plans.compiler import compile_plan
from app.plans.expressions import Expression
from app.plans.plan import DatasetSource, Plan

_MAKE = r"(?:add|create|make|compute|calculate|define|derive|build)(?: me)?(?: an?| the)?(?: new)?"
_NOUN = r"(?:column|field|feature|variable|flag|indicator)"
_ASSIGNED = re.compile(r"(?P<name>[^\W\d]\w{0,59}) ?:?= ?(?P<value>.{3,300})")
_LABELLED = re.compile(
    rf"{_MAKE} (?:{_NOUN}(?: called| named)? [`\"']?(?P<name>[^\W\d]\w{{0,59}})[`\"']?"
    rf"|[`\"']?(?P<flag>[^\W\d]\w{{0,59}})[`\"']? {_NOUN}) ?"
    r"(?:=|:|,|as|for|with|of|from|which is|that is|equal to|when|where|if|by)? ?(?P<value>.{3,300})",
    re.IGNORECASE,
)
_AS_COLUMN = re.compile(
    rf"(?:add|insert|append|compute|calculate|keep|store|save) (?P<value>.{{3,200}}?) (?:as|into|in) (?:an? )?"
    rf"(?:new |extra )?{_NOUN}"
    r"(?: (?:called|named) [`\"']?(?P<name>[^\W\d]\w{0,59})[`\"']?)?",
    re.IGNORECASE,
)
_FLAG = re.compile(r"\b(?:flag|indicator)\b", re.IGNORECASE)
"""Nouns of a column that says whether a condition holds."""
_CHOICE = re.compile(
    r"[`\"']?(?P<then>[\w ]{1,40}?)[`\"']? (?:if|when|where) (?P<condition>.{3,150}?),? (?:and |or )?"
    r"(?:else|otherwise) [`\"']?(?P<otherwise>[\w ]{1,40})[`\"']?",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"split (?P<column>.{1,60}?)"
    r"(?: (?:at|by|on) (?P<mark>[`\"'][^`\"']{1,5}[`\"']|(?:the )?(?:space|comma|hyphen|dash|slash)s?))?"
    r" into (?P<first>\w{1,40}(?: name)?) and (?P<second>\w{1,40}(?: name)?)",
    re.IGNORECASE,
)
_MARKS = {"space": " ", "comma": ",", "hyphen": "-", "dash": "-", "slash": "/"}


def assign_column(request: ChangeRequest) -> Reading:
    """Read `bmi = weight / height ^ 2`; None where it may be a condition (`region = North`)."""
    match = _ASSIGNED.fullmatch(request.text)
    if match is None:
        return None
    tree = parse_expression(match["value"])
    if tree is None or not list_columns(tree) or not re.search(r"[-+*/(]", match["value"]):
        return None
    names = {name.casefold() for name in list_columns(tree)}
    tables = [
        table for table in request.tables if names <= {column.name.casefold() for column in table.columns}
    ]
    return _add(tables[0], match["name"], f"({match['value']})", match["value"]) if tables else None


def make_column(request: ChangeRequest) -> Reading:
    """Read `add a column bmi as weight divided by height`, `create an is_heavy flag for weight over 100`."""
    match = _LABELLED.fullmatch(request.text) or _AS_COLUMN.fullmatch(request.text)
    if match is None:
        return None
    value = match["value"].strip(" .:,")
    name = match.groupdict().get("flag") or match["name"] or _make_name(value)
    if parse_expression(value) is not None:
        return None  # `tables.new_columns` has the words for what is wrong with it
    if choice := _CHOICE.fullmatch(value):
        return _choose(request, name, choice)
    if _FLAG.search(request.text):
        return _derive_flag(request, name, value)
    expressions = ((table, write_arithmetic(value, table)) for table in request.tables)
    return next((_add(table, name, f"({text})", value) for table, text in expressions if text), None)


def _make_name(words: str) -> str:
    """Make a name of words: `ratio of weight to height` is ratio_of_weight_to_height."""
    return "_".join(re.findall(r"\w+", words.casefold().removeprefix("the ")))[:40].strip("_") or "value"


def _add(table: TableProfile, name: str, expression: str, words: str) -> ChangeStatements:
    former = next((column.name for column in table.columns if column.name.casefold() == name.casefold()), None)
    columns = f"* REPLACE ({expression} AS {quote(former)})" if former else f"*, {expression} AS {quote(name)}"
    statement = write_table(table.name, select_rows(table.name, columns))
    sentence = f"Made the column {former or name} = {words} in {table.name}."
    return ChangeStatements(table.name, statement, sentence, column=former or name)


def _read_condition(request: ChangeRequest, words: str) -> WordedCondition | UnclearTableChange:
    rows = request.tables[0].name if len(request.tables) == 1 else "rows"
    condition = read_condition(rows, f"where {words}", request)
    if isinstance(condition, UnclearTableChange):
        return UnclearTableChange(f"I made no column: {condition.reason}")
    return condition


def _derive_flag(request: ChangeRequest, name: str, words: str) -> Reading:
    condition = _read_condition(request, words)
    if isinstance(condition, UnclearTableChange):
        return condition
    return _derive(request, condition.table, name, condition.expression, f"true where {words}")


def _choose(request: ChangeRequest, name: str, choice: re.Match[str]) -> Reading:
    condition = _read_condition(request, choice["condition"])
    if isinstance(condition, UnclearTableChange):
        return condition
    then, otherwise = choice["then"].strip(), choice["otherwise"].strip()
    value = build.case([(condition.expression, build.literal(then))], build.literal(otherwise))
    words = f"{then} where {choice['condition']}, otherwise {otherwise}"
    return _derive(request, condition.table, name, value, words)


def _derive(request: ChangeRequest, table: str, name: str, value: Expression, words: str) -> Reading:
    plan = Plan(source=DatasetSource(kind="dataset", table=table), steps=[build.derive(name, value)])
    sql = compile_plan(plan, make_table_schemas(request.tables)).sql
    sentence = f"Made the column {name} in {table}: {words}."
    return ChangeStatements(table, write_table(table, sql), sentence, column=name)


def split_column(request: ChangeRequest) -> Reading:
    """Read `split name into first and last name`: what stands before the first space, and the rest."""
    match = _SPLIT.fullmatch(request.text)
    if match is None:
        return None
    columns = find_columns(match["column"], request)
    if not isinstance(columns, TableColumns):
        return columns
    if len(columns.columns) > 1 or columns.columns[0].type != "text":
        return UnclearTableChange(f"Only text can be split, and {list_names(columns.names)} is none.")
    word = (match["mark"] or "space").casefold().removeprefix("the ").removesuffix("s")
    mark = _MARKS.get(word, word.strip("`\"'"))
    first, second = match["first"], match["second"]
    # `first and last name` are two names.
    first = f"{first} name" if second.endswith(" name") and not first.endswith(" name") else first
    text, literal = quote(columns.names[0]), mark.replace("'", "''")
    head = f"trim(split_part({text}, '{literal}', 1))"
    rest = f"nullif(trim(substr({text}, length(split_part({text}, '{literal}', 1)) + {len(mark) + 1})), '')"
    names = [name.replace(" ", "_") for name in (first, second)]
    if shared := {column.name for column in columns.table.columns} & set(names):
        return UnclearTableChange(f"{columns.table.name} has {list_names(sorted(shared))} already.")
    parts = f"*, {head} AS {quote(names[0])}, {rest} AS {quote(names[1])}"
    table = columns.table.name
    return ChangeStatements(
        table,
        write_table(table, select_rows(table, parts)),
        f"Split `{columns.names[0]}` of {table} at the first {word.strip()} into {list_names(names)}.",
    )
