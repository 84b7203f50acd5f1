"""Conditions and order of the rows that somebody looks at in a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from app.computations.tables.row_conditions import QueryColumn, RowCondition, column_of, read_condition

_TEXT_ALPHABETS = {
    "integer": frozenset("0123456789-"),
    "number": frozenset("0123456789-+.einfa"),
    "datetime": frozenset("0123456789-+:. infty"),
    "boolean": frozenset("truefalse"),
}
"""Lower-case characters of the text that DuckDB writes for values of a type."""


@dataclass(frozen=True)
class RowOrder:
    """Order by a column, with missing values last in both directions."""

    column: str
    descending: bool = False

    def sql(self, columns: Mapping[str, QueryColumn]) -> str:
        """Return a part of an ORDER BY clause. Raises InvalidInput for another column."""
        direction = "DESC" if self.descending else "ASC"
        return f"{column_of(self.column, columns).sql} {direction} NULLS LAST"


@dataclass(frozen=True)
class Selection:
    """Filter, search and order of rows.

    `sort`: by the first key, then the next; rows that are equal stay in file order. `search`: text in any
    column, ignoring case.
    """

    sort: tuple[RowOrder, ...] = ()
    filter: RowCondition | None = None
    search: str = ""

    @classmethod
    def from_json(cls, selection: Mapping[str, Any]) -> Self:
        """Read `{"sort": [{"column", "descending"}], "filter", "search"}`, each of which may be left out."""
        condition = selection.get("filter")
        return cls(
            tuple(RowOrder(**key) for key in selection.get("sort", ())),
            read_condition(condition) if condition else None,
            selection.get("search", ""),
        )

    @property
    def is_whole_table(self) -> bool:
        """True if all rows are selected, in whichever order."""
        return self.filter is None and not self.search

    def where(self, columns: Mapping[str, QueryColumn]) -> tuple[str, list[str]]:
        """Return the WHERE clause, empty for all rows, and the values of its parameters.

        `columns`: all columns by their names. Raises InvalidInput for a filter by another column.
        """
        conditions, values = [], []
        if self.filter is not None:
            condition, own_values = self.filter.sql(columns)
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
        """Return the ORDER BY clause; `row`: SQL of the place in the file. Raises InvalidInput as `where`."""
        return f"ORDER BY {', '.join([*(key.sql(columns) for key in self.sort), row])}"
