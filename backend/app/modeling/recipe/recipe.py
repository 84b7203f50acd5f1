"""What makes features: a JSON list of operations, as one transformer that is fitted on training rows only."""

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
from app.modeling.recipe.transforms.ahead import ForecastMoment
from app.modeling.recipe.transforms.columns import (
    Drop,
    Frequency,
    GroupRare,
    MergeCategories,
    ToCategory,
    ToNumber,
)
from app.modeling.recipe.transforms.dates import ParseDates
from app.modeling.recipe.transforms.history import Changes, Lags, Rolling
from app.modeling.recipe.transforms.indicators import Indicators
from app.modeling.recipe.transforms.market import Cross, Volatility
from app.modeling.recipe.transforms.missing import Clip, Impute, MarkMissing
from app.modeling.recipe.transforms.numbers import Combine, Log1p
from app.modeling.recipe.transforms.step import Operation, State
from app.modeling.recipe.transforms.text import Extract, TextStats, Tfidf
from app.modeling.table.columns import require_columns
from app.modeling.type_inference.parsers import parse_columns

AnyOperation = Annotated[
    Drop
    | ToNumber
    | ToCategory
    | MergeCategories
    | GroupRare
    | Frequency
    | ParseDates
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
    """The operations of a recipe; raises InvalidInput `bad_recipe` naming the operation and the field."""
    try:
        return list(OPERATIONS.validate_python(list(recipe)))
    except ValidationError as error:
        first = error.errors()[0]
        at = first["loc"][0] if first["loc"] else 0
        field = ".".join(str(part) for part in first["loc"][2:])
        raise InvalidInput(
            "bad_recipe",
            f"Operation {at} of the recipe is wrong: {field + ': ' if field else ''}{first['msg']}.",
            operation=at,
            field=field,
        ) from error


class Recipe(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Rows as they come in -> rows with features, the same rows in the same order.

    `reading`: what raw cells mean, applied first; rows that are read already stay as they are. `hide`: columns
    that order or group the rows and are no features; they go last. Operations that look back see the stored
    history before the rows they are given; `remember` replaces that history. The target is for written code.
    Rows of several steps ahead (`forecasting.origins`) are looked back from once each.
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
        steps = parse_recipe(self.operations)
        asked = self._read(X)
        once, back = _origins(asked)
        self.columns_in_ = [str(name) for name in once.columns]
        self.states_: list[State] = []
        self.history_: bytes | None = None
        self.store_history(once)
        frame, groups = self._sorted(once)
        target = None if y is None else pd.Series(_first(np.asarray(y), back), index=once.index)[frame.index]
        for step in steps:
            require_columns(frame, step.required_columns())
            if back is None or not step.is_per_step:
                state, frame = step.fit_apply(frame, groups, target)
            self.states_.append({} if back is not None and step.is_per_step else state)
        made = self._asked(frame, groups, once, back, asked)
        self.columns_out_ = [str(name) for name in made.columns if name not in self.hide]
        return made[self.columns_out_]

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        asked = self._read(X).reset_index(drop=True)
        once, back = _origins(asked)
        past = self._past_of(once)
        together = once if past is None else pd.concat([past.set_axis(-1 - past.index), once])
        frame, groups = self._sorted(together)
        for step, state in zip(parse_recipe(self.operations), self.states_, strict=True):
            if back is None or not step.is_per_step:
                frame = step.apply(frame, state, groups)
        return self._asked(frame, groups, once, back, asked)[self.columns_out_].set_axis(X.index)

    def _asked(
        self,
        frame: pd.DataFrame,
        groups: pd.Series | None,
        once: pd.DataFrame,
        back: np.ndarray | None,
        asked: pd.DataFrame,
    ) -> pd.DataFrame:
        """Of the frame in time order the rows that were asked about, in their order, each for its step."""
        if back is None:
            return frame.loc[once.index]
        at, ahead = frame.index.get_indexer(once.index)[back], asked[ROWS_AHEAD].to_numpy()
        said = {ROWS_AHEAD: ahead.astype("float64")}
        for step in parse_recipe(self.operations):
            if isinstance(step, ForecastMoment):
                said |= step.make_columns(frame, groups, at, ahead)
        spread: pd.DataFrame = frame.iloc[at].set_axis(asked.index).assign(**said)
        return spread

    @property
    def history_rows(self) -> int:
        """How many rows back a row's features look at most."""
        return sum(step.history_rows() for step in parse_recipe(self.operations) if step.needs_order)

    def sort_rows(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series | None]:
        """Raw rows as they are read, in time order, with the group of each where there are groups."""
        return self._sorted(self._read(rows))

    def store_history(self, rows: pd.DataFrame) -> None:
        """Keep the last of these rows as the history of the rows that come next."""
        depth = self.history_rows
        if not depth:
            return
        once, _ = _origins(rows)
        ordered, groups = self._sorted(self._read(once[self.columns_in_]))
        last = ordered.tail(depth) if groups is None else ordered.groupby(groups, sort=False).tail(depth)
        buffer = io.BytesIO()
        last.reset_index(drop=True).to_parquet(buffer)
        self.history_ = buffer.getvalue()

    def _read(self, rows: pd.DataFrame) -> pd.DataFrame:
        return parse_columns(rows, self.reading) if self.reading else rows

    def load_history(self) -> pd.DataFrame | None:
        """The stored history, in time order; None where nothing looks back."""
        return None if self.history_ is None else pd.read_parquet(io.BytesIO(self.history_))

    def _past_of(self, rows: pd.DataFrame) -> pd.DataFrame | None:
        """The history that lies before the first of these rows, in each group: no row may be its own past."""
        past = self.load_history()
        if past is None or self.time_column is None:
            return None
        first = rows[self.time_column].min()
        starts: Any = first
        if self.group_column is not None:
            of_group = rows.groupby(self.group_column, observed=True)[self.time_column].min()
            starts = past[self.group_column].map(of_group).fillna(first)
        before: pd.DataFrame = past.loc[past[self.time_column] < starts]
        return before.reset_index(drop=True)

    def _sorted(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series | None]:
        if self.time_column is None:
            return rows, None
        ordered = rows.sort_values(self.time_column, kind="stable")
        return ordered, None if self.group_column is None else ordered[self.group_column]

    def get_feature_names_out(self, input_features: object = None) -> list[str]:
        return self.columns_out_

    def __getstate__(self) -> dict[str, Any]:
        """What operations learned goes into a file as one text each: thousands of values take seconds else."""
        state = dict(super().__getstate__())
        if "states_" in state:
            state["states_"] = [_as_text(one) for one in state["states_"]]
        return state | {key: json.dumps(state[key]) for key in _NAMES if key in state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "states_" in state:
            read = [json.loads(one) if isinstance(one, str) else one for one in state["states_"]]
            state = {**state, "states_": read}
        state = state | {key: json.loads(state[key]) for key in _NAMES if key in state}
        super().__setstate__(state)


def _origins(rows: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Rows of several steps ahead once each, and where each belongs; None where rows ask about one."""
    return collapse_origins(rows) if has_horizon_rows(rows) else (rows, None)


def _first(values: np.ndarray, back: np.ndarray | None) -> np.ndarray:
    """The value of each origin's first row."""
    return values if back is None else values[np.unique(back, return_index=True)[1]]


def _as_text(state: State) -> State | str:
    """Strict JSON; as it is where written code learned something else."""
    try:
        text = json.dumps(state)
    except (TypeError, ValueError):
        return state
    return text if json.loads(text) == state else state


def make_recipe(problem: Problem, operations: RecipeJson) -> Recipe:
    """The transformer of a problem: time is never a feature by itself, groups only where time orders them.

    Raises InvalidInput `bad_recipe`, or `order_needed` for a look back without a time column.
    """
    looks_back = [step for step in parse_recipe(operations) if step.needs_order]
    if looks_back and problem.time_column is None:
        raise InvalidInput(
            "order_needed", "Lags, rolling statistics and indicators need a date column that orders the rows."
        )
    hidden = [problem.time_column] if problem.time_column else [problem.group_column]
    return Recipe(
        operations=list(operations),
        time_column=problem.time_column,
        group_column=problem.group_column,
        hide=tuple(name for name in hidden if name),
        reading=[dict(one) for one in problem.parsers],
    )


def select_inputs(frame: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """The columns that a model may see: not excluded ones, nor the target unless it has a horizon."""
    left_out = set(problem.exclude) | (set() if problem.horizon else {problem.target})
    return frame[[name for name in frame.columns if name not in left_out]]
