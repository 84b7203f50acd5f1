"""Classical methods of forecasting one series: fitted once on its beginning, applied at any later row.

A method is a function (values, training rows, horizon, origins) -> forecasts (origins, horizon): the forecast
made at each origin row, from this row and those before it, for each step ahead. Parameters are estimated on the
training rows only, so that forecasts of later rows are a fair trial.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from app.modeling.forecasting.autoregression import forecast_autoregression, forecast_changes
from app.modeling.forecasting.ets import MIN_ROWS, Smoothing, select_recent
from app.modeling.forecasting.level_shifts import mean_since_shift
from app.modeling.forecasting.theta import forecast_theta

Method = Callable[[np.ndarray, int, int, np.ndarray], np.ndarray]

LAST_VALUE, DRIFT, SMOOTHING = "last value", "drift", "exponential smoothing"
SEASON_END = "rows before"
SINCE_SHIFT = "seasons and mean since the last shift"
DECOMPOSED = "seasons, trend and level"
THETA, AUTOREGRESSION, CHANGES = "theta method", "autoregression", "autoregression of changes"
ON_LOG = " of the logarithm"
PRIOR_WEIGHTS = {SMOOTHING: 1.0, THETA: 1.0, CHANGES: 1.0, DECOMPOSED: 1.0, LAST_VALUE: 0.5}
OTHER_PRIOR_WEIGHT = 0.25
"""Weights of methods before their errors count. Those that follow level, trend and season by themselves
forecast most series well; the others suit some series, and none of the rest. With equal ones the errors of made
series of few rows are 3 % larger."""
MAX_SMOOTHED_SEASON = 24
"""Longest season of exponential smoothing: the states of longer ones cannot be estimated."""
MAX_PROFILE_SEASON = 168
"""Longest season with a value for each place (the hours of a week); longer ones are harmonics."""
MAX_HARMONICS = 6
"""Harmonics of a long season: the sixth of a year has a period of two months."""
MEAN_SEASONS = 3
"""Seasons that are averaged: more are out of date, fewer are noisy."""
MEDIAN_ROWS = 60
"""Latest rows of a median: of rare events (most days none) it is the value with the least absolute error."""
MIN_MEDIAN_ROWS = 20
"""Rows below which the median of rare events is itself chance."""
LEVEL_WEIGHTS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Weights of the newest value that are tried for a level, about evenly spaced on a logarithmic scale."""
MAX_SEARCHED_ROWS = 1_500
"""Latest rows on which weights are tried: older ones say little of the present."""
DAMPING = 0.98
"""Factor by which a trend shrinks with each step: undamped ones overshoot at long horizons (Gardner 1985)."""


def is_reference(name: str) -> bool:
    """Test for a method that others are held against: last value, drift, each season, smoothing."""
    return name in (LAST_VALUE, DRIFT, SMOOTHING) or name.endswith(SEASON_END)


def prior_weight(name: str) -> float:
    """Return the weight of a method before its errors are seen."""
    return PRIOR_WEIGHTS.get(name.removesuffix(ON_LOG), OTHER_PRIOR_WEIGHT)


def list_methods(
    values: np.ndarray, train_rows: int, seasons: Sequence[int], is_smoothed: bool = True
) -> Mapping[str, Method]:
    """List the methods that a series is long enough for, by name; without `is_smoothed` only the fast ones."""
    methods: dict[str, Method] = {LAST_VALUE: _last_value, DRIFT: _drift}
    if train_rows >= MIN_MEDIAN_ROWS:
        methods[f"median of the last {MEDIAN_ROWS} rows"] = _median
    # Two seasons, so that a season can be told from a trend.
    usable = [season for season in seasons if train_rows >= 2 * season + 1]
    methods |= {
        f"the value {season} {SEASON_END}": partial(_seasonal, season=season)
        for season in seasons
        if train_rows > season
    }
    methods |= {
        f"mean of the seasons of {season} rows": partial(_seasonal_mean, season=season) for season in usable
    }
    if train_rows >= MIN_ROWS and float(np.ptp(values[:train_rows])) > 0:
        short = next((season for season in reversed(usable) if season <= MAX_SMOOTHED_SEASON), None)
        searched: dict[str, Method] = {
            DECOMPOSED: partial(_decomposed, seasons=usable),
            SINCE_SHIFT: partial(_since_shift, seasons=usable),
            THETA: partial(_beside_seasons, method=forecast_theta, seasons=usable),
            AUTOREGRESSION: partial(_beside_seasons, method=forecast_autoregression, seasons=usable),
            CHANGES: partial(_beside_seasons, method=forecast_changes, seasons=usable),
        }
        if is_smoothed:
            searched[SMOOTHING] = partial(_smoothing, season=short)
        methods |= searched
        # On the logarithm seasons grow with the level, as those of sales do.
        if float(values[:train_rows].min()) > 0:
            methods |= {f"{name}{ON_LOG}": _on_log(method) for name, method in searched.items()}
    return methods


def _on_log(method: Method) -> Method:
    def forecast(values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray) -> np.ndarray:
        if values.min() <= 0:
            return np.full((len(origins), horizon), np.nan)
        logs = np.log(values)
        # A level twice as high as any before is an explosion of the logarithm, and no forecast.
        highest = logs[:train_rows].max() + np.log(2.0)
        forecasts: np.ndarray = np.exp(np.minimum(method(logs, train_rows, horizon, origins), highest))
        return forecasts

    return forecast


def _last_value(values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray) -> np.ndarray:
    return np.repeat(values[origins][:, None], horizon, axis=1)


def _median(values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray) -> np.ndarray:
    medians = [float(np.median(values[max(0, origin + 1 - MEDIAN_ROWS) : origin + 1])) for origin in origins]
    return np.repeat(np.array(medians)[:, None], horizon, axis=1)


def _drift(values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray) -> np.ndarray:
    # The mean change telescopes to that of first and last value.
    slopes = (values[origins] - values[0]) / np.maximum(origins, 1)
    forecast: np.ndarray = values[origins][:, None] + slopes[:, None] * np.arange(1, horizon + 1)
    return forecast


def _seasonal(
    values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray, season: int
) -> np.ndarray:
    return _at_place(values, horizon, origins, season, 0)


def _at_place(values: np.ndarray, horizon: int, origins: np.ndarray, season: int, back: int) -> np.ndarray:
    """Return the latest known value at the place of the season, or that of so many seasons before."""
    steps = np.arange(1, horizon + 1)
    rows = origins[:, None] + steps - season * (np.ceil(steps / season).astype(int) + back)
    return np.where(rows >= 0, values[np.maximum(rows, 0)], np.nan)


def _seasonal_mean(
    values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray, season: int
) -> np.ndarray:
    """The mean of a place over seasons, each relative to its own level, on the present level."""
    # Levels of all origins by differences of running sums.
    sums = np.concatenate([[0.0], np.cumsum(values)])
    rounds = []
    for back in range(MEAN_SEASONS):
        end = origins + 1 - season * back
        begin = end - season
        level = np.where(begin >= 0, (sums[np.maximum(end, 0)] - sums[np.maximum(begin, 0)]) / season, np.nan)
        rounds.append(_at_place(values, horizon, origins, season, back) - level[:, None])
        if back == 0:
            present = level
    stacked = np.stack(rounds)
    is_known = np.isfinite(stacked)
    counts = np.maximum(is_known.sum(axis=0), 1)
    mean = np.where(is_known, stacked, 0.0).sum(axis=0) / counts
    forecast: np.ndarray = np.where(is_known.any(axis=0), mean, np.nan) + present[:, None]
    return forecast


def _smoothing(
    values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray, season: int | None
) -> np.ndarray:
    """Damped additive exponential smoothing."""
    fitted_values = select_recent(values[:train_rows], season)
    skipped = train_rows - len(fitted_values)
    model = Smoothing.fit(fitted_values, season)
    forecast = np.full((len(origins), horizon), np.nan)
    is_fitted = origins >= skipped
    forecast[is_fitted] = model.forecast_paths(values[skipped:], horizon, origins[is_fitted] - skipped)
    return forecast


def _decomposed(
    values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray, seasons: Sequence[int]
) -> np.ndarray:
    """Fixed seasons by regression, and a damped trend and level of what remains."""
    seasonal = _fit_seasons(values, train_rows, horizon, seasons)
    remainder = values - seasonal[: len(values)]
    # Judged at a quarter of the rows at most: longer steps would leave hardly any to judge by.
    weight, trend_weight = _best_weights(remainder[:train_rows], min(horizon, max(train_rows // 4, 1)))
    levels, trends = _levels(remainder, weight, trend_weight)
    steps = np.arange(1, horizon + 1)
    ahead = np.cumsum(DAMPING**steps)
    forecast: np.ndarray = (
        levels[origins][:, None] + trends[origins][:, None] * ahead + seasonal[origins[:, None] + steps]
    )
    return forecast


def _since_shift(
    values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray, seasons: Sequence[int]
) -> np.ndarray:
    """Fixed seasons by regression, and the mean of what remains since its level last shifted.

    Smoothing takes many rows to leave an old level, and a mean of all rows never does.
    """
    seasonal = _fit_seasons(values, train_rows, horizon, seasons)
    remainder = values - seasonal[: len(values)]
    levels = np.array([mean_since_shift(remainder[: origin + 1]) for origin in origins])
    forecast: np.ndarray = levels[:, None] + seasonal[origins[:, None] + np.arange(1, horizon + 1)]
    return forecast


def _beside_seasons(
    values: np.ndarray,
    train_rows: int,
    horizon: int,
    origins: np.ndarray,
    method: Method,
    seasons: Sequence[int],
) -> np.ndarray:
    """Fixed seasons by regression, and a method for what remains."""
    seasonal = _fit_seasons(values, train_rows, horizon, seasons)
    remainder_path = method(values - seasonal[: len(values)], train_rows, horizon, origins)
    forecast: np.ndarray = remainder_path + seasonal[origins[:, None] + np.arange(1, horizon + 1)]
    return forecast


def _fit_seasons(values: np.ndarray, train_rows: int, horizon: int, seasons: Sequence[int]) -> np.ndarray:
    """Fit fixed seasons beside a trend on the training rows; return them (rows + horizon,)."""
    matrix = _SeasonDesign.make(seasons, train_rows).matrix(np.arange(len(values) + horizon))
    coefficients = _regress(matrix[:train_rows], values[:train_rows])
    # Without constant and trend, which the level follows by itself.
    seasonal: np.ndarray = matrix[:, 2:] @ coefficients[2:]
    return seasonal


@dataclass(frozen=True)
class _SeasonDesign:
    """Columns of a regression: a constant, a trend, and the places or harmonics of each season."""

    seasons: tuple[int, ...]
    scale: int

    @classmethod
    def make(cls, seasons: Sequence[int], train_rows: int) -> "_SeasonDesign":
        # 364 and 365 days are one year: one of them is enough.
        distinct: list[int] = []
        for season in sorted(seasons, reverse=True):
            if all(abs(season / other - 1) > 0.02 for other in distinct):
                distinct.append(season)
        return cls(tuple(distinct), train_rows)

    def matrix(self, rows: np.ndarray) -> np.ndarray:
        columns = [np.ones(len(rows)), rows / self.scale]
        for season in self.seasons:
            if season <= MAX_PROFILE_SEASON:
                # Centred, so that the constant stays the mean; the last place follows from the others.
                columns += [(rows % season == place) - 1.0 / season for place in range(season - 1)]
            else:
                length = 365.25 if season in (364, 365) else float(season)
                for number in range(1, MAX_HARMONICS + 1):
                    angle = 2 * np.pi * number * rows / length
                    columns += [np.sin(angle), np.cos(angle)]
        return np.column_stack(columns)


RIDGE = 1e-9
"""Penalty per row of the regression: it decides only between columns that are alike, as a short series has."""


def _regress(matrix: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the coefficients of least squares by the normal equations, in a tenth of the time of an SVD."""
    penalty = RIDGE * len(matrix) * np.eye(matrix.shape[1])
    coefficients: np.ndarray = np.linalg.solve(matrix.T @ matrix + penalty, matrix.T @ values)
    return coefficients


def _best_weights(values: np.ndarray, horizon: int) -> tuple[float, float]:
    """Return the weights of level and trend with the least absolute error some steps ahead."""
    best, lowest = (LEVEL_WEIGHTS[0], 0.0), np.inf
    # Three steps stand for the whole path: a weight that is best one row ahead may be poor at the horizon.
    steps = sorted({1, max(1, horizon // 2), horizon})
    values = values[-MAX_SEARCHED_ROWS:]
    # The first quarter is left out: there the level still depends on how it began.
    first = len(values) // 4
    for weight in LEVEL_WEIGHTS:
        # Below the weight of the level, or noise in the level would become a trend.
        for trend_weight in (0.0, 0.05 * weight, 0.3 * weight):
            levels, trends = _levels(values, weight, trend_weight)
            error = 0.0
            for step in steps:
                ahead = float(np.sum(DAMPING ** np.arange(1, step + 1)))
                misses = np.abs(levels[first:-step] + trends[first:-step] * ahead - values[first + step :])
                error += float(misses.mean()) if len(misses) else 0.0
            if error < lowest:
                best, lowest = (weight, trend_weight), error
    return best


def _levels(values: np.ndarray, weight: float, trend_weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Return level and damped trend after each row; without a trend weight the trend is zero."""
    levels, trends = np.empty(len(values)), np.zeros(len(values))
    # One value would begin with all of its noise.
    level, trend = float(values[: max(1, min(5, len(values)))].mean()), 0.0
    # Python floats: indexing numpy scalars one by one is several times slower.
    for row, value in enumerate(values.tolist()):
        expected = level + DAMPING * trend
        updated = weight * value + (1 - weight) * expected
        if trend_weight:
            trend = trend_weight * (updated - level) + (1 - trend_weight) * DAMPING * trend
            trends[row] = trend
        level = updated
        levels[row] = level
    return levels, trends
