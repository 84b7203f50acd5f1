"""What rows a model takes, and whether given rows are such."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.names import nearest_names
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import Recipe, RecipeJson, parse_recipe, select_inputs
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.recipe.transforms.dates import to_dates
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.json_values import to_json_scalar
from app.modeling.type_inference.parsers import ColumnParser, parsers_by_column

SchemaJson = list[dict[str, Any]]
MAX_LISTED = 100


def schema_of(frame: pd.DataFrame, problem: Problem, recipe: RecipeJson) -> SchemaJson:
    """The raw input columns of a model trained on `frame`, as `results.SchemaColumn`.

    A column that the recipe drops before anything reads it is not required; nor is the group that only
    splits, nor the present target unless a forecast starts from it.
    """
    inputs = select_inputs(frame, problem)
    optional = unused(recipe) | ({problem.target} - _starts_from(problem))
    if problem.group_column and not problem.time_column:
        optional.add(problem.group_column)
    return [_column(inputs[name], str(name) not in optional) for name in inputs.columns]


def _starts_from(problem: Problem) -> set[str]:
    """A forecast of a number is a difference to its present value, so rows must have it."""
    return {problem.target} if problem.outlook is Outlook.VALUE and not problem.is_classification else set()


def unused(recipe: RecipeJson) -> set[str]:
    """Raw columns that the recipe drops before anything reads them."""
    dropped: set[str] = set()
    read: set[str] = set()
    for step in parse_recipe(recipe):
        if step.op == "drop":  # type: ignore[attr-defined]  # every operation has it, the base does not
            dropped |= set(step.required_columns()) - read
        read |= set(step.required_columns())
    return dropped


def _column(column: pd.Series, required: bool) -> dict[str, Any]:
    kind = column_kind(column)
    measured = kind in (ColumnKind.NUMBER, ColumnKind.DATETIME)
    return {
        "name": str(column.name),
        "type": kind.value,
        "required": required and kind is not ColumnKind.EMPTY,
        "missing_allowed": bool(column.isna().any()),
        "categories": _categories(column) if kind is ColumnKind.CATEGORY else None,
        "minimum": to_json_scalar(column.min()) if measured else None,
        "maximum": to_json_scalar(column.max()) if measured else None,
    }


def _categories(column: pd.Series) -> list[str]:
    return sorted(str(value) for value in to_category_text(column).dropna().unique())[:MAX_LISTED]


def conform(
    rows: pd.DataFrame, schema: SchemaJson, reading: Sequence[Mapping[str, Any]] = ()
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The rows with the model's columns in order and type, and warnings. Raw cells mean what `reading` says.

    A refusal names a row by its label in the index.

    Raises InvalidInput `no_rows`, `missing_columns` or `wrong_type`.
    """
    if rows.empty:
        raise InvalidInput("no_rows", "There are no rows to predict.")
    warnings = check_columns(rows.columns, len(rows), schema)
    columns, ways = {}, parsers_by_column(reading)
    for column in schema:
        name = column["name"]
        columns[name] = _typed(_given(rows, name), column, ways.get(name))
        warnings += _surprises(columns[name], column)
    return pd.DataFrame(columns, index=rows.index), warnings


def _given(rows: pd.DataFrame, name: str) -> pd.Series:
    if name not in rows.columns:
        return pd.Series(np.nan, index=rows.index, name=name)
    given: pd.Series = rows[name]
    return given


def check_columns(names: Iterable[object], rows: int, schema: SchemaJson) -> list[dict[str, Any]]:
    """Warnings of columns that the model does not use; raises InvalidInput `missing_columns`."""
    given = [str(name) for name in names]
    _check_present(given, schema)
    known = {column["name"] for column in schema}
    return [
        {
            "kind": "extra_column",
            "column": name,
            "text": f"The model does not use {name!r}; it was ignored.",
            "rows": rows,
        }
        for name in given
        if name not in known
    ]


def _check_present(given: Sequence[str], schema: SchemaJson) -> None:
    missing = [column["name"] for column in schema if column["required"] and column["name"] not in given]
    if missing:
        close = {name: nearest_names(name, given) for name in missing}
        hints = [f"{name!r} (is it {near[0]!r}?)" if near else f"{name!r}" for name, near in close.items()]
        raise InvalidInput(
            "missing_columns", f"The model needs {', '.join(hints)}.", missing=missing, nearest=close
        )


def _typed(given: pd.Series, column: dict[str, Any], way: ColumnParser | None) -> pd.Series:
    read = given if way is None else way.parse(given)
    typed = _READ[column["type"]](read)
    lost = typed.isna().to_numpy()
    if lost.any():
        lost = lost & read.notna().to_numpy()
    if way is not None:
        lost = lost | way.is_unparsed(given).to_numpy()
    if lost.any():
        place = int(lost.argmax())
        row = given.index[place]
        raise InvalidInput(
            "wrong_type",
            f"{column['name']!r} takes a {column['type']}, and row {row} has {given.iloc[place]!r}.",
            column=column["name"],
            row=int(row),
            expected=column["type"],
        )
    return typed


_TRUTH = dict.fromkeys(("true", "t", "yes", "y", "1", "1.0"), True)
_TRUTH |= dict.fromkeys(("false", "f", "no", "n", "0", "0.0"), False)


def _boolean(given: pd.Series) -> pd.Series:
    read = to_category_text(given).str.lower().map(_TRUTH)
    return read.astype("boolean") if read.isna().any() else read.astype("bool")


def _number(given: pd.Series) -> pd.Series:
    if given.dtype == "float64":
        return given
    return pd.to_numeric(given, errors="coerce").astype("float64")


_READ = {
    "number": _number,
    "boolean": _boolean,
    "category": to_category_text,
    "text": to_category_text,
    "datetime": to_dates,
    "empty": to_category_text,
}


def _surprises(column: pd.Series, expected: dict[str, Any]) -> list[dict[str, Any]]:
    name = expected["name"]
    found: list[dict[str, Any]] = []
    missing = int(column.isna().sum())
    if missing and expected["required"] and not expected["missing_allowed"]:
        found.append(_warning("missing_values", name, f"{name!r} was never missing in training.", missing))
    categories: Sequence[str] | None = expected["categories"]
    if categories and len(categories) < MAX_LISTED:
        unseen = column[column.notna() & ~column.isin(list(categories))]
        if len(unseen):
            values = ", ".join(repr(str(value)) for value in unseen.unique()[:3])
            found.append(
                _warning("unseen_category", name, f"{name!r} never was {values} in training.", len(unseen))
            )
    if expected["type"] == "number" and expected["minimum"] is not None:
        numbers = column.to_numpy()
        outside = (numbers < expected["minimum"]) | (numbers > expected["maximum"])
        if outside.any():
            span = f"{expected['minimum']:g} to {expected['maximum']:g}"
            text = f"{name!r} lies outside {span}, as seen in training."
            found.append(_warning("outside_range", name, text, int(outside.sum())))
    return found


def gap_in_time(rows: pd.DataFrame, recipe: Recipe) -> list[dict[str, Any]]:
    """A warning where the rows do not follow the history that lags and rolling statistics need."""
    past = recipe.load_history()
    if past is None or recipe.time_column is None:
        return []
    name = recipe.time_column
    times = past[name].drop_duplicates().sort_values()
    step, last, first = times.diff().median(), times.iloc[-1], rows[name].min()
    if not first - last > 3 * step:
        return []
    text = f"The rows start at {first}; the model knows none after {last}. Send those between too."
    return [_warning("gap_in_time", name, text, len(rows))]


def _warning(kind: str, column: str, text: str, rows: int) -> dict[str, Any]:
    return {"kind": kind, "column": column, "text": text, "rows": rows}
