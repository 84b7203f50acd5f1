"""Feature recipe: a JSON list of operations as one transformer, fitted on training rows only."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from pydantic import Field, TypeAdapter, ValidationError
from sklearn.base import BaseEstimator, TransformerMixin

from app.errors import InvalidInput
from app.modeling.problem.problem import Problem
from app.modeling.recipe.custom_feature import CustomFeature
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, collapse_origins, has_horizon_rows
from app.modeling.recipe.transforms.clipping import Clip
from app.modeling.recipe.transforms.columns import (
    Drop,
    Frequency,
    GroupRare,
    MergeCategories,
    ToCategory,
    ToNumber,
)
from app.modeling.recipe.transforms.dates import DaysBetween, Elapsed, ParseDates
from app.modeling.recipe.transforms.forecast_moment import ForecastMoment
from app.modeling.recipe.transforms.indicators import Indicators
from app.modeling.recipe.transforms.lag_features import Changes, Lags, Rolling
from app.modeling.recipe.transforms.market import Cross, Volatility
from app.modeling.recipe.transforms.missing import Impute, MarkMissing
from app.modeling.recipe.transforms.numbers import Combine, Log1p
from app.modeling.recipe.transforms.operation import Operation, State
from app.modeling.recipe.transforms.text import Extract, TextStats, Tfidf
from app.modeling.table.column_kinds import require_columns
from app.modeling.type_inference.parsers import parse_columns

AnyOperation = Annotated[
    Drop
    | ToNumber
    | ToCategory
    | MergeCategories
    | GroupRare
    | Frequency
    | ParseDates
    | Elapsed
    | DaysBetween
    | MarkMissing
    | Impute
    | Clip
    | Log1p
    | Combine
    | TextStats
    | Extract
    | Tfidf
    | Lags
    | Rolling
    | Changes
    | Indicators
    | Volatility
    | Cross
    | ForecastMoment
    | CustomFeature,
    Field(discriminator="op"),
]
OPERATIONS: TypeAdapter[list[AnyOperation]] = TypeAdapter(list[AnyOperation])

RecipeJson = list[dict[str, Any]]
_NAMES = ("columns_in_", "columns_out_")


def parse_recipe(recipe: Sequence[Mapping[str, Any]]) -> list[Operation]:
    """Parse a recipe. Raises InvalidInput `bad_recipe` with the operation and the field."""
    try:
        return list(OPERATIONS.validate_python(list(recipe)))
    except ValidationError as error:
        first = error.errors()[0]
        position = first["loc"][0] if first["loc"] else 0
        field = ".".join(str(part) for part in first["loc"][2:])
        raise InvalidInput(
            "bad_recipe",
            f"Operation {position} of the recipe is invalid: {field + ': ' if field else ''}{first['msg']}.",
            operation=position,
            field=field,
        ) from error


class Recipe(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Transforms raw rows into rows with features, the same rows in the same order.

    `reading`: JSON of the parsers of raw columns, applied first; parsed rows stay as they are. `hide`: columns
    that order or group the rows and are no features; they are dropped last. Operations that look back use the
    stored history before the rows; `store_history` replaces it. Only custom code uses the target. Of rows of
    several steps ahead (`forecast_origins`), each origin is transformed once.
    """

    def __init__(
        self,
        operations: RecipeJson,
        time_column: str | None = None,
        group_column: str | None = None,
        hide: Sequence[str] = (),
        reading: RecipeJson | None = None,
    ) -> None:
        self.operations = operations
        self.time_column = time_column
        self.group_column = group_column
        self.hide = hide
        self.reading = reading

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: pd.DataFrame, y: object = None) -> pd.DataFrame:
        operations = parse_recipe(self.operations)
        rows = self._parse(X)
        origins, origin_positions = _split_origins(rows)
        self.columns_in_ = [str(name) for name in origins.columns]
        self.states_: list[State] = []
        self.history_: bytes | None = None
        # Before any operation: later rows are transformed together with it, from the first one on.
        self.store_history(origins)
        frame, groups = self._sort(origins)
        target = (
            None
            if y is None
            # In the order of the sorted frame, as the operations see it.
            else pd.Series(_first(np.asarray(y), origin_positions), index=origins.index)[frame.index]
        )
        for operation in operations:
            require_columns(frame, operation.required_columns())
            if origin_positions is None or not operation.is_per_step:
                state, frame = operation.fit_apply(frame, groups, target)
            self.states_.append({} if origin_positions is not None and operation.is_per_step else state)
        features = self._select_rows(frame, groups, origins, origin_positions, rows)
        self.columns_out_ = [str(name) for name in features.columns if name not in self.hide]
        return features[self.columns_out_]

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        # Labels may repeat in rows to predict; positions do not.
        rows = self._parse(X).reset_index(drop=True)
        origins, origin_positions = _split_origins(rows)
        past = self._load_history_before(origins)
        # Negative labels, so that rows of the history are told from those that were asked for.
        with_history = origins if past is None else pd.concat([past.set_axis(-1 - past.index), origins])
        frame, groups = self._sort(with_history)
        for operation, state in zip(parse_recipe(self.operations), self.states_, strict=True):
            if origin_positions is None or not operation.is_per_step:
                frame = operation.apply(frame, state, groups)
        return self._select_rows(frame, groups, origins, origin_positions, rows)[self.columns_out_].set_axis(
            X.index
        )

    def _select_rows(
        self,
        frame: pd.DataFrame,
        groups: pd.Series | None,
        origins: pd.DataFrame,
        origin_positions: np.ndarray | None,
        rows: pd.DataFrame,
    ) -> pd.DataFrame:
        """Select the requested rows from a frame in time order, in their own order, with the columns of their
        step."""
        if origin_positions is None:
            return frame.loc[origins.index]
        positions, rows_ahead = (
            frame.index.get_indexer(origins.index)[origin_positions],
            rows[ROWS_AHEAD].to_numpy(),
        )
        step_columns = {ROWS_AHEAD: rows_ahead.astype("float64")}
        for operation in parse_recipe(self.operations):
            if isinstance(operation, ForecastMoment):
                step_columns |= operation.make_columns(frame, groups, positions, rows_ahead)
        expanded: pd.DataFrame = frame.iloc[positions].set_axis(rows.index).assign(**step_columns)
        return expanded

    @property
    def history_rows(self) -> int:
        """Rows of history that features need."""
        # Summed, since an operation may look back over what an earlier one made of earlier rows.
        return sum(
            operation.history_rows() for operation in parse_recipe(self.operations) if operation.needs_order
        )

    def sort_rows(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series | None]:
        """Parse raw rows and sort them by time; return them with the group of each row, None without groups."""
        return self._sort(self._parse(rows))

    def store_history(self, rows: pd.DataFrame) -> None:
        """Store the last of these rows as the history of later rows."""
        history_rows = self.history_rows
        if not history_rows:
            return
        origins, _ = _split_origins(rows)
        ordered, groups = self._sort(self._parse(origins[self.columns_in_]))
        last = (
            ordered.tail(history_rows)
            if groups is None
            else ordered.groupby(groups, sort=False).tail(history_rows)
        )
        buffer = io.BytesIO()
        last.reset_index(drop=True).to_parquet(buffer)
        self.history_ = buffer.getvalue()

    def _parse(self, rows: pd.DataFrame) -> pd.DataFrame:
        return parse_columns(rows, self.reading) if self.reading else rows

    def load_history(self) -> pd.DataFrame | None:
        """The stored history in time order; None if no operation looks back."""
        return None if self.history_ is None else pd.read_parquet(io.BytesIO(self.history_))

    def _load_history_before(self, rows: pd.DataFrame) -> pd.DataFrame | None:
        """The history before the first of these rows, in each group: no row may be in its own history."""
        history = self.load_history()
        if history is None or self.time_column is None:
            return None
        first = rows[self.time_column].min()
        starts: Any = first
        if self.group_column is not None:
            group_starts = rows.groupby(self.group_column, observed=True)[self.time_column].min()
            # Groups without new rows serve features of other groups, up to the first new time.
            starts = history[self.group_column].map(group_starts).fillna(first)
        earlier: pd.DataFrame = history.loc[history[self.time_column] < starts]
        return earlier.reset_index(drop=True)

    def _sort(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series | None]:
        if self.time_column is None:
            return rows, None
        ordered = rows.sort_values(self.time_column, kind="stable")
        return ordered, None if self.group_column is None else ordered[self.group_column]

    def get_feature_names_out(self, input_features: object = None) -> list[str]:
        return self.columns_out_

    def __getstate__(self) -> dict[str, Any]:
        """The state with that of each operation as one JSON text: skops takes seconds for thousands of
        values."""
        state = dict(super().__getstate__())
        if "states_" in state:
            state["states_"] = [_to_text(operation_state) for operation_state in state["states_"]]
        return state | {key: json.dumps(state[key]) for key in _NAMES if key in state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "states_" in state:
            parsed = [json.loads(text) if isinstance(text, str) else text for text in state["states_"]]
            state = {**state, "states_": parsed}
        state = state | {key: json.loads(state[key]) for key in _NAMES if key in state}
        super().__setstate__(state)


def _split_origins(rows: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray | None]:
    """The distinct origins of rows of several steps ahead, and each row's position among them; None for
    others."""
    return collapse_origins(rows) if has_horizon_rows(rows) else (rows, None)


def _first(values: np.ndarray, origin_positions: np.ndarray | None) -> np.ndarray:
    """The value of the first row of each origin (origins,)."""
    return values if origin_positions is None else values[np.unique(origin_positions, return_index=True)[1]]


def _to_text(state: State) -> State | str:
    """JSON text of a state; the state itself if custom code learned something else."""
    try:
        text = json.dumps(state)
    except (TypeError, ValueError):
        return state
    # JSON makes texts of whole numbers that are keys.
    return text if json.loads(text) == state else state


def make_recipe(problem: Problem, operations: RecipeJson) -> Recipe:
    """Make the transformer of a problem: time is no feature by itself, groups are features only of time series.

    Raises InvalidInput `bad_recipe`, or `order_needed` if an operation looks back without a time column.
    """
    looks_back = [operation for operation in parse_recipe(operations) if operation.needs_order]
    if looks_back and problem.time_column is None:
        raise InvalidInput(
            "order_needed", "Lags, rolling statistics and indicators need a date column that orders the rows."
        )
    # The series is a feature of forecasts, where the same ones come again; entities of a split are new ones.
    hidden = [problem.time_column] if problem.time_column else [problem.group_column]
    if problem.group_column in problem.exclude:
        hidden = [problem.time_column, problem.group_column]
    return Recipe(
        operations=list(operations),
        time_column=problem.time_column,
        group_column=problem.group_column,
        hide=tuple(name for name in hidden if name),
        reading=[dict(parser) for parser in problem.parsers],
    )


def select_inputs(frame: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """The input columns of a model: without excluded ones, and without the target unless there is a horizon.

    The time and the group of rows in time order stay, since a recipe sorts by them; it hides excluded ones.
    """
    ordering = {problem.time_column, problem.group_column} if problem.time_column else set()
    excluded = (set(problem.exclude) - ordering) | (set() if problem.horizon else {problem.target})
    return frame[[name for name in frame.columns if name not in excluded]]
