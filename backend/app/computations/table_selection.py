"""Conditions and order of the rows that somebody looks at in a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from app.json_types import JsonValue

_COMPARISONS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

_TEXT_ALPHABETS = {
    "integer": frozenset("0123456789-"),
    "number": frozenset("0123456789-+.einfa"),
    "datetime": frozenset("0123456789-+:. infty"),
    "boolean": frozenset("truefalse"),
}
"""Lower-case characters of the text that DuckDB writes for values of a type."""


@dataclass(frozen=True)
class QueryColumn:
    """A column of a query. `sql`: its quoted name there. `type`: as `uploads.sql.Column`."""

    sql: str
    type: str


@dataclass(frozen=True)
class Selection:
    """Filter, search and order of rows.

    `sort`: a column, with missing values last in both directions; rows that are equal stay in file order.
    `filter_column` is compared by `comparison` with `value`, as numbers, days or times where both are, else as
    text; `contains` ignores case, `missing` needs no value. `search`: text in any column, ignoring case.
    """

    sort: str | None = None
    descending: bool = False
    filter_column: str | None = None
    comparison: str = "="
    value: str = ""
    search: str = ""

    @classmethod
    def from_json(cls, selection: Mapping[str, JsonValue]) -> Self:
        """Read JSON members of the same names; unknown ones raise TypeError."""
        return cls(**selection)  # type: ignore[arg-type]  # the API has checked them

    @property
    def is_whole_file(self) -> bool:
        """True if all rows are selected, in the order of the file."""
        return self.sort is None and self.filter_column is None and not self.search

    def where(self, columns: Mapping[str, QueryColumn]) -> tuple[str, list[str]]:
        """Return the WHERE clause, empty for all rows, and the values of its parameters.

        `columns`: all columns by their names. Raises KeyError for a filter by another column.
        """
        conditions, values = [], []
        if self.filter_column is not None:
            condition, own_values = self._comparison(columns[self.filter_column])
            conditions.append(condition)
            values += own_values
        if self.search:
            needle = self.search.lower()
            # To write out every number of a large table as text takes seconds, and most words are in none.
            matches = [
                f"contains(lower({column.sql}::varchar), ?)"
                for column in columns.values()
                if set(needle) <= _TEXT_ALPHABETS.get(column.type, set(needle))
            ]
            conditions.append(f"({' OR '.join(matches) or 'false'})")
            values += [needle] * len(matches)
        return (f"WHERE {' AND '.join(conditions)}", values) if conditions else ("", [])

    def order_by(self, columns: Mapping[str, QueryColumn], row: str) -> str:
        """Return the ORDER BY clause; `row`: SQL of the place in the file. Raises KeyError as `where`."""
        if self.sort is None:
            return f"ORDER BY {row}"
        return f"ORDER BY {columns[self.sort].sql} {'DESC' if self.descending else 'ASC'} NULLS LAST, {row}"

    def _comparison(self, column: QueryColumn) -> tuple[str, list[str]]:
        if self.comparison == "missing":
            return f"{column.sql} IS NULL", []
        if self.comparison == "contains":
            return f"contains(lower({column.sql}::varchar), lower(?))", [self.value]
        sign = _COMPARISONS[self.comparison]
        text = f"{column.sql}::varchar"
        match column.type:
            case "number" | "integer":
                as_typed = f"{column.sql} {sign} try_cast(? AS double)"
            case "datetime":  # a day means all of its moments
                type_ = "date" if len(self.value.strip()) <= len("2024-12-31") else "timestamp"
                as_typed = f"{column.sql}::{type_} {sign} try_cast(? AS {type_})"
            case _:
                as_typed = f"try_cast({text} AS double) {sign} try_cast(? AS double)"
        return f"coalesce({as_typed}, {text} {sign} ?)", [self.value, self.value]
