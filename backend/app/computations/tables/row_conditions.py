"""Conditions on the rows of a table, as trees of comparisons, and their SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.errors import InvalidInput
from app.json_types import JsonValue

COMPARISONS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
"""Comparisons with one value, with their operators of SQL."""
_CONJUNCTIONS = {"and": "AND", "or": "OR"}


@dataclass(frozen=True)
class QueryColumn:
    """A column of a query. `sql`: its quoted name there. `type`: as `uploads.sql.Column`."""

    sql: str
    type: str


def column_of(name: str, columns: Mapping[str, QueryColumn]) -> QueryColumn:
    """Return a column by its name. Raises InvalidInput that names the columns."""
    try:
        return columns[name]
    except KeyError:
        raise InvalidInput("column_not_found", f"There is no column {name!r}.", columns=[*columns]) from None


@dataclass(frozen=True)
class ColumnCondition:
    """A comparison of a column with `values`: numbers, days or times where both sides are, else texts.

    `comparison`: one of COMPARISONS and `contains`, which ignores case, with one value; `between` with two that
    both belong to it; `in` with any number; `missing` and `present` with none.
    """

    column: str
    comparison: str
    values: tuple[str, ...] = ()

    def sql(self, columns: Mapping[str, QueryColumn]) -> tuple[str, list[str]]:
        """Return SQL of the condition and the values of its parameters. Raises InvalidInput as `column_of`."""
        column = column_of(self.column, columns)
        match self.comparison:
            case "missing":
                return f"{column.sql} IS NULL", []
            case "present":
                return f"{column.sql} IS NOT NULL", []
            case "contains":
                # Values are parameters, never text of the statement.
                return f"contains(lower({column.sql}::varchar), lower(?))", [*self.values]
            case "in":
                parts = [_compare(column, "=", value) for value in self.values]
                return _join("OR", parts)
            case "between":
                low, high = self.values
                return _join("AND", [_compare(column, ">=", low), _compare(column, "<=", high)])
            case _:
                (value,) = self.values
                return _compare(column, COMPARISONS[self.comparison], value)


@dataclass(frozen=True)
class RowConjunction:
    """Several conditions, of which all (`and`) or one (`or`) must hold."""

    conjunction: str
    members: "tuple[RowCondition, ...]"

    def sql(self, columns: Mapping[str, QueryColumn]) -> tuple[str, list[str]]:
        """Return SQL as `ColumnCondition.sql`."""
        return _join(_CONJUNCTIONS[self.conjunction], [member.sql(columns) for member in self.members])


RowCondition = ColumnCondition | RowConjunction


def read_condition(condition: Mapping[str, Any]) -> RowCondition:
    """Read checked JSON of a condition: `{"and": [...]}`, `{"or": [...]}` or a comparison."""
    for conjunction in _CONJUNCTIONS:
        if conjunction in condition:
            members = tuple(read_condition(member) for member in condition[conjunction])
            return RowConjunction(conjunction, members)
    values = tuple(_as_text(value) for value in condition.get("values", ()))
    return ColumnCondition(condition["column"], condition["comparison"], values)


def _as_text(value: JsonValue) -> str:
    """Write a value as the database writes cells: `true`, `12.5`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _compare(column: QueryColumn, sign: str, value: str) -> tuple[str, list[str]]:
    text = f"{column.sql}::varchar"
    match column.type:
        case "number" | "integer":
            as_typed = f"{column.sql} {sign} try_cast(? AS double)"
        case "datetime":  # a day means all of its moments
            type_ = "date" if len(value.strip()) <= len("2024-12-31") else "timestamp"
            as_typed = f"{column.sql}::{type_} {sign} try_cast(? AS {type_})"
        case _:
            as_typed = f"try_cast({text} AS double) {sign} try_cast(? AS double)"
    # A value that is no number or day makes the typed comparison null, and is then compared as text.
    return f"coalesce({as_typed}, {text} {sign} ?)", [value, value]


def _join(conjunction: str, parts: Sequence[tuple[str, list[str]]]) -> tuple[str, list[str]]:
    values = [value for _, own in parts for value in own]
    return "(" + f" {conjunction} ".join(condition for condition, _ in parts) + ")", values
