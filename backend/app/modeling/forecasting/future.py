"""What nobody knows yet: the rows that ask about it, and the moments that they ask about."""

import numpy as np
import pandas as pd

from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ORIGIN_ROW, ROWS_AHEAD, has_horizon_rows
from app.modeling.recipe.sampling_interval import detect_interval
from app.modeling.recipe.series import split_series


def latest(frame: pd.DataFrame, problem: Problem, rows: int) -> pd.DataFrame:
    """The last rows of each series, in the order of the frame."""
    kept = np.sort(np.concatenate([each[-rows:] for each in split_series(frame, problem)]))
    return frame.iloc[kept].reset_index(drop=True)


def future_of(inputs: pd.DataFrame, problem: Problem) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows as a model takes them, and the places of those whose answers lie beyond the last row of their
    series: series by series, the nearest moment first.

    Of every step the last row of a series asks about each; otherwise the last rows ask about the horizon, of a
    class, a change or a volatility the last one alone: each is from now on.
    """
    horizon = problem.horizon or 1
    series = split_series(inputs, problem)
    if not problem.every_step:
        is_level = not problem.is_classification and problem.outlook is Outlook.VALUE
        asking = horizon if is_level else 1
        return inputs, np.concatenate([rows[-asking:] for rows in series])
    last = np.array([rows[-1] for rows in series])
    places = np.concatenate([np.setdiff1d(np.arange(len(inputs)), last), np.repeat(last, horizon)])
    steps = np.ones(len(places), dtype=int)
    steps[len(inputs) - len(last) :] = np.tile(np.arange(1, horizon + 1), len(last))
    asked = inputs.iloc[places].reset_index(drop=True).assign(**{ROWS_AHEAD: steps, ORIGIN_ROW: places})
    return asked, np.arange(len(inputs) - len(last), len(places))


def asked_about(asked: pd.DataFrame, problem: Problem, known: pd.DataFrame | None = None) -> pd.DataFrame:
    """Series, moment and rows ahead that each row asks about, under the names of the table.

    `known`: rows that tell how far apart moments lie, where these do not.
    """
    time, group = str(problem.time_column), problem.group_column
    ahead = (
        asked[ROWS_AHEAD].to_numpy() if has_horizon_rows(asked) else np.full(len(asked), problem.horizon or 1)
    )
    moments = asked[time].to_numpy().astype("datetime64[s]")
    table = asked if known is None else known
    by_series = {None: table} if group is None else dict(list(table.groupby(group, sort=False, observed=True)))
    own = pd.Series([None] * len(asked)) if group is None else asked[group]
    for name, rows in by_series.items():
        rhythm = detect_interval(np.sort(rows[time].to_numpy()))
        at = np.flatnonzero(own.isna() if name is None else own == name)
        if rhythm is not None:
            moments[at] = rhythm.moments_after(moments[at], ahead[at])
    columns = {} if group is None else {group: asked[group].to_numpy()}
    return pd.DataFrame({**columns, time: moments, ROWS_AHEAD: ahead})
