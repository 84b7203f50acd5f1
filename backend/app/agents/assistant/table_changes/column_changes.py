"""Changes of whole columns: their names, types and spelling, and columns that are left out."""

import re
from collections.abc import Callable

from app.agents.assistant.table_changes.change import (
    ChangeRequest,
    ChangeStatements,
    Reading,
    UnclearTableChange,
    list_names,
    quote,
    replace_columns,
)
from app.agents.assistant.table_changes.column_phrases import TableColumns, explain_no_column, find_columns
from app.counts import describe_count

_RENAME = re.compile(r"(?:rename|relabel|change the (?:column )?name of) (?P<pairs>.{3,400})", re.IGNORECASE)
_PAIR = re.compile(
    r"(?P<former>.{1,80}?) (?:to|as|into|->|=>) [`\"']?(?P<name>[^\W\d][\w %()-]{0,62}?)[`\"']?", re.IGNORECASE
)
_BARE_PAIR = re.compile(r"(?P<former>\w{1,63}) (?P<name>[^\W\d]\w{0,62})")
_NEXT_PAIR = re.compile(r",? and (?=.{1,80}? (?:to|as|into) )|, ?(?=.{1,80}? (?:to|as|into) )", re.IGNORECASE)
_IN_TABLE = re.compile(r"(?P<pairs>.{3,400}) (?:in|of) (?:the )?(?:table )?(?P<table>\w{1,63})", re.IGNORECASE)
_SAYS_COLUMN = re.compile(r"\b(?:columns?|fields?|variables?|features?)\b", re.IGNORECASE)
_REMOVE = re.compile(
    r"(?:drop|remove|delete|get rid of|discard|throw away) (?P<columns>.{1,300})", re.IGNORECASE
)
_CONVERT = re.compile(
    r"(?:convert|cast|parse|turn|change|make|set|treat|transform) (?:the (?:data ?)?type of )?"
    r"(?P<column>.{1,80}?)"
    r"(?:'s type| type)? ?\b(?:in)?(?:to|as|be)? ?(?:an? )?(?P<type>numbers?|numeric|floats?|decimals?"
    r"|doubles?|integers?|ints?|whole numbers?|text|strings?|categor(?:y|ies|ical)|dates?|datetimes?"
    r"|timestamps?|booleans?|bools?)(?: type| column)?",
    re.IGNORECASE,
)
_TYPES = {
    "DOUBLE": ("number", "numeric", "float", "decimal", "double"),
    "BIGINT": ("integer", "int", "whole number"),
    "VARCHAR": ("text", "string", "category", "categorie", "categorical"),
    "TIMESTAMP": ("date", "datetime", "timestamp"),
    "BOOLEAN": ("boolean", "bool"),
}
_TYPE_WORDS = {
    "DOUBLE": "a number",
    "BIGINT": "a whole number",
    "VARCHAR": "text",
    "TIMESTAMP": "a date",
    "BOOLEAN": "true or false",
}
_ROUND = re.compile(
    r"round (?P<column>.{1,80}?)(?: (?:to|at|with) (?:(?P<digits>\d)|(?:the nearest |an? )?(?:integers?"
    r"|whole(?: numbers?)?))(?: (?:decimals?|digits?|places?|decimal places))?)?",
    re.IGNORECASE,
)
_SPELLING = re.compile(
    r"(?:make|convert|change|turn|put|standardi[sz]e|normali[sz]e) (?P<column>.{1,80}?) "
    r"(?:to |into |in )?(?:all )?"
    r"(?P<case>upper|lower)[ -]?case"
    r"|(?P<verb>upper ?case|lower ?case|trim|strip)(?: (?:the )?(?:white ?)?spaces? (?:of|from|in))?"
    r" (?P<other>.{1,80})",
    re.IGNORECASE,
)
_FACTOR = re.compile(
    r"(?P<verb>multiply|divide) (?P<column>.{1,80}?) by (?P<number>\d{1,12}(?:\.\d{1,6})?)", re.IGNORECASE
)


def rename_columns(request: ChangeRequest) -> Reading:
    """Read `rename salesperson to seller and qty to quantity`, or the new name of a table."""
    match = _RENAME.fullmatch(request.text)
    if match is None:
        return None
    text = match["pairs"]
    if (behind := _IN_TABLE.fullmatch(text)) and (table := request.find_table(behind["table"])) is not None:
        text, request = behind["pairs"], request.narrow((table,))
    pairs = [
        _PAIR.fullmatch(part.strip()) or _BARE_PAIR.fullmatch(part.strip()) for part in _NEXT_PAIR.split(text)
    ]
    renames = [(pair["former"], pair["name"].strip()) for pair in pairs if pair is not None]
    if len(renames) < len(pairs) or not renames:
        return None
    table = request.find_table(renames[0][0])
    if len(renames) == 1 and table is not None:
        statement = f"ALTER TABLE {quote(table.name)} RENAME TO {quote(renames[0][1])}"
        return ChangeStatements(renames[0][1], statement, f"Renamed the table {table.name} to {renames[0][1]}.")
    if not _SAYS_COLUMN.search(match["pairs"]) and _is_shown(renames[0][0], request):
        return None  # the column of the last answer, which has a new name there only
    resolved = [find_columns(former, request) for former, _ in renames]
    for (former, _), columns in zip(renames, resolved, strict=True):
        if columns is None:
            return explain_no_column(former, request)
        if isinstance(columns, UnclearTableChange):
            return columns
    targets = [columns for columns in resolved if isinstance(columns, TableColumns)]
    if any(len(columns.names) != 1 or columns.table is not targets[0].table for columns in targets):
        return UnclearTableChange("Rename columns of one table at a time, each with its own name.")
    new_names = [name for _, name in renames]
    former_names = [columns.names[0] for columns in targets]
    name = targets[0].table.name
    alter = [
        f"ALTER TABLE {quote(name)} RENAME COLUMN {quote(former)} TO {quote(new)}"
        for former, new in zip(former_names, new_names, strict=True)
    ]
    changes = ", ".join(f"`{former}` to `{new}`" for former, new in zip(former_names, new_names, strict=True))
    return ChangeStatements(name, "; ".join(alter), f"Renamed {changes} in {name}.")


def _is_shown(phrase: str, request: ChangeRequest) -> bool:
    columns = find_columns(phrase, request)
    names = columns.names if isinstance(columns, TableColumns) else [phrase.strip()]
    return bool(request.shown_columns & set(names))


def remove_columns(request: ChangeRequest) -> Reading:
    """Read `drop the column shipping_days`, `remove price and discount`."""
    match = _REMOVE.fullmatch(request.text)
    if match is None:
        return None
    says_column = bool(_SAYS_COLUMN.search(match["columns"]))
    columns = find_columns(match["columns"], request)
    if columns is None:
        return explain_no_column(match["columns"], request) if says_column else None
    if isinstance(columns, UnclearTableChange):
        return columns
    # Without the noun a name has to be written as it is, and not to be in the answer that is looked at.
    is_exact = all(name.casefold() in request.text.casefold() for name in columns.names)
    if not says_column and (not is_exact or request.shown_columns & set(columns.names)):
        return None
    name = columns.table.name
    if len(columns.names) == len(columns.table.columns):
        return UnclearTableChange(f"These are all columns of {name}; a table keeps one at least.")
    statements = [f"ALTER TABLE {quote(name)} DROP COLUMN {quote(column)}" for column in columns.names]
    return ChangeStatements(name, "; ".join(statements), f"Removed {list_names(columns.names)} from {name}.")


def convert_columns(request: ChangeRequest) -> Reading:
    """Read `convert zip to text`, `make order_date a date`."""
    match = _CONVERT.fullmatch(request.text)
    if match is None:
        return None
    columns = find_columns(match["column"], request)
    if not isinstance(columns, TableColumns):
        return columns
    word = match["type"].casefold()
    kind = next(kind for kind, nouns in _TYPES.items() if word in nouns or word.removesuffix("s") in nouns)
    name = columns.table.name
    statements = [
        f"ALTER TABLE {quote(name)} ALTER COLUMN {quote(column)} TYPE {kind}" for column in columns.names
    ]
    return ChangeStatements(
        name, "; ".join(statements), f"Made {list_names(columns.names)} of {name} {_TYPE_WORDS[kind]}."
    )


def _change_expressions(
    phrase: str, request: ChangeRequest, write: Callable[[str], str], words: str
) -> Reading:
    """Write the columns of a phrase by an expression of each. `words`: a sentence with `{}` for them."""
    columns = find_columns(phrase, request)
    if not isinstance(columns, TableColumns):
        return columns
    if request.shown_columns & set(columns.names) and not _SAYS_COLUMN.search(request.text):
        return None  # the answer that is looked at may be meant
    name = columns.table.name
    expressions = {column: write(quote(column)) for column in columns.names}
    return ChangeStatements(
        name, replace_columns(name, expressions), f"{words.format(f'{list_names(columns.names)} of {name}')}."
    )


def round_columns(request: ChangeRequest) -> Reading:
    """Read `round price to 2 decimals`."""
    match = _ROUND.fullmatch(request.text)
    if match is None:
        return None
    digits = int(match["digits"] or 0)
    return _change_expressions(
        match["column"],
        request,
        lambda column: f"round({column}, {digits})",
        f"Rounded {{}} to {describe_count(digits, 'decimal')}",
    )


def change_spelling(request: ChangeRequest) -> Reading:
    """Read `make region uppercase`, `trim name`."""
    match = _SPELLING.fullmatch(request.text)
    if match is None:
        return None
    verb = (match["case"] or match["verb"]).casefold().replace(" ", "")
    function = {"upper": "upper", "uppercase": "upper", "lower": "lower", "lowercase": "lower"}.get(
        verb, "trim"
    )
    words = {
        "upper": "Wrote {} in capital letters",
        "lower": "Wrote {} in small letters",
        "trim": "Removed the outer spaces of {}",
    }[function]
    return _change_expressions(
        match["column"] or match["other"], request, lambda column: f"{function}({column})", words
    )


def scale_columns(request: ChangeRequest) -> Reading:
    """Read `divide price by 100`."""
    match = _FACTOR.fullmatch(request.text)
    if match is None:
        return None
    verb, number = match["verb"].casefold(), match["number"]
    if verb == "divide" and float(number) == 0:
        return UnclearTableChange("Nothing can be divided by 0.")
    sign = "*" if verb == "multiply" else "/"
    participle = "Multiplied" if verb == "multiply" else "Divided"
    return _change_expressions(
        match["column"], request, lambda column: f"{column} {sign} {number}", f"{participle} {{}} by {number}"
    )
