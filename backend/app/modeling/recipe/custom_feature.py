"""A recipe operation whose `fit` and `transform` are agent-written functions."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from app.errors import InvalidInput
from app.modeling.custom_code.functions import CodeFunctions, Source
from app.modeling.custom_code.row_independence import ColumnOutputs, check_row_independence
from app.modeling.custom_code.state import freeze, thaw
from app.modeling.recipe.transforms.operation import Columns, Operation, State

MAX_NEW_COLUMNS = 100
"""New columns of one operation."""
MAX_NAME_CHARS = 200
"""Characters of a new column's name, as for columns that users name."""
FOLD_COUNT = 5
"""If `fit` uses the target, training rows get features that were fitted on other folds."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]{0,59}$")]


class CustomFeature(Operation):
    """`fit(frame, target) -> state` (either may be left out) and `transform(frame, state) -> frame`.

    Both get `columns` only. `transform` returns the same rows, in order, with the new columns; unchanged input
    columns are ignored. The target is one number a row: the position of the class in `Problem.classes`, or the
    regression target.
    """

    op: Literal["python"] = "python"
    name: Name
    columns: Columns
    source: Source

    def fit_apply(
        self, frame: pd.DataFrame, groups: pd.Series | None, target: pd.Series | None
    ) -> tuple[State, pd.DataFrame]:
        inputs = self._select_inputs(frame)
        uses_target = CodeFunctions(self.name, self.source).count_arguments("fit") > 1
        state = self._fit_state(inputs, target)
        state |= {"makes": _kinds(self._call_transform(inputs, state), inputs, self.name)}
        if not uses_target:
            return state, self.apply(frame, state, groups)
        # Checked with the state of all rows, which is what predictions get.
        self._check(inputs, state, self._make_features(inputs, state))
        return state, frame.assign(**self._cross_fit(inputs, target, state))

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        inputs = self._select_inputs(frame)
        features = self._make_features(inputs, state)
        self._check(inputs, state, features)
        return frame.assign(**{str(name): column.to_numpy() for name, column in features.items()})

    def _check(self, inputs: pd.DataFrame, state: State, features: pd.DataFrame) -> None:
        check_row_independence(
            self.name,
            len(inputs),
            _comparable(features),
            lambda rows: _comparable(self._make_features(inputs.iloc[rows].reset_index(drop=True), state)),
        )

    def _select_inputs(self, frame: pd.DataFrame) -> pd.DataFrame:
        # A plain index: code that aligns by index must not depend on which rows of a table it was given.
        return frame[list(self.columns)].reset_index(drop=True)

    def _fit_state(self, inputs: pd.DataFrame, target: pd.Series | None) -> dict[str, Any]:
        """Fit on the rows with a target, if there is a target."""
        functions = CodeFunctions(self.name, self.source)
        functions.require_function("transform", "`transform(frame, state)` gives the features of each row")
        if not functions.defines("fit"):
            return freeze(None, self.name)
        if functions.count_arguments("fit") > 1 and target is None:
            raise InvalidInput("code_failed", f"{self.name!r} needs the target to be fitted.", name=self.name)
        if target is not None:
            has_target = target.notna().to_numpy()
            inputs, target = (
                inputs[has_target].reset_index(drop=True),
                target[has_target].reset_index(drop=True),
            )
        # A copy, since the code may change its input in place.
        return freeze(functions.call("fit", inputs.copy(), target), self.name)

    def _cross_fit(self, inputs: pd.DataFrame, target: pd.Series | None, state: State) -> dict[str, np.ndarray]:
        """Features of training rows, fitted without their fold: new rows do not take part in a fit either."""
        rows = len(inputs)
        # Always the same folds: the code must give the same output when it is fitted again.
        folds = np.random.default_rng(0).permutation(rows) % min(FOLD_COUNT, rows)
        features, positions = [], []
        for fold in range(min(FOLD_COUNT, rows)):
            test = np.flatnonzero(folds == fold)
            train = np.flatnonzero(folds != fold)
            # A single row has no other fold to learn from.
            if not len(train):
                train = test
            train_target = None if target is None else target.iloc[train].reset_index(drop=True)
            fold_state = self._fit_state(inputs.iloc[train].reset_index(drop=True), train_target)
            test_inputs = inputs.iloc[test].reset_index(drop=True)
            # The kinds of columns come from all rows: a fold may show only whole numbers or missing values.
            features.append(self._make_features(test_inputs, {**fold_state, "makes": state["makes"]}))
            positions.append(test)
        ordered = pd.concat(features, ignore_index=True).iloc[np.argsort(np.concatenate(positions))]
        return {str(name): column.to_numpy() for name, column in ordered.items()}

    def _call_transform(self, inputs: pd.DataFrame, state: Mapping[str, Any]) -> pd.DataFrame:
        """Call `transform`, and check that it returns the same rows."""
        frozen = {"text": state["text"], "parts": state["parts"]}
        result = CodeFunctions(self.name, self.source).call("transform", inputs.copy(), thaw(frozen))
        if isinstance(result, pd.Series):
            result = result.to_frame(result.name or self.name)
        if not isinstance(result, pd.DataFrame):
            raise _refused(self.name, f"returns a {type(result).__name__} instead of a DataFrame")
        if len(result) != len(inputs) or not (result.index == inputs.index).all():
            raise _refused(
                self.name,
                f"returns {len(result)} rows for {len(inputs)}: it must keep the rows, their order and index",
            )
        return result

    def _make_features(self, inputs: pd.DataFrame, state: Mapping[str, Any]) -> pd.DataFrame:
        """The new columns only, each converted to its kind in training."""
        result = self._call_transform(inputs, state)
        missing = [name for name in state["makes"] if name not in result.columns]
        if missing:
            raise _refused(self.name, f"does not always return {missing[0]!r}: it must return the same columns")
        return pd.DataFrame(
            {name: _CONVERTERS[kind](result[name]) for name, kind in state["makes"].items()}, index=inputs.index
        )


def _kinds(result: pd.DataFrame, inputs: pd.DataFrame, name: str) -> dict[str, str]:
    """New or changed columns -> their kind."""
    if not result.columns.is_unique:
        raise _refused(name, "returns a column twice")
    kinds = {
        column: _kind(result[column], name)
        for column in result.columns
        if column not in inputs.columns or not result[column].equals(inputs[column])
    }
    if not kinds:
        raise _refused(name, "returns no new column")
    if len(kinds) > MAX_NEW_COLUMNS:
        raise _refused(name, f"returns {len(kinds)} new columns; at most {MAX_NEW_COLUMNS} are allowed")
    bad_names = [
        column for column in kinds if not isinstance(column, str) or not 0 < len(column) <= MAX_NAME_CHARS
    ]
    if bad_names:
        raise _refused(
            name, f"names a column {bad_names[0]!r}; names are texts of at most {MAX_NAME_CHARS} characters"
        )
    return kinds


def _kind(column: pd.Series, name: str) -> str:
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        if pd.api.types.is_complex_dtype(dtype):
            raise _refused(name, f"returns complex numbers in {column.name!r}")
        return "number"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "datetime"
    is_unsupported = column.dropna().map(lambda cell: not isinstance(cell, str | bool | int | float))
    if is_unsupported.any():
        first = column.dropna()[is_unsupported].iloc[0]
        raise _refused(name, f"returns a {type(first).__name__} in a cell of {column.name!r}")
    return "text"


def _number(column: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    # Divisions by zero in the code are missing values to a model.
    return numbers.replace([np.inf, -np.inf], np.nan)


def _text(column: pd.Series) -> pd.Series:
    return column.map(str, na_action="ignore").astype("str")


def _datetime(column: pd.Series) -> pd.Series:
    return pd.to_datetime(column, errors="coerce")


_CONVERTERS: Mapping[str, Callable[[pd.Series], pd.Series]] = {
    "number": _number,
    "text": _text,
    "datetime": _datetime,
}


def _comparable(features: pd.DataFrame) -> ColumnOutputs:
    return [
        (
            f"`{name}`",
            column.to_numpy() if column.dtype.kind == "f" else column.astype("str").fillna("").to_numpy(),
        )
        for name, column in features.items()
    ]


def _refused(name: str, problem: str) -> InvalidInput:
    return InvalidInput("bad_features", f"`transform` of {name!r} {problem}.", name=name)
