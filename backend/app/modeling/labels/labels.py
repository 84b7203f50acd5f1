"""What the model is asked to say of each row."""

import numpy as np
import pandas as pd

from app.modeling.labels.barriers import Ranges, ranges_in, triple_barrier
from app.modeling.labels.uniqueness import sample_weights
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, collapse_origins, has_horizon_rows
from app.modeling.recipe.series import split_series
from app.modeling.recipe.volatility import realised_volatility
from app.modeling.table.json_values import class_label
from app.modeling.table.numeric import to_float


def make_labels(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """One float a row, missing where the label is unknown: the class's place in `classes`, or the number.

    With a horizon it is the target's future in the row's own group: the last `horizon` rows have none, nor has
    a row whose present value is missing.
    """
    target = frame[problem.target]
    if problem.barriers:
        return _gains(frame, problem)
    if problem.horizon and problem.outlook is Outlook.VOLATILITY:
        return _realised(frame, problem)
    if problem.horizon:
        ahead = _ahead(frame, target, problem)
        if problem.outlook in (Outlook.DIRECTION, Outlook.CHANGE):
            return _movement(to_float(target), to_float(ahead), problem.outlook)
        target = ahead.where(target.notna())
    if not problem.is_classification:
        return to_float(target).replace([np.inf, -np.inf], np.nan)
    places = {value: place for place, value in enumerate(problem.classes or ())}
    codes, values = pd.factorize(target)
    found = np.array(
        [*(places.get(class_label(value), np.nan) for value in values), np.nan]
    )  # the last for code -1
    return pd.Series(found[codes], index=frame.index, dtype="float64")


def _ahead(frame: pd.DataFrame, values: pd.Series, problem: Problem) -> pd.Series:
    """The value `horizon` rows later in time, of the same group, in the order of the frame; where rows ask
    about a step each, the value so many rows later."""
    if not has_horizon_rows(frame):
        return _later(frame, values, problem, problem.horizon or 0)
    once, back = collapse_origins(frame)
    own, steps = values.loc[once.index], frame[ROWS_AHEAD].to_numpy()
    found = []
    for step in np.unique(steps):
        at = np.flatnonzero(steps == step)
        later = _later(once, own, problem, int(step))
        found.append(later.iloc[back[at]].set_axis(frame.index[at]))
    whole: pd.Series = pd.concat(found).loc[frame.index]
    return whole


def _later(frame: pd.DataFrame, values: pd.Series, problem: Problem, rows: int) -> pd.Series:
    ordered = frame.sort_values(problem.time_column, kind="stable") if problem.time_column else frame
    sorted_values = values.loc[ordered.index]
    if problem.group_column and problem.time_column:
        groups = ordered[problem.group_column]
        return sorted_values.groupby(groups, sort=False).shift(-rows).loc[frame.index]
    return sorted_values.shift(-rows).loc[frame.index]


def _gains(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """1 where a trade that is opened at the row ends with a gain, 0 where it does not."""
    earned = trades_of(frame, problem)["earned"]
    return (earned > 0).astype("float64").where(earned.notna())


def trades_of(frame: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """Of a trade that is opened at each row: what it has `earned` at its end, and how many rows it `lasts`.

    Both are missing for the last `horizon` rows of a series, whose end is not known for all of them alike.
    """
    horizon, (up, down) = problem.horizon or 1, problem.barriers or (0.0, 0.0)
    earned, lasts = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    named = ranges_in(frame, problem.target)
    within = frame[list(named)].rename(columns=named)
    for rows in split_series(frame, problem):
        prices = to_float(frame[problem.target]).to_numpy()[rows]
        ranges = Ranges.of(within.iloc[rows], prices) if named else None
        found = triple_barrier(prices, np.ones(len(rows)), horizon, up, down, ranges)
        told = rows[:-horizon]
        earned[told], lasts[told] = found.earned[:-horizon], found.touched[:-horizon]
    return pd.DataFrame({"earned": earned, "lasts": lasts}, index=frame.index)


def _realised(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """The volatility of the target from each row to the horizon, of its own series."""
    horizon, found = problem.horizon or 1, np.full(len(frame), np.nan)
    for rows in split_series(frame, problem):
        past = realised_volatility(to_float(frame[problem.target].iloc[rows]), horizon)
        found[rows] = past.shift(-horizon).to_numpy()
    return pd.Series(found, index=frame.index)


def _movement(now: pd.Series, ahead: pd.Series, outlook: Outlook) -> pd.Series:
    change = (ahead - now) / now.abs().where(now != 0)
    if outlook is Outlook.CHANGE:
        return change
    return (ahead > now).astype("float64").where(ahead.notna() & now.notna())


def present_value(inputs: pd.DataFrame, problem: Problem) -> pd.Series | None:
    """What a forecast of a number starts from: a model learns and says the difference to it. None elsewhere."""
    if problem.is_classification or problem.outlook is not Outlook.VALUE:
        return None
    return to_float(inputs[problem.target])


def prediction_targets(frame: pd.DataFrame, problem: Problem) -> np.ndarray:
    """What there is to be told of each row (rows,): the label, or how far it moves from the present value."""
    labels, start = make_labels(frame, problem), present_value(frame, problem)
    return (labels if start is None else labels - start).to_numpy()


def label_times(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """When each row's label is known: its own time, or that of the row it looks ahead to (missing: never)."""
    times = frame[problem.time_column]
    if problem.barriers:
        return _ended(frame, times, problem)
    return _ahead(frame, times, problem) if problem.horizon else times


def _ended(frame: pd.DataFrame, times: pd.Series, problem: Problem) -> pd.Series:
    """When the trade that is opened at each row is closed."""
    lasts = trades_of(frame, problem)["lasts"].to_numpy()
    found = times.copy()
    for rows in split_series(frame, problem):
        known = np.isfinite(lasts[rows])
        ends = np.arange(len(rows)) + np.where(known, lasts[rows], 0).astype(int)
        found.iloc[rows] = times.iloc[rows[ends]].where(known).to_numpy()
    return found


def teaching_weights(frame: pd.DataFrame, problem: Problem) -> np.ndarray | None:
    """How much each row (rows,) tells that others do not, 1 on average; None where all tell about as much.

    Labels that look equally far ahead overlap alike: only trades that end when they may differ.
    """
    if not problem.barriers:
        return None
    begins, ends = frame[problem.time_column].to_numpy(), label_times(frame, problem).to_numpy()
    weights = np.ones(len(frame))
    for rows in split_series(frame, problem):
        weights[rows] = sample_weights(begins[rows], ends[rows], begins[rows])
    return weights
