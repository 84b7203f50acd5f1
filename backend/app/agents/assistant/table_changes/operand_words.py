"""Arithmetic in words as an expression of SQL: `systolic times 2`, `the ratio of weight to height`."""

import re
from collections.abc import Sequence

from app.agents.assistant.table_changes.change import quote
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.matching.column_mentions import find_column

_OPERATORS = {
    "times": "*",
    "multiplied by": "*",
    "plus": "+",
    "minus": "-",
    "divided by": "/",
    "per": "/",
    "*": "*",
    "+": "+",
    "-": "-",
    "/": "/",
}
_OPERATOR = re.compile(r" (times|multiplied by|plus|minus|divided by|per|[*+/-]) ", re.IGNORECASE)
_PAIR = re.compile(
    r"(?:the )?(?P<kind>ratio|quotient|difference|sum|product|mean|average) (?:of|between) (?P<first>.{1,60}?)"
    r" (?:and|to|by|over) (?P<second>.{1,60})",
    re.IGNORECASE,
)
_PAIR_FORMS = {
    "ratio": "{0} / {1}",
    "quotient": "{0} / {1}",
    "difference": "{0} - {1}",
    "sum": "{0} + {1}",
    "product": "{0} * {1}",
    "mean": "({0} + {1}) / 2",
    "average": "({0} + {1}) / 2",
}
_FUNCTION = re.compile(
    r"(?:the )?(?P<name>log(?:arithm)?|ln|square root|sqrt|square|absolute value|abs)(?: of)? "
    r"(?P<operand>.{1,60})"
    r"|(?P<squared>.{1,60}) squared",
    re.IGNORECASE,
)
_FUNCTIONS = {
    "log": "ln({0})",
    "logarithm": "ln({0})",
    "ln": "ln({0})",
    "square root": "sqrt({0})",
    "sqrt": "sqrt({0})",
    "square": "{0} ^ 2",
    "absolute value": "abs({0})",
    "abs": "abs({0})",
}
_SPAN = re.compile(
    r"(?:the )?(?:number of |time in |duration in )?(?P<unit>second|minute|hour|day|week|month|year)s? "
    r"(?:between|from) "
    r"(?P<start>.{1,60}?) (?:and|to|until) (?P<end>.{1,60})",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")
_NUMBERS = ("integer", "number")
_WORDS = re.compile(r"[\w `\"'.-]{1,80}")
MAX_OPERANDS = 12
"""Operands of one expression: longer ones are written as SQL."""


def write_arithmetic(text: str, table: TableProfile) -> str | None:
    """Write words as an expression of SQL over a table; None where a part is no column and no number of it."""
    plain = text.strip(" .")
    if match := _SPAN.fullmatch(plain):
        ends = [_write_operand(match[end], table, types=("datetime",)) for end in ("start", "end")]
        return f"date_diff('{match['unit'].casefold()}', {', '.join(map(str, ends))})" if all(ends) else None
    if match := _PAIR.fullmatch(plain):
        pair = [_write_operand(match[place], table) for place in ("first", "second")]
        return _PAIR_FORMS[match["kind"].casefold()].format(*pair) if all(pair) else None
    if match := _FUNCTION.fullmatch(plain):
        operand = _write_operand(match["operand"] or match["squared"], table)
        form = _FUNCTIONS[(match["name"] or "square").casefold()]
        return form.format(operand) if operand else None
    parts = _OPERATOR.split(plain)
    if len(parts) == len(("end", "minus", "start")) and _OPERATORS[parts[1].casefold()] == "-":
        ends = [_write_operand(parts[place], table, types=("datetime",)) for place in (2, 0)]
        if all(ends):
            return f"date_diff('day', {', '.join(map(str, ends))})"
    if not 1 < len(parts) <= 2 * MAX_OPERANDS:
        return None
    return _join(parts, table)


def _join(parts: Sequence[str], table: TableProfile) -> str | None:
    """Join operands, at even places, by their operators."""
    operands = [_write_operand(part, table) for part in parts[::2]]
    if not all(operands):
        return None
    signs = [_OPERATORS[part.casefold()] for part in parts[1::2]]
    rest = (f" {sign} {operand}" for sign, operand in zip(signs, operands[1:], strict=True))
    return f"{operands[0]}{''.join(rest)}"


def _write_operand(text: str, table: TableProfile, types: Sequence[str] = _NUMBERS) -> str | None:
    """Write a number, or the column of one of the types that words name."""
    if _NUMBER.fullmatch(text.strip()):
        return text.strip()
    if not _WORDS.fullmatch(text):
        return None  # brackets and functions are SQL, whose order would be lost here
    column = find_column(text, [column.name for column in table.columns if column.type in types])
    return quote(column) if column else None
