"""Prediction intervals as JSON."""

from typing import NotRequired, TypedDict


class ProportionalErrorsJson(TypedDict):
    """Errors in units of the prediction, or of `floor` where that is larger, interpolated linearly."""

    predictions: list[float]
    errors: dict[str, list[list[float]]]
    """Level -> lower and upper errors at these predictions."""
    floor: float


class PredictionIntervalsJson(TypedDict):
    """Intervals of `prediction_intervals.fit_intervals`: `constant`, `scaled` or `proportional`. Bounds of the
    first two: prediction + error x scale."""

    method: str
    level: float
    predictions: list[float]
    scales: list[float]
    """Size of errors at these predictions, interpolated linearly."""
    errors: dict[str, list[float]]
    """Level -> lower and upper error, in scales."""
    steps: NotRequired[list[int]]
    step_scales: NotRequired[list[float]]
    """Rows ahead, and the size of their errors relative to all errors, interpolated linearly."""
    proportional: NotRequired[ProportionalErrorsJson | None]
    """Errors of the method of this name, in place of those above."""
    lowest: float | None
    """Smallest possible bound; None if there is none."""
    coverage: float
    """Cross-fitted, at `level`."""
    rows: int
    text: str
