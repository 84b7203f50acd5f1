"""What the model is asked to say of each row."""

import numpy as np
import pandas as pd

from app.modeling.operations.step import quiet_float
from app.modeling.plain import label
from app.modeling.problem import Outlook, Problem


def labels_of(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """One float a row, missing where the label is unknown: the class's place in `classes`, or the number.

    With a horizon it is the target's future in the row's own group: the last `horizon` rows have none, nor has
    a row whose present value is missing.
    """
    target = frame[problem.target]
    if problem.horizon:
        ahead = _ahead(frame, target, problem)
        if problem.outlook in (Outlook.DIRECTION, Outlook.CHANGE):
            return _movement(quiet_float(target), quiet_float(ahead), problem.outlook)
        target = ahead.where(target.notna())
    if not problem.is_classification:
        return quiet_float(target).replace([np.inf, -np.inf], np.nan)
    places = {value: place for place, value in enumerate(problem.classes or ())}
    codes, values = pd.factorize(target)
    found = np.array([*(places.get(label(value), np.nan) for value in values), np.nan])  # the last for code -1
    return pd.Series(found[codes], index=frame.index, dtype="float64")


def _ahead(frame: pd.DataFrame, values: pd.Series, problem: Problem) -> pd.Series:
    """The value `horizon` rows later in time, of the same group, in the order of the frame."""
    ordered = frame.sort_values(problem.time_column, kind="stable") if problem.time_column else frame
    sorted_values = values.loc[ordered.index]
    if problem.group_column and problem.time_column:
        groups = ordered[problem.group_column]
        return sorted_values.groupby(groups, sort=False).shift(-(problem.horizon or 0)).loc[frame.index]
    return sorted_values.shift(-(problem.horizon or 0)).loc[frame.index]


def _movement(now: pd.Series, ahead: pd.Series, outlook: Outlook) -> pd.Series:
    change = (ahead - now) / now.abs().where(now != 0)
    if outlook is Outlook.CHANGE:
        return change
    return (ahead > now).astype("float64").where(ahead.notna() & now.notna())


def present_value(inputs: pd.DataFrame, problem: Problem) -> pd.Series | None:
    """What a forecast of a number starts from: a model learns and says the difference to it. None elsewhere."""
    if problem.is_classification or problem.outlook is not Outlook.VALUE:
        return None
    return quiet_float(inputs[problem.target])


def told(frame: pd.DataFrame, problem: Problem) -> np.ndarray:
    """What there is to be told of each row (rows,): the label, or how far it moves from the present value."""
    labels, start = labels_of(frame, problem), present_value(frame, problem)
    return (labels if start is None else labels - start).to_numpy()


def label_times(frame: pd.DataFrame, problem: Problem) -> pd.Series:
    """When each row's label is known: its own time, or that of the row it looks ahead to (missing: never)."""
    times = frame[problem.time_column]
    return _ahead(frame, times, problem) if problem.horizon else times
