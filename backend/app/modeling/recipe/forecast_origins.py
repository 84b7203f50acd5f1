"""Rows of every step ahead: each origin stands once for each step, and is looked back from once."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.forecast_steps import steps_per_origin, training_steps
from app.modeling.problem.problem import Problem

ROWS_AHEAD = "rows_ahead"
"""How many rows ahead a row asks about: an input like any other."""
ORIGIN_ROW = "origin_row"
"""Which row of the table it was: never an input."""


def expand_horizon_rows(frame: pd.DataFrame, horizon: int, steps: Sequence[int] | None = None) -> pd.DataFrame:
    """Each row once for each of `steps`, one after the other; those that are learned where None.

    Of very many rows each keeps some of the steps, in turn. Raises InvalidInput `reserved_name`.
    """
    taken = [name for name in (ROWS_AHEAD, ORIGIN_ROW) if name in frame.columns]
    if taken:
        raise InvalidInput(
            "reserved_name", f"The table has a column {taken[0]!r}: give it another name.", column=taken[0]
        )
    if steps is None:
        every, each = np.asarray(training_steps(horizon)), steps_per_origin(len(frame), horizon)
        places, asked = _in_turn(len(frame), every, each)
    else:
        places, asked = np.repeat(np.arange(len(frame)), len(steps)), np.tile(steps, len(frame))
    made = frame.iloc[places].reset_index(drop=True)
    return made.assign(**{ROWS_AHEAD: asked, ORIGIN_ROW: places})


def _in_turn(rows: int, steps: np.ndarray, each: int) -> tuple[np.ndarray, np.ndarray]:
    """(place of the row, step) of every stacked row."""
    apart = np.arange(each) * len(steps) // each
    turns = np.sort((np.arange(len(steps))[:, None] + apart) % len(steps), axis=1)
    places = np.arange(rows)
    return np.repeat(places, each), steps[turns[places % len(steps)]].ravel()


def prediction_rows(frame: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """The rows that a model learns from or is asked: each once for each step, where every step is forecast."""
    return expand_horizon_rows(frame, problem.horizon or 1) if problem.every_step else frame


def get_rows_ahead(frame: pd.DataFrame) -> np.ndarray | None:
    """How many rows ahead each row asks about; None where all ask about the horizon."""
    return frame[ROWS_AHEAD].to_numpy() if has_horizon_rows(frame) else None


def has_horizon_rows(frame: pd.DataFrame) -> bool:
    return ORIGIN_ROW in frame.columns


def collapse_origins(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Each origin once, in the order of the rows, and of each row the place of its origin among them."""
    _, first, back = np.unique(frame[ORIGIN_ROW].to_numpy(), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    once = frame.iloc[first[order]].drop(columns=[ROWS_AHEAD, ORIGIN_ROW])
    return once, place[back]


def drop_horizon_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """The table that was stacked, or the frame as it is."""
    return collapse_origins(frame)[0].reset_index(drop=True) if has_horizon_rows(frame) else frame
