"""Tables as the compiler sees them, and refusals that name their place in the plan."""

from collections.abc import Collection, Iterable, Mapping

from pydantic import BaseModel, TypeAdapter

from app.errors import InvalidInput
from app.modeling.problem.name_resolution import hint_names, nearest_names
from app.plans.expressions import ColumnType

TableSchema = Mapping[str, ColumnType]
"""Columns of a table in order: `{name: type}`."""


def refuse(place: str, problem: str, code: str = "plan_invalid", **facts: object) -> InvalidInput:
    """Build the error of a plan; `place` is a path such as `steps[2].condition.left`."""
    return InvalidInput(code, f"{place}: {problem}", place=place, **facts)


def resolve(name: str, names: Collection[str], noun: str, place: str) -> str:
    """Find a name as it is spelled in the schema; case is ignored, as in DuckDB."""
    # Exactly first, which is the usual case and needs no walk over wide tables.
    if name in names:
        return name
    folded = name.casefold()
    for candidate in names:
        if candidate.casefold() == folded:
            return candidate
    close = nearest_names(name, names)
    problem = f"There is no {noun} {name}. {hint_names(close, names)}"
    raise refuse(place, problem, f"unknown_{noun}", **{noun: name}, nearest=close)


def fold_names(names: Iterable[str]) -> set[str]:
    """Return names as `take_name` compares them."""
    return {name.casefold() for name in names}


def take_name(name: str, folded_names: set[str], place: str) -> None:
    """Check that no column has this name, and add it to the folded names."""
    folded = name.casefold()
    if folded in folded_names:
        raise refuse(place, f"There are two columns {name}; give one another name.", "duplicate_column")
    folded_names.add(folded)


class _StoredColumn(BaseModel):
    name: str
    type: str = "text"


_STORED_COLUMNS = TypeAdapter(list[_StoredColumn])


def read_table_schema(columns: object) -> TableSchema:
    """Read the stored columns of a dataset or frame (`[{"name", "type", ...}]`); unknown types are text."""
    stored = _STORED_COLUMNS.validate_python(columns)
    return {column.name: _TYPES.get(column.type, "text") for column in stored}


_TYPES: dict[str, ColumnType] = {
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "datetime": "datetime",
}
