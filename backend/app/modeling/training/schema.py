"""Input schemas of models: inference from the training rows, and conversion of new rows with checks."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.name_resolution import nearest_names
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import Recipe, RecipeJson, parse_recipe, select_inputs
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.recipe.transforms.dates import to_dates
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.json_values import to_json_scalar
from app.modeling.training.value_ranges import find_outside_values
from app.modeling.type_inference.distinct_values import is_text
from app.modeling.type_inference.parsers import ColumnParser, NumberParser, parsers_by_column
from app.modeling.type_inference.vocabulary import TRUTH_VALUES, is_missing_word

SchemaJson = list[dict[str, Any]]
DISTANCE = "distance"
"""Key of a warning: how far the farthest value lies outside, so that the text of the worst batch is kept."""
MAX_CATEGORIES = 100
"""Categories listed per column; a column with as many is not checked for new ones."""


def infer_schema(frame: pd.DataFrame, problem: Problem, recipe: RecipeJson) -> SchemaJson:
    """Describe the raw input columns of a model trained on `frame`, as `computation_facts.SchemaColumn`.

    A column that the recipe drops before anything reads it is not required; nor is the group that only splits,
    nor the present target unless a forecast starts from it.
    """
    inputs = select_inputs(frame, problem)
    optional = find_unused_columns(recipe) | ({problem.target} - _starting_columns(problem))
    if problem.group_column and not problem.time_column:
        optional.add(problem.group_column)
    return [
        _column(inputs[name], str(name) not in optional, problem.truth_words(str(name)))
        for name in inputs.columns
    ]


def _starting_columns(problem: Problem) -> set[str]:
    """Columns needed as the start of a forecast: a forecast of a number is a difference to the current
    value."""
    return {problem.target} if problem.outlook is Outlook.VALUE and not problem.is_classification else set()


def find_unused_columns(recipe: RecipeJson) -> set[str]:
    """Find the raw columns that the recipe drops before anything reads them."""
    dropped: set[str] = set()
    used: set[str] = set()
    for step in parse_recipe(recipe):
        if step.op == "drop":  # type: ignore[attr-defined]  # every operation has it, the base does not
            # A column that an earlier step read is needed, though it is dropped later.
            dropped |= set(step.required_columns()) - used
        used |= set(step.required_columns())
    return dropped


def _column(column: pd.Series, required: bool, truth_words: Sequence[str]) -> dict[str, Any]:
    kind = column_kind(column)
    truths = list(truth_words) if kind is ColumnKind.BOOLEAN and truth_words else None
    measured = kind in (ColumnKind.NUMBER, ColumnKind.DATETIME)
    return {
        "name": str(column.name),
        "type": kind.value,
        "required": required and kind is not ColumnKind.EMPTY,
        "missing_allowed": bool(column.isna().any()),
        "categories": _categories(column) if kind is ColumnKind.CATEGORY else truths,
        "minimum": to_json_scalar(column.min()) if measured else None,
        "maximum": to_json_scalar(column.max()) if measured else None,
    }


def _categories(column: pd.Series) -> list[str]:
    return sorted(str(value) for value in to_category_text(column).dropna().unique())[:MAX_CATEGORIES]


class ConformedRows(NamedTuple):
    """Rows as a model takes them, with warnings about columns.

    `problems`: cells that could not be read, `{"row", "column", "value", "taken_as"}`; they are missing values.
    `outside`: the rows with values outside of the ranges in training, `{"row", "columns"}`.
    """

    inputs: pd.DataFrame
    warnings: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    outside: list[dict[str, Any]]


def conform_rows(
    rows: pd.DataFrame,
    schema: SchemaJson,
    reading: Sequence[Mapping[str, Any]] = (),
    strict_columns: Container[str] = (),
    time_column: str | None = None,
) -> ConformedRows:
    """Convert rows to the model's columns, in order and type.

    `reading`: how raw cells are parsed, as recorded at type inference. A cell that cannot be read is a missing
    value, as in training; in `strict_columns` it is refused. `time_column`: of a model of later rows. Rows are
    named by their index labels. Raises InvalidInput `no_rows`, `missing_columns` or `wrong_type`.
    """
    if rows.empty:
        raise InvalidInput("no_rows", "There are no rows to predict.")
    warnings = check_columns(rows.columns, len(rows), schema)
    columns, parsers, problems = {}, parsers_by_column(reading), []
    outside_names: dict[int, list[str]] = {}
    for column in schema:
        name = column["name"]
        raw = _column_or_missing(rows, name)
        columns[name], unreadable = _convert(raw, column, parsers.get(name))
        if unreadable.any():
            if name in strict_columns:
                raise _wrong_type(raw[unreadable], column)
            problems += _list_problems(raw[unreadable])
            warnings.append(_unreadable_warning(raw[unreadable], column))
        warnings += _value_warnings(columns[name][~unreadable], column)
        if not column["required"]:
            continue
        outside = find_outside_values(columns[name], column, name == time_column)
        if outside is not None:
            count, distance = int(outside.mask.sum()), outside.distance
            warnings.append({**_warning(outside.kind, name, outside.text, count), DISTANCE: distance})
            for row in rows.index[outside.mask][:MAX_PROBLEMS]:
                outside_names.setdefault(_to_position(row), []).append(name)
    marked = [{"row": row, "columns": names} for row, names in sorted(outside_names.items())]
    return ConformedRows(pd.DataFrame(columns, index=rows.index), warnings, problems, marked)


MAX_PROBLEMS = 1_000
"""Unreadable cells of a column that are listed, and rows outside of its range, as many as rows of an answer;
their warnings count all."""


def _to_position(label: object) -> int:
    """The position of a row from its index label: rows to predict have no other index."""
    return int(str(label))


def _list_problems(cells: pd.Series) -> list[dict[str, Any]]:
    return [
        {"row": _to_position(row), "column": str(cells.name), "value": to_json_scalar(value), "taken_as": None}
        for row, value in cells.head(MAX_PROBLEMS).items()
    ]


def _unreadable_warning(cells: pd.Series, column: dict[str, Any]) -> dict[str, Any]:
    row, example = _to_position(cells.index[0]), cells.iloc[0]
    fault = f"{column['name']!r} must be a {column['type']}; row {row} has {example!r}"
    text = f"{fault}, which is taken as a missing value."
    return _warning("unreadable_value", column["name"], text, len(cells))


def _wrong_type(cells: pd.Series, column: dict[str, Any]) -> InvalidInput:
    row, example = _to_position(cells.index[0]), cells.iloc[0]
    return InvalidInput(
        "wrong_type",
        f"{column['name']!r} must be a {column['type']}, but row {row} has {example!r}.",
        column=column["name"],
        row=row,
        expected=column["type"],
    )


def _column_or_missing(rows: pd.DataFrame, name: str) -> pd.Series:
    """The column `name`, all missing if the rows do not have it."""
    if name not in rows.columns:
        return pd.Series(np.nan, index=rows.index, name=name)
    column: pd.Series = rows[name]
    return column


def check_columns(names: Iterable[object], rows: int, schema: SchemaJson) -> list[dict[str, Any]]:
    """Make warnings about columns that the model does not use; raises InvalidInput `missing_columns`."""
    columns = [str(name) for name in names]
    _check_required(columns, schema)
    expected = {column["name"] for column in schema}
    return [
        {
            "kind": "extra_column",
            "column": name,
            "text": f"The model does not use {name!r}; the column was ignored.",
            "rows": rows,
        }
        for name in columns
        if name not in expected
    ]


def _check_required(columns: Sequence[str], schema: SchemaJson) -> None:
    missing = [column["name"] for column in schema if column["required"] and column["name"] not in columns]
    if missing:
        close = {name: nearest_names(name, columns) for name in missing}
        hints = [
            f"{name!r} (did you mean {near[0]!r}?)" if near else f"{name!r}" for name, near in close.items()
        ]
        raise InvalidInput(
            "missing_columns", f"The model needs {', '.join(hints)}.", missing=missing, nearest=close
        )


def _convert(
    raw: pd.Series, column: dict[str, Any], parser: ColumnParser | None
) -> tuple[pd.Series, pd.Series]:
    """Convert a raw column to its type; return it with a mask (rows,) of the cells that do not convert."""
    # One odd cell makes text of a whole column in a batch; its numbers are still read as such.
    if parser is None and column["type"] == "number" and is_text(raw):
        parser = NumberParser(columns=(column["name"],))
    parsed = raw if parser is None else parser.parse(raw)
    converted = _CONVERTERS[column["type"]](parsed)
    lost = converted.isna()
    if lost.any():
        # A missing cell, or a word for one, was read as what it is.
        lost &= parsed.notna() & ~_are_missing_words(parsed)
    if parser is not None:
        lost |= parser.is_unparsed(raw)
    return converted, lost.astype("bool")


def _are_missing_words(cells: pd.Series) -> pd.Series:
    if not is_text(cells):
        return pd.Series(False, index=cells.index)
    return cells.map(lambda cell: isinstance(cell, str) and is_missing_word(cell)).astype("bool")


def _boolean(raw: pd.Series) -> pd.Series:
    parsed = to_category_text(raw).str.strip().str.casefold().map(TRUTH_VALUES)
    return parsed.astype("boolean") if parsed.isna().any() else parsed.astype("bool")


def _number(raw: pd.Series) -> pd.Series:
    if raw.dtype == "float64":
        return raw
    return pd.to_numeric(raw, errors="coerce").astype("float64")


YEAR_RANGE = (1600, 2200)
"""Whole numbers that may be years where a moment is needed: historical series begin in the 17th century."""


def _moment(raw: pd.Series) -> pd.Series:
    """Moments; a year alone, such as 1986, is its first day, as in series by year that are learned from."""
    moments = to_dates(raw)
    missing = moments.isna() & raw.notna()
    if not missing.any():
        return moments
    numbers = pd.to_numeric(raw[missing], errors="coerce")
    years = numbers[(numbers % 1 == 0) & numbers.between(*YEAR_RANGE)].astype("int64")
    first_days = pd.to_datetime(years.astype("str") + "-01-01").astype(moments.dtype)
    return moments.where(~moments.index.isin(first_days.index), first_days.reindex(moments.index))


_CONVERTERS = {
    "number": _number,
    "boolean": _boolean,
    "category": to_category_text,
    "text": to_category_text,
    "datetime": _moment,
    "empty": to_category_text,
}


def _value_warnings(column: pd.Series, expected: dict[str, Any]) -> list[dict[str, Any]]:
    """Warn of missing values and categories that did not occur in training."""
    name = expected["name"]
    warnings: list[dict[str, Any]] = []
    missing = int(column.isna().sum())
    if missing and expected["required"] and not expected["missing_allowed"]:
        warnings.append(_warning("missing_values", name, f"{name!r} was never missing in training.", missing))
    # Any word for yes or no is read, whichever the training file has.
    categories: Sequence[str] | None = expected["categories"] if expected["type"] == "category" else None
    # A full list may be cut, so that a category beyond it is not known to be new.
    if categories and len(categories) < MAX_CATEGORIES:
        unseen = column[column.notna() & ~column.isin(list(categories))]
        if len(unseen):
            values = ", ".join(repr(str(value)) for value in unseen.unique()[:3])
            warnings.append(
                _warning("unseen_category", name, f"{name!r} was never {values} in training.", len(unseen))
            )
    return warnings


def time_gap_warnings(rows: pd.DataFrame, recipe: Recipe) -> list[dict[str, Any]]:
    """Warn if the rows do not directly follow the history that lags and rolling statistics need."""
    past = recipe.load_history()
    if past is None or recipe.time_column is None:
        return []
    name = recipe.time_column
    times = past[name].drop_duplicates().sort_values()
    step, last, first = times.diff().median(), times.iloc[-1], rows[name].min()
    # Three steps, since daily rows pause at weekends; negated, so that an unknown step warns of nothing.
    if not first - last > 3 * step:
        return []
    text = f"The rows start at {first}, but the model's history ends at {last}. Send the rows between them too."
    return [_warning("gap_in_time", name, text, len(rows))]


def _warning(kind: str, column: str, text: str, rows: int) -> dict[str, Any]:
    return {"kind": kind, "column": column, "text": text, "rows": rows}
