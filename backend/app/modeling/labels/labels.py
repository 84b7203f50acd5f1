"""Labels, prediction targets and sample weights of rows."""

import numpy as np
import pandas as pd

from app.modeling.labels.barriers import PriceRanges, find_range_columns, triple_barrier
from app.modeling.labels.series_grid import SeriesGrid
from app.modeling.labels.uniqueness import uniqueness_weights
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, collapse_origins, has_horizon_rows
from app.modeling.recipe.time_series import split_series
from app.modeling.recipe.volatility import realised_volatility
from app.modeling.table.json_values import class_label
from app.modeling.table.numeric import to_float


def make_labels(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """Make one float per row (rows,): the class index or the number; missing if the label is unknown.

    With a horizon it is the target's future value in the row's own group: the last `horizon` rows have none,
    nor has a row whose present value is missing.
    """
    target = frame[problem.target]
    if problem.barriers:
        return _gain_labels(frame, problem)
    if problem.horizon and problem.outlook is Outlook.VOLATILITY:
        return _future_volatility(frame, problem)
    if problem.horizon:
        ahead = _ahead(frame, target, problem)
        if problem.outlook in (Outlook.DIRECTION, Outlook.CHANGE):
            return _movement(to_float(target), to_float(ahead), problem.outlook)
        target = ahead.where(target.notna())
    if not problem.is_classification:
        return to_float(target).replace([np.inf, -np.inf], np.nan)
    class_index = {value: index for index, value in enumerate(problem.classes or ())}
    codes, values = pd.factorize(target)
    indices = np.array(
        [*(class_index.get(class_label(value), np.nan) for value in values), np.nan]
    )  # the last for code -1
    return pd.Series(indices[codes], index=frame.index, dtype="float64")


def _ahead(frame: pd.DataFrame, values: pd.Series, problem: Problem) -> pd.Series:
    """The value `horizon` rows later, in the same group and in order of time; for rows that are expanded by
    step, the value that many rows later.

    In series with a regular interval and missing rows it is the value so many intervals later, if there is one.
    """
    if not has_horizon_rows(frame):
        return _later(frame, values, problem, problem.horizon or 0, _find_grid(frame, problem))
    unexpanded, back = collapse_origins(frame)
    grid = _find_grid(unexpanded, problem)
    unexpanded_values, steps = values.loc[unexpanded.index], frame[ROWS_AHEAD].to_numpy()
    parts = []
    for step in np.unique(steps):
        at = np.flatnonzero(steps == step)
        later = _later(unexpanded, unexpanded_values, problem, int(step), grid)
        parts.append(later.iloc[back[at]].set_axis(frame.index[at]))
    ahead: pd.Series = pd.concat(parts).loc[frame.index]
    return ahead


def _find_grid(frame: pd.DataFrame, problem: Problem) -> SeriesGrid | None:
    return SeriesGrid.from_frame(frame, problem) if problem.time_column else None


def _later(
    frame: pd.DataFrame, values: pd.Series, problem: Problem, rows: int, grid: SeriesGrid | None
) -> pd.Series:
    if grid is not None:
        at = grid.find_later(rows)
        later: pd.Series = values.loc[frame.index].iloc[np.maximum(at, 0)].set_axis(frame.index)
        return later.where(at >= 0)
    ordered = frame.sort_values(problem.time_column, kind="stable") if problem.time_column else frame
    sorted_values = values.loc[ordered.index]
    if problem.group_column and problem.time_column:
        groups = ordered[problem.group_column]
        return sorted_values.groupby(groups, sort=False).shift(-rows).loc[frame.index]
    return sorted_values.shift(-rows).loc[frame.index]


def _gain_labels(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """1 if a trade opened at the row ends with a gain, 0 if it does not."""
    earned = simulate_trades(frame, problem)["earned"]
    return (earned > 0).astype("float64").where(earned.notna())


def simulate_trades(frame: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """Simulate a trade opened at each row: its return `earned`, and the number of rows it `lasts`.

    Both are missing for the last `horizon` rows of a series, because not all of their trades have ended.
    """
    horizon, (up, down) = problem.horizon or 1, problem.barriers or (0.0, 0.0)
    earned, lasts = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    range_columns = find_range_columns(frame, problem.target)
    within = frame[list(range_columns)].rename(columns=range_columns)
    for rows in split_series(frame, problem):
        prices = to_float(frame[problem.target]).to_numpy()[rows]
        ranges = PriceRanges.from_table(within.iloc[rows], prices) if range_columns else None
        outcomes = triple_barrier(prices, np.ones(len(rows)), horizon, up, down, ranges)
        complete = rows[:-horizon]
        earned[complete], lasts[complete] = outcomes.earned[:-horizon], outcomes.touched[:-horizon]
    return pd.DataFrame({"earned": earned, "lasts": lasts}, index=frame.index)


def _future_volatility(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """Volatility of the target from each row to the horizon, within its own series."""
    horizon, volatility = problem.horizon or 1, np.full(len(frame), np.nan)
    for rows in split_series(frame, problem):
        past = realised_volatility(to_float(frame[problem.target].iloc[rows]), horizon)
        volatility[rows] = past.shift(-horizon).to_numpy()
    return pd.Series(volatility, index=frame.index)


def _movement(now: pd.Series, ahead: pd.Series, outlook: Outlook) -> pd.Series:
    # By the size of the value, so that a rise of a negative one is still a rise.
    change = (ahead - now) / now.abs().where(now != 0)
    if outlook is Outlook.CHANGE:
        return change
    return (ahead > now).astype("float64").where(ahead.notna() & now.notna())


def present_value(inputs: pd.DataFrame, problem: Problem) -> pd.Series | None:
    """Return the current value that a forecast of a number starts from; None for other problems.

    Models are trained on, and predict, the difference to it.
    """
    if not problem.learns_difference:
        return None
    # Differences are learned, since trees predict no level beyond those that they saw.
    return to_float(inputs[problem.target])


def prediction_targets(frame: pd.DataFrame, problem: Problem) -> np.ndarray:
    """Make the regression target (rows,): the label, or its difference to the current value."""
    labels, start = make_labels(frame, problem), present_value(frame, problem)
    return (labels if start is None else labels - start).to_numpy()


def label_times(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """Time at which each row's label is known: its own, or that of the row it looks ahead to (missing:
    never)."""
    times = frame[problem.time_column]
    if problem.barriers:
        return _trade_ends(frame, times, problem)
    return _ahead(frame, times, problem) if problem.horizon else times


def _trade_ends(frame: pd.DataFrame, times: pd.Series, problem: Problem) -> pd.Series:
    """Time at which the trade opened at each row is closed."""
    lasts = simulate_trades(frame, problem)["lasts"].to_numpy()
    ends = times.copy()
    for rows in split_series(frame, problem):
        ended = np.isfinite(lasts[rows])
        last_rows = np.arange(len(rows)) + np.where(ended, lasts[rows], 0).astype(int)
        ends.iloc[rows] = times.iloc[rows[last_rows]].where(ended).to_numpy()
    return ends


def label_weights(frame: pd.DataFrame, problem: Problem) -> np.ndarray | None:
    """Sample weights (rows,) by average uniqueness, with mean 1; None if all labels overlap equally.

    Labels that look equally far ahead overlap equally: only trades that end early can differ.
    """
    if not problem.barriers:
        return None
    begins, ends = frame[problem.time_column].to_numpy(), label_times(frame, problem).to_numpy()
    weights = np.ones(len(frame))
    for rows in split_series(frame, problem):
        weights[rows] = uniqueness_weights(begins[rows], ends[rows], begins[rows])
    return weights
