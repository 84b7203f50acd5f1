"""Rows of forecasts of every step: each origin row is repeated once for each step ahead."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.forecast_steps import steps_per_origin, training_steps
from app.modeling.problem.problem import Problem

ROWS_AHEAD = "rows_ahead"
"""Column with the step ahead that a row forecasts: a feature like any other."""
ORIGIN_ROW = "origin_row"
"""Column with the position of the origin row in the table: never a feature."""


def expand_horizon_rows(frame: pd.DataFrame, horizon: int, steps: Sequence[int] | None = None) -> pd.DataFrame:
    """Repeat each row for each of `steps`; for the training steps if None.

    Of very many rows, each keeps some of the training steps, in turn. Raises InvalidInput `reserved_name`.
    """
    reserved = [name for name in (ROWS_AHEAD, ORIGIN_ROW) if name in frame.columns]
    if reserved:
        raise InvalidInput(
            "reserved_name",
            f"The column name {reserved[0]!r} is reserved: rename the column.",
            column=reserved[0],
        )
    if steps is None:
        all_steps, steps_per_row = np.asarray(training_steps(horizon)), steps_per_origin(len(frame), horizon)
        origins, row_steps = _alternate_steps(len(frame), all_steps, steps_per_row)
    else:
        origins, row_steps = np.repeat(np.arange(len(frame)), len(steps)), np.tile(steps, len(frame))
    expanded = frame.iloc[origins].reset_index(drop=True)
    return expanded.assign(**{ROWS_AHEAD: row_steps, ORIGIN_ROW: origins})


def _alternate_steps(rows: int, steps: np.ndarray, per_origin: int) -> tuple[np.ndarray, np.ndarray]:
    """(origin position, step) of every expanded row: each origin keeps `per_origin` steps, spread evenly."""
    # Each origin starts one step later than the one before, so that all steps are trained equally often.
    offsets = np.arange(per_origin) * len(steps) // per_origin
    step_positions = np.sort((np.arange(len(steps))[:, None] + offsets) % len(steps), axis=1)
    origins = np.arange(rows)
    return np.repeat(origins, per_origin), steps[step_positions[origins % len(steps)]].ravel()


def prediction_rows(frame: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """The rows of training and prediction: expanded if every step is forecast."""
    return expand_horizon_rows(frame, problem.horizon or 1) if problem.every_step else frame


def get_rows_ahead(frame: pd.DataFrame) -> np.ndarray | None:
    """The step ahead of each row (rows,); None if all rows forecast the horizon."""
    return frame[ROWS_AHEAD].to_numpy() if has_horizon_rows(frame) else None


def has_horizon_rows(frame: pd.DataFrame) -> bool:
    """Test for rows of `expand_horizon_rows`."""
    return ORIGIN_ROW in frame.columns


def collapse_origins(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """The distinct origins in the order of the rows, and the position of each row's origin among them
    (rows,)."""
    # `np.unique` sorts; origins are put back in the order in which they first appear.
    _, first, inverse = np.unique(frame[ORIGIN_ROW].to_numpy(), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    origins = frame.iloc[first[order]].drop(columns=[ROWS_AHEAD, ORIGIN_ROW])
    return origins, rank[inverse]
