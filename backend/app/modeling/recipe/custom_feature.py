"""Features by code: an operation of a recipe whose `fit` and `transform` an agent wrote."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from app.errors import InvalidInput
from app.modeling.custom_code.functions import CodeFunctions, Source
from app.modeling.custom_code.row_independence import ColumnOutputs, check_row_independence
from app.modeling.custom_code.state import freeze, thaw
from app.modeling.recipe.transforms.step import Columns, Operation, State

MAX_NEW_COLUMNS = 100
MAX_NAME_CHARS = 200
FOLD_COUNT = 5
"""Where `fit` sees the target, training rows get their features from the rows of the other parts."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]{0,59}$")]


class CustomFeature(Operation):
    """`fit(frame, target) -> state` (either may be left out) and `transform(frame, state) -> frame`.

    Both see `columns` only. `transform` gives the same rows, in order, with the new columns; those it was
    given and did not change are left as they are. The target is one number a row: the class's place (the
    positive class is 1 of two where it is the second), or what is to be said.
    """

    op: Literal["python"] = "python"
    name: Name
    columns: Columns
    source: Source

    def fit_apply(
        self, frame: pd.DataFrame, groups: pd.Series | None, target: pd.Series | None
    ) -> tuple[State, pd.DataFrame]:
        seen = self._seen(frame)
        uses_target = CodeFunctions(self.name, self.source).count_arguments("fit") > 1
        state = self._fitted(seen, target)
        state |= {"makes": _kinds(self._raw(seen, state), seen, self.name)}
        if not uses_target:
            return state, self.apply(frame, state, groups)
        self._check(seen, state, self._made(seen, state))
        return state, frame.assign(**self._cross_fitted(seen, target, state))

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        seen = self._seen(frame)
        made = self._made(seen, state)
        self._check(seen, state, made)
        return frame.assign(**{str(name): column.to_numpy() for name, column in made.items()})

    def _check(self, seen: pd.DataFrame, state: State, made: pd.DataFrame) -> None:
        check_row_independence(
            self.name,
            len(seen),
            _comparable(made),
            lambda rows: _comparable(self._made(seen.iloc[rows].reset_index(drop=True), state)),
        )

    def _seen(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[list(self.columns)].reset_index(drop=True)

    def _fitted(self, seen: pd.DataFrame, target: pd.Series | None) -> dict[str, Any]:
        """On rows with a target, where there is one."""
        functions = CodeFunctions(self.name, self.source)
        functions.require_function("transform", "`transform(frame, state)` gives the features of each row")
        if not functions.defines("fit"):
            return freeze(None, self.name)
        if functions.count_arguments("fit") > 1 and target is None:
            raise InvalidInput("code_failed", f"{self.name!r} needs the target to be fitted.", name=self.name)
        if target is not None:
            known = target.notna().to_numpy()
            seen, target = seen[known].reset_index(drop=True), target[known].reset_index(drop=True)
        return freeze(functions.call("fit", seen.copy(), target), self.name)

    def _cross_fitted(
        self, seen: pd.DataFrame, target: pd.Series | None, state: State
    ) -> dict[str, np.ndarray]:
        """Features of rows that had no say in them, as those of new rows have none."""
        rows = len(seen)
        part = np.random.default_rng(0).permutation(rows) % min(FOLD_COUNT, rows)
        pieces, places = [], []
        for number in range(min(FOLD_COUNT, rows)):
            inside = np.flatnonzero(part == number)
            others = np.flatnonzero(part != number)
            if not len(others):
                others = inside
            given = None if target is None else target.iloc[others].reset_index(drop=True)
            taught = self._fitted(seen.iloc[others].reset_index(drop=True), given)
            asked = seen.iloc[inside].reset_index(drop=True)
            pieces.append(self._made(asked, {**taught, "makes": state["makes"]}))
            places.append(inside)
        made = pd.concat(pieces, ignore_index=True).iloc[np.argsort(np.concatenate(places))]
        return {str(name): column.to_numpy() for name, column in made.items()}

    def _raw(self, seen: pd.DataFrame, state: Mapping[str, Any]) -> pd.DataFrame:
        """What `transform` gives, checked to be the same rows."""
        known = {"text": state["text"], "parts": state["parts"]}
        given = CodeFunctions(self.name, self.source).call("transform", seen.copy(), thaw(known))
        if isinstance(given, pd.Series):
            given = given.to_frame(given.name or self.name)
        if not isinstance(given, pd.DataFrame):
            raise _refused(self.name, f"gives a {type(given).__name__} and no DataFrame")
        if len(given) != len(seen) or not (given.index == seen.index).all():
            raise _refused(
                self.name,
                f"gives {len(given)} rows of {len(seen)}: it must keep the rows, their order and index",
            )
        return given

    def _made(self, seen: pd.DataFrame, state: Mapping[str, Any]) -> pd.DataFrame:
        """The new columns alone, each of the kind that it was in training."""
        raw = self._raw(seen, state)
        missing = [name for name in state["makes"] if name not in raw.columns]
        if missing:
            raise _refused(self.name, f"does not always give {missing[0]!r}: it must make the same columns")
        return pd.DataFrame(
            {name: _AS[kind](raw[name]) for name, kind in state["makes"].items()}, index=seen.index
        )


def _kinds(raw: pd.DataFrame, seen: pd.DataFrame, name: str) -> dict[str, str]:
    """The columns that are new or changed, and of what kind."""
    if not raw.columns.is_unique:
        raise _refused(name, "gives a column twice")
    made = {
        column: _kind(raw[column], name)
        for column in raw.columns
        if column not in seen.columns or not raw[column].equals(seen[column])
    }
    if not made:
        raise _refused(name, "makes no new column")
    if len(made) > MAX_NEW_COLUMNS:
        raise _refused(name, f"makes {len(made)} columns; at most {MAX_NEW_COLUMNS} are allowed")
    odd = [column for column in made if not isinstance(column, str) or not 0 < len(column) <= MAX_NAME_CHARS]
    if odd:
        raise _refused(
            name, f"names a column {odd[0]!r}; names are texts of at most {MAX_NAME_CHARS} characters"
        )
    return made


def _kind(column: pd.Series, name: str) -> str:
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        if pd.api.types.is_complex_dtype(dtype):
            raise _refused(name, f"gives complex numbers in {column.name!r}")
        return "number"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "datetime"
    odd = column.dropna().map(lambda cell: not isinstance(cell, str | bool | int | float))
    if odd.any():
        first = column.dropna()[odd].iloc[0]
        raise _refused(name, f"gives a {type(first).__name__} in a cell of {column.name!r}")
    return "text"


def _number(column: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    return numbers.replace([np.inf, -np.inf], np.nan)


def _text(column: pd.Series) -> pd.Series:
    return column.map(str, na_action="ignore").astype("str")


def _datetime(column: pd.Series) -> pd.Series:
    return pd.to_datetime(column, errors="coerce")


_AS: Mapping[str, Callable[[pd.Series], pd.Series]] = {
    "number": _number,
    "text": _text,
    "datetime": _datetime,
}


def _comparable(made: pd.DataFrame) -> ColumnOutputs:
    return [
        (
            f"`{name}`",
            column.to_numpy() if column.dtype.kind == "f" else column.astype("str").fillna("").to_numpy(),
        )
        for name, column in made.items()
    ]


def _refused(name: str, what: str) -> InvalidInput:
    return InvalidInput("bad_features", f"`transform` of {name!r} {what}.", name=name)
