"""Reading and writing of frames and models in a cell's workspace."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from app.computations.cell_files.workspace import CellWorkspace
from app.errors import InvalidInput
from app.modeling.problem.problem import Problem
from app.modeling.recipe.transforms.dates import to_dates
from app.modeling.table.json_values import to_json_value
from app.modeling.table.sampling import sample_rows

if TYPE_CHECKING:
    from app.modeling.training.persistence import StoredModel

MAX_PREVIEW_ROWS = 20_000
"""Rows that a recipe is previewed on; models are fitted on all of them."""


def read_frame(workspace: CellWorkspace, name: str = "frame") -> pd.DataFrame:
    """Read the input of that name; raises InvalidInput `no_input` if it is missing."""
    path = workspace.inputs.get(name)
    if path is None:
        raise InvalidInput("no_input", f"This computation needs the input {name!r}.", input=name)
    return pd.read_parquet(path)


def read_model(workspace: CellWorkspace, name: str = "model") -> "StoredModel":
    path = workspace.inputs.get(name)
    if path is None:
        raise InvalidInput("no_input", f"This computation needs the input {name!r}.", input=name)
    return _load_model(path)


@lru_cache(maxsize=1)
def _load_model(path: Path) -> "StoredModel":
    """Load a model once for all requests that one cell serves: inputs do not change."""
    from app.modeling.training.persistence import deserialize_model  # noqa: PLC0415 - not for tables alone

    return deserialize_model(path.read_bytes())


def write_frame(workspace: CellWorkspace, frame: pd.DataFrame, name: str) -> None:
    frame.to_parquet(workspace.output / name, compression="zstd", index=False)


def to_json_facts(facts: Any) -> dict[str, Any]:
    """Convert facts to strict JSON."""
    json_facts: dict[str, Any] = to_json_value(facts)
    return json_facts


def read_training(workspace: CellWorkspace, problem: dict[str, Any]) -> tuple[pd.DataFrame, Problem]:
    """Read the raw training frame and its problem."""
    return read_frame(workspace), Problem.from_json(problem)


def read_preview(workspace: CellWorkspace, problem: dict[str, Any]) -> tuple[pd.DataFrame, Problem, int]:
    """Read a sample of the raw training frame, its problem, and the number of all rows.

    The sample is random; of rows in time order it is the latest, so that lags are those of consecutive rows.
    """
    frame, parsed_problem = read_training(workspace, problem)
    rows = len(frame)
    if rows <= MAX_PREVIEW_ROWS:
        return frame, parsed_problem, rows
    if parsed_problem.time_column:
        return frame.tail(MAX_PREVIEW_ROWS), parsed_problem, rows
    return frame.iloc[sample_rows(rows, MAX_PREVIEW_ROWS, 0)], parsed_problem, rows


def parse_time_column(table: pd.DataFrame, time_column: str | None, has_horizon: bool = False) -> pd.DataFrame:
    """Parse the time column of a table as dates, in UTC if it had a zone. Numbers such as years order rows as
    they are, unless a horizon needs dates."""
    if time_column is None or time_column not in table.columns:
        return table
    if pd.api.types.is_numeric_dtype(table[time_column]) and not has_horizon:
        return table
    times = to_dates(table[time_column])
    if times.isna().mean() > 0.2:
        raise InvalidInput(
            "time_column_is_no_date",
            f"{time_column!r} does not contain dates, so it cannot order the rows.",
            column=time_column,
        )
    return table.assign(**{time_column: times})
