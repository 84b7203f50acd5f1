"""Rows of a table by sort, filter and search, page by page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from app.computations.uploads import sql
from app.json_types import JsonValue

_COMPARISONS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

_ROW_NUMBER = "file_row_number"
"""DuckDB's column that keeps equal rows in file order; a table with a column of that name goes without."""


@dataclass(frozen=True)
class Selection:
    """Filter, search and order of rows.

    `sort`: a column, with missing values last in both directions; rows that are equal stay in file order.
    `filter_column` is compared by `comparison` with `value`, as a number where both are, else as text;
    `contains` ignores case, `missing` needs no value. `search`: text in any column, ignoring case.
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

    def where(self, columns: Sequence[str]) -> tuple[str, list[str]]:
        """Return the WHERE clause, empty for all rows, and the values of its parameters."""
        conditions, values = [], []
        if self.filter_column is not None:
            condition, own_values = self._comparison(sql.name(self.filter_column))
            conditions.append(condition)
            values += own_values
        if self.search:
            texts = ", ' ', ".join(f"coalesce({sql.name(column)}::varchar, '')" for column in columns)
            conditions.append(f"contains(lower(concat({texts})), lower(?))")
            values.append(self.search)
        return (f"WHERE {' AND '.join(conditions)}", values) if conditions else ("", [])

    def _comparison(self, column: str) -> tuple[str, list[str]]:
        if self.comparison == "missing":
            return f"{column} IS NULL", []
        if self.comparison == "contains":
            return f"contains(lower({column}::varchar), lower(?))", [self.value]
        sign = _COMPARISONS[self.comparison]
        number, text = f"try_cast({column}::varchar AS double)", f"{column}::varchar"
        as_number = f"{number} {sign} try_cast(? AS double)"
        return f"coalesce({as_number}, {text} {sign} ?)", [self.value, self.value]

    def query(self, table: Path, where: str, columns: Sequence[str]) -> str:
        """Return the SELECT of a page; its last two parameters are LIMIT and OFFSET."""
        file = sql.text(table)
        if self.sort is None or _ROW_NUMBER in columns:  # rows of one file come in its order
            order = f"ORDER BY {self._order}" if self.sort is not None else ""
            return f"SELECT * FROM read_parquet({file}) {where} {order} LIMIT ? OFFSET ?"  # noqa: S608 - quoted
        return (
            f"SELECT * EXCLUDE ({_ROW_NUMBER}) FROM read_parquet({file}, {_ROW_NUMBER} = true) "  # noqa: S608 - quoted
            f"{where} ORDER BY {self._order}, {_ROW_NUMBER} LIMIT ? OFFSET ?"
        )

    @property
    def _order(self) -> str:
        return f"{sql.name(self.sort or '')} {'DESC' if self.descending else 'ASC'} NULLS LAST"
