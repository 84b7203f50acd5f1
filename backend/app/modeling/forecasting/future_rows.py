"""Rows that ask for the future of each series, and the times that they predict."""

import numpy as np
import pandas as pd

from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ORIGIN_ROW, ROWS_AHEAD, has_horizon_rows
from app.modeling.recipe.sampling_interval import detect_interval
from app.modeling.recipe.time_series import split_series


def latest_rows(frame: pd.DataFrame, problem: Problem, rows: int) -> pd.DataFrame:
    """Select the last rows of each series, in the order of the frame."""
    positions = np.sort(np.concatenate([series[-rows:] for series in split_series(frame, problem)]))
    return frame.iloc[positions].reset_index(drop=True)


def future_rows(inputs: pd.DataFrame, problem: Problem) -> tuple[pd.DataFrame, np.ndarray]:
    """Make the input rows, and the positions of those that predict beyond the last row of their series.

    Positions go series by series, the nearest time first. In a forecast of every step the last row of a series
    is expanded by step; otherwise the last `horizon` rows predict a level, and the last row alone a class, a
    change or a volatility, because each of these starts from now.
    """
    horizon = problem.horizon or 1
    series = split_series(inputs, problem)
    if not problem.every_step:
        is_level = not problem.is_classification and problem.outlook is Outlook.VALUE
        count = horizon if is_level else 1
        return inputs, np.concatenate([rows[-count:] for rows in series])
    last = np.array([rows[-1] for rows in series])
    positions = np.concatenate([np.setdiff1d(np.arange(len(inputs)), last), np.repeat(last, horizon)])
    steps = np.ones(len(positions), dtype=int)
    steps[len(inputs) - len(last) :] = np.tile(np.arange(1, horizon + 1), len(last))
    expanded = (
        inputs.iloc[positions].reset_index(drop=True).assign(**{ROWS_AHEAD: steps, ORIGIN_ROW: positions})
    )
    return expanded, np.arange(len(inputs) - len(last), len(positions))


def prediction_times(rows: pd.DataFrame, problem: Problem, history: pd.DataFrame | None = None) -> pd.DataFrame:
    """Make a table of the series, the time and the rows ahead that each row predicts, with the table's names.

    `history`: rows to infer the sampling interval from, if these rows are too few.
    """
    time, group = str(problem.time_column), problem.group_column
    ahead = rows[ROWS_AHEAD].to_numpy() if has_horizon_rows(rows) else np.full(len(rows), problem.horizon or 1)
    moments = rows[time].to_numpy().astype("datetime64[s]")
    table = rows if history is None else history
    by_series = {None: table} if group is None else dict(list(table.groupby(group, sort=False, observed=True)))
    groups = pd.Series([None] * len(rows)) if group is None else rows[group]
    for name, series in by_series.items():
        rhythm = detect_interval(np.sort(series[time].to_numpy()))
        at = np.flatnonzero(groups.isna() if name is None else groups == name)
        if rhythm is not None:
            moments[at] = rhythm.moments_after(moments[at], ahead[at])
    columns = {} if group is None else {group: rows[group].to_numpy()}
    return pd.DataFrame({**columns, time: moments, ROWS_AHEAD: ahead})
