"""Classical methods that are stored with a model, and forecast series beyond rows that come later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from app.modeling.forecasting.path_intervals import PathIntervals
from app.modeling.forecasting.selection import Choice
from app.modeling.forecasting.series_forecast import ClassicalForecaster, SeriesHistory, read_histories
from app.modeling.problem.problem import Problem
from app.modeling.recipe.sampling_interval import detect_interval
from app.modeling.table.json_values import to_json_scalar

MAX_STORED_VALUES = 100_000
"""Values of the past that are stored with a model, about 3 MB of JSON: the latest of each series."""
MAX_STORED_ROWS = 3_000
"""Latest rows of each series that are stored: eight years of days, more than any method learns from."""
MAX_MISSING_ROWS = 1_000
"""Rows between the stored past and new rows that are filled in; after a longer gap new rows stand alone."""


@dataclass(frozen=True)
class StoredForecaster:
    """Classical methods with the latest values of each series that they learned from."""

    forecaster: ClassicalForecaster
    past: pd.DataFrame
    """Columns of the problem: group, if there is one, time and target."""

    @property
    def method(self) -> str:
        return self.forecaster.choice.name

    @classmethod
    def from_json(cls, document: Mapping[str, Any], problem: Problem) -> Self:
        """Read what `describe_forecaster` made."""
        intervals = document["intervals"]
        forecaster = ClassicalForecaster(
            Choice(dict(document["weights"]), {}),
            PathIntervals(np.asarray(intervals["spread"]), intervals["lower"], intervals["upper"]),
            document["is_positive"],
            # Absent in models from before intervals could grow with the level.
            document.get("by_level", False),
        )
        parts = []
        for series in document["past"]:
            part = pd.DataFrame(
                {
                    str(problem.time_column): pd.to_datetime(series["times"]),
                    problem.target: np.asarray(series["values"], dtype="float64"),
                }
            )
            parts.append(
                part.assign(**({problem.group_column: series["group"]} if problem.group_column else {}))
            )
        return cls(forecaster, pd.concat(parts, ignore_index=True))

    def forecast(self, rows: pd.DataFrame, problem: Problem) -> pd.DataFrame:
        """Forecast each series of the rows beyond its last row.

        Columns: series, time, `rows_ahead`, `prediction`, `low` and `high`, in units of the target.
        Rows continue the stored past of their series. A row at a time of the past replaces it.
        """
        time, group = str(problem.time_column), problem.group_column
        columns = [*([group] if group else []), time, problem.target]
        recent = rows[columns].astype({group: object} if group else {})
        by_series: list[tuple[Any, pd.DataFrame]] = [(None, recent)]
        if group is not None:
            by_series = list(recent.groupby(group, sort=False))
        parts = [self._continue_past(name, part, problem) for name, part in by_series]
        histories = read_histories(pd.concat(parts, ignore_index=True), problem)
        return pd.concat(
            [self.forecaster.forecast(history, problem) for history in histories], ignore_index=True
        )

    def _continue_past(self, name: Any, recent: pd.DataFrame, problem: Problem) -> pd.DataFrame:
        time = str(problem.time_column)
        past = self.past
        if problem.group_column:
            # As text, since new rows may have a number where the stored ones have its text.
            past = past.loc[past[problem.group_column].astype(str) == str(name)]
        past = past.assign(**{time: past[time].astype(recent[time].dtype)})
        # Of a past after the new rows nothing was known at their time.
        earlier = past.loc[~past[time].isin(recent[time]) & (past[time] < recent[time].max())]
        if earlier.empty:
            return recent
        missing = _missing_moments(earlier[time], recent[time])
        if len(missing) > MAX_MISSING_ROWS:
            return recent
        # Missing rows keep their places, or all later ones would be at the wrong place of the season.
        filled = pd.DataFrame({time: pd.Series(missing).astype(recent[time].dtype), problem.target: np.nan})
        if problem.group_column:
            earlier, filled = (part.assign(**{problem.group_column: name}) for part in (earlier, filled))
        parts = [part for part in (earlier, filled, recent) if len(part)]
        continued: pd.DataFrame = pd.concat(parts, ignore_index=True).sort_values(
            time, kind="stable", ignore_index=True
        )
        return continued


def _missing_moments(earlier: pd.Series, recent: pd.Series) -> np.ndarray:
    """Return the moments between the last earlier and the first later time, in the interval of the series."""
    last, first = earlier.max(), recent.min()
    interval = detect_interval(np.sort(earlier.to_numpy().astype("datetime64[s]")))
    if interval is None or first <= last:
        return np.array([], dtype="datetime64[s]")
    steps = int((first - last).total_seconds() // interval.spacing_s) + 1
    start = np.repeat(np.array([last.to_datetime64()]).astype("datetime64[s]"), steps)
    moments = interval.moments_after(start, np.arange(1, steps + 1))
    # Months and weekdays differ in length: a moment within half a step of the first row is that row.
    limit = first.to_datetime64().astype("datetime64[s]") - np.timedelta64(int(interval.spacing_s / 2), "s")
    missing: np.ndarray = moments[moments < limit]
    return missing


def describe_forecaster(forecaster: ClassicalForecaster, histories: Sequence[SeriesHistory]) -> dict[str, Any]:
    """Describe a forecaster as strict JSON, with the latest values of each series."""
    kept_rows = min(MAX_STORED_ROWS, max(MAX_STORED_VALUES // max(len(histories), 1), 1))
    intervals = forecaster.intervals
    return {
        "method": forecaster.choice.name,
        "weights": dict(forecaster.choice.weights),
        "intervals": {
            "spread": intervals.spread.tolist(),
            "lower": intervals.lower,
            "upper": intervals.upper,
        },
        "is_positive": forecaster.is_positive,
        "by_level": forecaster.by_level,
        "past": [
            {
                "group": to_json_scalar(history.group),
                "times": [to_json_scalar(moment) for moment in pd.to_datetime(history.times[-kept_rows:])],
                "values": history.values[-kept_rows:].tolist(),
            }
            for history in histories
        ],
    }
