"""Messages that make a table of random rows: "a data set of 100 rows with dates and sales from 1 to 9"."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

from pydantic import ValidationError

from app.plans.compiler import compile_plan
from app.plans.expressions import Scalar
from app.plans.plan import (
    MAX_GENERATED_ROWS,
    GeneratedColumn,
    GenerateSource,
    Plan,
)

_KIND = r"(?:sample|random|synthetic|test|dummy|fake|mock|toy|made[- ]up|example|artificial|simulated|demo)"
_SET = r"(?:data[- ]?sets?|data ?frames?|data|tables?|rows?|records?|csv(?: file)?)"
_REQUEST = re.compile(
    r"^\W{0,5}(?:(?:please|can you|could you|would you|let's|i want you to|i want|i need|i'd like) )*"
    r"(?:to )?(?:make|create|generate|build|simulate|invent|mock up|fake|synthesi[sz]e|produce)"
    r"(?: me| us)?(?: up)?(?: an?| the| some| another)?\b(?P<head>.{0,80}?)\b(?:with|containing|having"
    r"|of columns|:)\s"
    r"(?P<columns>.{1,1500})$",
    re.IGNORECASE | re.DOTALL,
)
_IS_MADE = re.compile(rf"\b{_KIND}\b", re.IGNORECASE)
_COUNTS_ROWS = re.compile(r"\b\d[\d,]{0,15} (?:rows|records|lines|observations)\b", re.IGNORECASE)
_SELECTS_ROWS = re.compile(
    r"\bthe (?:\w{3,20}est|most|least|best|worst|top|bottom)\b"
    r"|\b(?:where|whose|above|below|over|under|missing)\b"
    r"|\b(?:more|less|greater|fewer|higher|lower|larger|smaller) than\b|[<>]",
    re.IGNORECASE,
)
"""Words that select rows of a table: "create a table of 10 rows with the highest revenue" makes none up."""
_IS_SET = re.compile(rf"\b{_SET}\b", re.IGNORECASE)
_ROWS = re.compile(
    r"\b(\d[\d,]{0,9}) ?(k|thousand|million)?\b(?: \w{1,20}){0,2}? ?(?:rows?|records?|lines?|entries"
    r"|observations|\w+s)?",
    re.IGNORECASE,
)
_TITLE = re.compile(
    rf"\b(?:(?:of|about|for|called|named) (?:the |some |\d[\d,]* )?|\d )(?!{_KIND}\b"
    rf"|{_SET}\b)(?P<name>[a-z]\w{{2,40}})\b",
    re.IGNORECASE,
)
_VERBS = r"(?:show|plot|draw|give|list|chart|compute|calculate|tell|display|make|find)"
_THEN = re.compile(
    rf"(?:[,;.]| and)? ?\b(?:and then|then|and(?= {_VERBS}\b))\b,? ?|[;\n]|\. (?=[A-Z])", re.IGNORECASE
)
_NUMBER = r"-?\d[\d,]{0,15}(?:\.\d{1,15})?"
_RANGE = re.compile(
    rf"\b(?:between|from|in|ranging from|range)? ?(?P<low>{_NUMBER}) ?(?:and|to|-|\u2013"
    rf"|\.\.) ?(?P<high>{_NUMBER})\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:date|day|time|timestamp|month|week|year|quarter)s?\b|\b(?:dai|month|week|hour)ly\b", re.IGNORECASE
)
_START = re.compile(
    r"\b(?:from|starting|since|beginning)\b[a-z ]{0,15}(\d{4})(?:-(\d\d))?(?:-(\d\d))?", re.IGNORECASE
)
_UNITS = {
    "month": "month",
    "week": "week",
    "hour": "hour",
    "quarter": "quarter",
    "year": "year",
    "time": "hour",
}
_FLAG = re.compile(r"\b(?:booleans?|true\W{1,5}false|flags?)\b", re.IGNORECASE)
_YES_NO = re.compile(r"\byes\W{1,5}(?:or |and )?no\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"\b(?:\w+[ _])?(?:ids?|identifiers?|index)\b", re.IGNORECASE)
_DECIMAL = re.compile(
    r"\b(?:prices?|amounts?|decimals?|floats?|rates?|shares?|numbers?|real|weights?|temperatures?)\b",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"\b(?:an?|the|some|random|numeric|numerical|integer|decimal|float|whole|uniform|categorical|text"
    r"|boolean|columns?"
    r"|fields?|values?|for|each|row|called|named|of|with|daily|monthly|weekly|hourly|starting|uniformly"
    r"|distributed"
    r"|flags?|true|false|yes|no|or|and)\b|[^\w ]",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\s{0,8}(?:\"[^\"]{1,60}\"|'[^']{1,60}'|[A-Z][\w-]{0,40}(?: [A-Z][\w-]{0,40})?|\d{1,6}|[A-Za-z])\s{0,8}"
)
_MARKED_LIST = re.compile(
    r"^(?P<noun>[\w ]{1,60}?)(?::| of| like| such as| from| among| being| either) (?P<value>.*)$"
)
_PLAIN_LIST = re.compile(r"^(?P<noun>[\w ]{1,60}?) (?P<value>(?:[A-Z\"']|\d).*)$")
"""A noun and its first value: behind a word for it any, else one with a capital, in quotes or a number."""
_PARENTHESES = re.compile(r"(?P<noun>[\w ]{1,60}?) ?\((?P<values>[^()]{1,400})\)")
_JOIN = re.compile(r",\s{0,8}(?:and |or )?|\s{1,8}(?:and|or)\s{1,8}", re.IGNORECASE)
_WORD = re.compile(rf"{_VALUE.pattern}|\s{{0,8}}[\w-]{{1,40}}\s{{0,8}}")
_COLUMNS = re.compile(r"^\s*(?:the )?(?:columns|fields|variables):? ", re.IGNORECASE)
_AND, _COMMA = "\x00", "\x01"
"""Signs for the `and` of a range and the comma between values: no message holds them."""
DEFAULT_ROWS = 100
"""Rows of a table whose message says no number: enough for a chart, few enough to read."""
FIRST_DAY = date(2024, 1, 1)
"""First day of dates whose message says none."""


class MadeTable(NamedTuple):
    """A table to make: its plan. `rest`: what the message asks for after it. `readings`: what it left open."""

    name: str
    plan: Plan
    rest: str
    readings: Sequence[str]

    def make_sql(self) -> str:
        """Build the statement that makes the table."""
        return f'CREATE TABLE "{self.name}" AS {compile_plan(self.plan, {}).sql}'

    def describe(self) -> str:
        source = self.plan.source
        rows = source.rows if isinstance(source, GenerateSource) else 0
        names = ", ".join(_list_names(self.plan))
        return " ".join([f"Made the table {self.name}: {rows:,} random rows of {names}.", *self.readings])


class UnclearTable(NamedTuple):
    """The reason why a table cannot be made."""

    reason: str


def parse_made_table(message: str, existing: Sequence[str]) -> MadeTable | UnclearTable | None:
    """Read a message that makes a table of random rows; None for another one. `existing`: names of tables."""
    request = _REQUEST.match(" ".join(message.split()))
    if request is None or not _is_made_up(request):
        return None
    head, text = request["head"], request["columns"]
    then = _THEN.search(text)
    rest = text[then.end() :].strip() if then else ""
    text = _COLUMNS.sub("", text[: then.start()] if then else text)
    rows = _read_rows(head)
    if rows is not None and not 1 <= rows <= MAX_GENERATED_ROWS:
        return UnclearTable(f"A made table has 1 to {MAX_GENERATED_ROWS:,} rows, not {rows:,}.")
    columns = list(_read_columns(text.rstrip(" .!")))
    unclear = [column for column in columns if isinstance(column, UnclearTable)]
    if unclear or not columns:
        return unclear[0] if unclear else UnclearTable(_EXPLANATION)
    created = [column for column in columns if isinstance(column, _MadeColumn)]
    names = [column.generated.name for column in created]
    if len(set(names)) < len(names):
        return UnclearTable(f"Two columns have the same name: {', '.join(names)}.")
    readings = [reading for column in created for reading in column.readings]
    if rows is None:
        readings.insert(0, f"{DEFAULT_ROWS} rows, since the message says no number.")
    try:
        source = GenerateSource(
            kind="generate", rows=rows or DEFAULT_ROWS, columns=[c.generated for c in created]
        )
    except ValidationError as error:
        return UnclearTable(f"The table is refused. {_describe_fault(error)}")
    name = _find_name(head, existing)
    return MadeTable(name, Plan(source=source, steps=[]), rest, readings)


def _is_made_up(request: re.Match[str]) -> bool:
    """Check for a set of data that is made up: by a word for that, or by its number of rows alone."""
    if not _IS_SET.search(request[0]):
        return False
    if _IS_MADE.search(request["head"]):
        return True
    return bool(_COUNTS_ROWS.search(request["head"])) and not _SELECTS_ROWS.search(request["columns"])


_EXPLANATION = "Say its columns, such as: 100 rows with dates, sales between 1 and 9, and categories A, B, C."


class _MadeColumn(NamedTuple):
    generated: GeneratedColumn
    readings: Sequence[str] = ()


def _read_rows(head: str) -> int | None:
    match = _ROWS.search(head)
    if match is None:
        return None
    scale = {"k": 1_000, "thousand": 1_000, "million": 1_000_000}.get((match[2] or "").casefold(), 1)
    return int(match[1].replace(",", "")) * scale


def _find_name(head: str, existing: Sequence[str]) -> str:
    title = _TITLE.search(head)
    name = title["name"].casefold() if title and not _IS_SET.fullmatch(title["name"]) else "sample"
    used = {other.casefold() for other in existing}
    names = [name, *(f"{name}_{number}" for number in range(2, len(used) + 3))]
    return next(name for name in names if name not in used)


def _read_columns(text: str) -> Iterator[_MadeColumn | UnclearTable]:
    """Read the columns of a list. Values behind a noun are its values: `categories A, B and C`."""
    items = [item for item in _JOIN.split(_guard(text)) if item.strip()]
    place = 0
    while place < len(items):
        item = items[place].replace(_AND, " and ").strip()
        place += 1
        list_match = _PARENTHESES.fullmatch(item)
        if list_match is not None and _COMMA in item:
            yield _choose(list_match["noun"], list_match["values"].split(_COMMA))
            continue
        marked, plain = _MARKED_LIST.match(item), _PLAIN_LIST.match(item)
        ahead, pattern = (marked, _WORD) if marked else (plain, _VALUE)
        if ahead is None or _RANGE.search(item) or not pattern.fullmatch(ahead["value"]):
            yield _read_column(item)
            continue
        values = [ahead["value"]]
        while place < len(items) and pattern.fullmatch(items[place]):
            values.append(items[place])
            place += 1
        yield _choose(ahead["noun"], values)


def _guard(text: str) -> str:
    """Keep ranges and values in parentheses from being split."""
    text = re.sub(r"(between \S{1,40}) and ", rf"\1{_AND}", text, flags=re.IGNORECASE)
    return re.sub(
        r"\([^()]{0,400}\)", lambda match: re.sub(r"\s{0,8}(?:,|\bor\b|\band\b)\s{0,8}", _COMMA, match[0]), text
    )


def _choose(noun: str, values: Sequence[str]) -> _MadeColumn | UnclearTable:
    texts = [value.strip(" ()\"'.") for value in values]
    name = _name_of(noun) or "category"
    numbers = [int(text) for text in texts if text.isdecimal()]
    scalars: list[Scalar] = [*numbers] if len(numbers) == len(texts) else [*texts]
    return _generate(name, type="choice", values=scalars)


def _generate(name: str, readings: Sequence[str] = (), **facts: Any) -> _MadeColumn | UnclearTable:
    """Make a column; the reason where the limits of plans refuse it, such as those of a choice's values."""
    try:
        return _MadeColumn(GeneratedColumn.model_validate({"name": name, **facts}), readings)
    except ValidationError as error:
        return UnclearTable(f"The column {name[:60]} is refused. {_describe_fault(error)}")


def _describe_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    return f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}."


def _read_column(item: str) -> _MadeColumn | UnclearTable:
    limits = _RANGE.search(item)
    noun = item[: limits.start()] + item[limits.end() :] if limits and not _DATE.search(item) else item
    if _DATE.search(item):
        return _make_dates(item)
    name = _name_of(noun)
    if name is None:
        return UnclearTable(f"It is not clear which column {item.strip()!r} is. {_EXPLANATION}")
    if _YES_NO.search(item):
        return _generate(name, type="choice", values=["yes", "no"])
    if _FLAG.search(item):
        return _generate(name, type="boolean")
    if limits is None and _IDENTIFIER.fullmatch(item.strip()):
        return _generate(name, type="index")
    low, high = (float(limits[end].replace(",", "")) for end in ("low", "high")) if limits else (0.0, 100.0)
    if low > high:
        return UnclearTable(f"The range of {name} goes from {low:g} down to {high:g}.")
    # "Between 0 and 1" asks for shares: whole numbers would all be one of the two.
    is_whole = low.is_integer() and high.is_integer() and high - low >= 2 and not _DECIMAL.search(item)
    readings = () if limits else (f"{name} is from 0 to 100, since the message says no range.",)
    return _generate(name, readings, type="integer" if is_whole else "number", low=low, high=high)


def _make_dates(item: str) -> _MadeColumn | UnclearTable:
    """One date after another, by the unit that is named."""
    start = _START.search(item)
    first = FIRST_DAY
    if start is not None:
        try:
            first = date(int(start[1]), int(start[2] or 1), int(start[3] or 1))
        except ValueError:
            text = "-".join(part for part in start.groups() if part)
            return UnclearTable(f"There is no date {text}.")
    word = next((word for word in _UNITS if re.search(rf"\b{word}", item, re.IGNORECASE)), "")
    unit = _UNITS.get(word, "day")
    name = "date" if unit == "day" else "time" if unit == "hour" else word
    readings = () if start else (f"{name} begins on {first.isoformat()}.",)
    return _generate(name, readings, type="datetime", start=first.isoformat(), unit=unit)


def _name_of(noun: str) -> str | None:
    """The name of a column: its words without those that say how it is made, the last one in the singular."""
    parts = " ".join(_NOISE.sub(" ", noun).split()).casefold().split()
    if not parts or len(parts) > 4 or not all(re.fullmatch(r"[a-z]\w*", part) for part in parts):
        return None
    return "_".join([*parts[:-1], _singular(parts[-1])])


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word in ("sales", "earnings", "expenses") or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-2] if word.endswith(("xes", "ches", "shes")) else word[:-1]


def _list_names(plan: Plan) -> list[str]:
    source = plan.source
    return [column.name for column in source.columns] if isinstance(source, GenerateSource) else []
