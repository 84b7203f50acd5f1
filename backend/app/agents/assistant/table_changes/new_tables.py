"""Tables that a conversation makes of answers, of questions and of other tables, and tables that it drops."""

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
from app.agents.assistant.table_changes.column_phrases import (
    TableColumns,
    explain_no_column,
    find_columns,
)
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.tables.scope import QuestionScope, RowSource
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.plans import build
from app.plans.compiler import compile_plan
from app.plans.plan import Plan

_NAME = r"[`\"']?(?P<name>[^\W\d]\w{0,62})[`\"']?"
_CALLED = r"(?: table)?(?: (?:called|named))?"
_ANSWER = (
    r"(?:this|that|it|these|those|them|the (?:result|results|answer|table|rows|last (?:result|answer)))"
    r"(?: (?:result|answer|table|rows))?"
)
_SAVE = re.compile(
    rf"(?P<verb>save|store|keep|remember|make) {_ANSWER}(?: as| called| named|(?: as)?(?: an?| the)?(?: new)?"
    rf"(?: table| view)(?: called| named)?) {_NAME}(?: table)?",
    re.IGNORECASE,
)
_MADE_OF = re.compile(
    rf"(?:make|create|build|save|store)(?: me)? (?:an? |the )?(?:new )?table(?: called| named)? {_NAME} "
    r"(?:of|with|from|for|as|containing|holding|that has) (?P<question>.{3,300})",
    re.IGNORECASE,
)
_KEPT_AS = re.compile(
    r"(?:keep|save|store|put) (?:only |just )?(?P<question>.{3,200}?) (?:as|in|into) (?:an? )?"
    r"(?:new |separate )?table"
    rf"(?: called| named)? {_NAME}",
    re.IGNORECASE,
)
_LOOKUP = re.compile(
    r"(?:add|bring|pull|look up|get) (?:the )?(?P<columns>.{1,100}?) (?:from|of|in) (?:the )?"
    r"(?P<source>\w{1,63}) (?:to|into|onto) (?:the )?(?P<target>\w{1,63})",
    re.IGNORECASE,
)
_COPY = re.compile(
    rf"(?:make |create )?(?:an? )?copy (?:of )?(?P<table>\w{{1,63}}) (?:as|to|into|called|named) {_NAME}",
    re.IGNORECASE,
)
_TWO_TABLES = (
    r"(?:the )?(?:tables? )?(?P<first>\w{1,63}) (?:and|with|to|onto|under) (?:the )?(?P<second>\w{1,63})"
)
_INTO = rf"(?: (?:as|into|in)(?: an?| one)?(?: new)?{_CALLED}(?: {_NAME})?)?"
_JOIN = re.compile(
    rf"(?:join|merge|combine|link) {_TWO_TABLES}"
    rf"(?: (?:on|by|using|over|via) (?:the )?(?:column )?(?P<key>[\w ]{{1,60}}?))?{_INTO}",
    re.IGNORECASE,
)
_APPEND = re.compile(rf"(?:append|stack|concatenate|union) {_TWO_TABLES}{_INTO}", re.IGNORECASE)
_DROP = re.compile(r"(?:drop|delete|remove) (?:the )?table [`\"']?(?P<table>\w{1,63})[`\"']?", re.IGNORECASE)
_NO_NAMES = word_set(
    """
    csv file excel xlsx json parquet workflow pipeline chart picture image png pdf report table dataset query
    please now for to in as somewhere again simple short brief bigger smaller wider red blue green stacked
    horizontal line bar descending ascending weekly daily monthly percentages percent shares
    """
)
"""Words behind `save this as` that are no names of tables: forms, and how an answer should look."""


def save_answer(request: ChangeRequest) -> Reading:
    """Read `save this as region_sales`: the rows of the last answer as a table."""
    match = _SAVE.fullmatch(request.text)
    if match is None or match["name"].casefold() in _NO_NAMES:
        return None
    says_table = re.search(r"\b(?:table|view|called|named)\b", request.text, re.IGNORECASE) is not None
    if match["verb"].casefold() == "make" and not says_table:
        return None
    last = next((turn for turn in reversed(request.earlier) if turn.has_result), None)
    if last is None or last.sql is None or last.changed:
        return UnclearTableChange(
            "There is no answer with rows to keep. Ask a question first, then say it again."
        )
    return _create(request, match["name"], last.sql.rstrip().rstrip(";"), f"the rows of {last.message!r}")


def make_table_of(request: ChangeRequest) -> Reading:
    """Read `make a table recent of the orders from 2024`."""
    match = _MADE_OF.fullmatch(request.text) or _KEPT_AS.fullmatch(request.text)
    if match is None:
        return None
    source = request.find_table(match["question"])
    if source is not None:
        return _create(request, match["name"], select_rows(source.name), f"the rows of {source.name}")
    parsed = request.parse_question(match["question"])
    if not isinstance(parsed, ParsedQuestion):
        return UnclearTableChange(f"I made no table: “{match['question']}” is not understood. {parsed.reason}")
    # All columns of rows: a list for reading shows those alone that the question speaks of.
    has_rows = not any(step.kind in ("group", "pivot", "profile", "correlate") for step in parsed.plan.steps)
    steps = [step for step in parsed.plan.steps if not (has_rows and step.kind == "select")]
    plan = parsed.plan.model_copy(update={"steps": steps})
    sql = compile_plan(plan, make_table_schemas(request.tables)).sql
    words = " ".join((f"“{match['question']}”.", *parsed.interpretations)).rstrip(".")
    return _create(request, match["name"], sql, words)


def copy_table(request: ChangeRequest) -> Reading:
    """Read `copy orders as backup`."""
    match = _COPY.fullmatch(request.text)
    table = request.find_table(match["table"]) if match else None
    if match is None or table is None:
        return None
    return _create(request, match["name"], select_rows(table.name), f"the rows of {table.name}")


def _create(request: ChangeRequest, name: str, sql: str, words: str) -> Reading:
    if (namesake := request.find_table(name)) is not None:
        return UnclearTableChange(f"There is a table {namesake.name} already. Say another name.")
    return ChangeStatements(
        name, write_table(name, sql, replaces=False), f"Made the table `{name}` of {words}."
    )


def join_tables(request: ChangeRequest) -> Reading:
    """Read `join orders and products on product_id as sales`: each row of one with its row of the other."""
    match = _JOIN.fullmatch(request.text)
    if match is None:
        return None
    first, second = request.find_table(match["first"]), request.find_table(match["second"])
    if first is None or second is None or first is second:
        return None
    scope = QuestionScope((first, second), frozenset())
    key = (match["key"] or "").casefold().replace(" ", "_")
    links = [
        link for link in scope.links if not key or key in (link.foreign_key.casefold(), link.key.casefold())
    ]
    if not links:
        return UnclearTableChange(
            f"{first.name} and {second.name} have no column that tells which rows belong together: one whose "
            f"values are unique in one of them{f', as {key} would have to be' if key else ''}. "
            "Join them with `SQL:`."
        )
    rows = RowSource(scope, links[0].many, keeps_unmatched=True)
    rows.joined.append(links[0])
    sql = compile_plan(Plan(source=rows.source, steps=rows.steps()), make_table_schemas(request.tables)).sql
    name = match["name"] or f"{links[0].many}_{links[0].single}"
    words = (
        f"every row of {links[0].many} with its row of {links[0].single}, by `{links[0].foreign_key}`"
        f"{'' if links[0].key == links[0].foreign_key else f' and `{links[0].key}`'}; rows without one stay, "
        "with missing values"
    )
    return _create(request, name, sql, words)


def look_up_columns(request: ChangeRequest) -> Reading:
    """Read `add the floor from wards to patients`: columns of the row that belongs to each row."""
    match = _LOOKUP.fullmatch(request.text)
    if match is None:
        return None
    source, target = request.find_table(match["source"]), request.find_table(match["target"])
    if source is None or target is None or source is target:
        return None
    columns = find_columns(match["columns"], request.narrow((source,)))
    if not isinstance(columns, TableColumns):
        return columns or explain_no_column(match["columns"], request.narrow((source,)))
    scope = QuestionScope((target, source), frozenset())
    link = scope.link(target.name, source.name)
    if link is None:
        return UnclearTableChange(
            f"{target.name} and {source.name} have no column that tells which row of {source.name} "
            "belongs to a row."
        )
    if shared := _names(target) & set(columns.names):
        return UnclearTableChange(f"{target.name} has {list_names(sorted(shared))} already. Rename it first.")
    rows = RowSource(scope, target.name, keeps_unmatched=True)
    rows.joined.append(link)
    steps = [*rows.steps(), build.select([*(column.name for column in target.columns), *columns.names])]
    sql = compile_plan(Plan(source=rows.source, steps=steps), make_table_schemas(request.tables)).sql
    sentence = f"Added {list_names(columns.names)} of {source.name} to {target.name}, by `{link.foreign_key}`."
    return ChangeStatements(target.name, write_table(target.name, sql), sentence)


def append_tables(request: ChangeRequest) -> Reading:
    """Read `append january and february`: the rows of both, by the names of their columns."""
    match = _APPEND.fullmatch(request.text)
    if match is None:
        return None
    first, second = request.find_table(match["first"]), request.find_table(match["second"])
    if first is None or second is None:
        return None
    differing = sorted(_names(first) ^ _names(second))
    if differing:
        return UnclearTableChange(
            f"{first.name} and {second.name} have different columns: {list_names(differing)}. Rename or remove "
            "them first."
        )
    sql = f"{select_rows(first.name)} UNION ALL BY NAME {select_rows(second.name)}"
    name = match["name"] or f"{first.name}_{second.name}"
    return _create(request, name, sql, f"the rows of {first.name} and {second.name}")


def _names(table: TableProfile) -> set[str]:
    return {column.name for column in table.columns}


def drop_table(request: ChangeRequest) -> Reading:
    """Read `drop the table backup`."""
    match = _DROP.fullmatch(request.text)
    table = request.find_table(match["table"]) if match else None
    if match is None or table is None:
        return None
    return ChangeStatements(table.name, f"DROP TABLE {quote(table.name)}", f"Dropped the table {table.name}.")
