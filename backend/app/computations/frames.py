"""Frames and models on a bench: Parquet and skops in, Parquet and skops out."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from app.computations.bench import Bench
from app.errors import InvalidInput
from app.modeling.problem.problem import Problem
from app.modeling.recipe.transforms.dates import to_dates
from app.modeling.table.json_values import to_json_value
from app.modeling.table.sampling import sample_rows
from app.modeling.training.persistence import StoredModel, deserialize_model

MAX_PREVIEWED = 20_000
"""What a recipe does is shown on this many rows; models learn from all of them."""


def read_frame(bench: Bench, name: str = "frame") -> pd.DataFrame:
    """The input of that name; raises InvalidInput `no_input` when the caller gave none."""
    path = bench.inputs.get(name)
    if path is None:
        raise InvalidInput("no_input", f"This computation needs the input {name!r}.", input=name)
    return pd.read_parquet(path)


def read_model(bench: Bench, name: str = "model") -> StoredModel:
    path = bench.inputs.get(name)
    if path is None:
        raise InvalidInput("no_input", f"This computation needs the input {name!r}.", input=name)
    return _opened(path)


@lru_cache(maxsize=1)
def _opened(path: Path) -> StoredModel:
    """Once for all requests that one cell serves: inputs do not change."""
    return deserialize_model(path.read_bytes())


def write_frame(bench: Bench, frame: pd.DataFrame, name: str) -> None:
    frame.to_parquet(bench.output / name, compression="zstd", index=False)


def answer(facts: Any) -> dict[str, Any]:
    """Facts as strict JSON."""
    made: dict[str, Any] = to_json_value(facts)
    return made


def read_training(bench: Bench, problem: dict[str, Any]) -> tuple[pd.DataFrame, Problem]:
    """The raw training frame and its problem."""
    return read_frame(bench), Problem.from_json(problem)


def read_preview(bench: Bench, problem: dict[str, Any]) -> tuple[pd.DataFrame, Problem, int]:
    """The raw training frame, of a long one a part, its problem, and how many rows there are.

    The part is drawn at random; of rows in time order it is the latest, so that lags are what they will be.
    """
    frame, whole = read_training(bench, problem)
    rows = len(frame)
    if rows <= MAX_PREVIEWED:
        return frame, whole, rows
    if whole.time_column:
        return frame.tail(MAX_PREVIEWED), whole, rows
    return frame.iloc[sample_rows(rows, MAX_PREVIEWED, 0)], whole, rows


def in_time(table: pd.DataFrame, time_column: str | None) -> pd.DataFrame:
    """The table with its time column read as dates, in UTC where it had a zone."""
    if time_column is None or time_column not in table.columns:
        return table
    times = to_dates(table[time_column])
    if times.isna().mean() > 0.2:
        raise InvalidInput(
            "time_column_is_no_date",
            f"{time_column!r} does not hold dates, so it cannot order the rows.",
            column=time_column,
        )
    return table.assign(**{time_column: times})
