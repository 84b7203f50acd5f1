"""Kinds of prediction problems and outlooks of forecasts, and the names of candidates that every study has."""

from enum import StrEnum
from typing import Literal


class ProblemKind(StrEnum):
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class Outlook(StrEnum):
    """The quantity of the target's future that a problem with a horizon predicts."""

    VALUE = "value"
    CHANGE = "change"
    """Relative change from now to the horizon."""
    DIRECTION = "direction"
    """Class `up` when the target is higher at the horizon than now, else `down`."""
    VOLATILITY = "volatility"
    """The realised volatility until the horizon: the root of the summed squared log returns, not annualised."""


ProblemKindName = Literal["classification", "regression"]
OutlookName = Literal["value", "change", "direction", "volatility"]
"""The values of `Outlook` as text, for models that hold JSON."""

BASELINE = "baseline"
"""Name of the reference candidate: class shares, the mean, or no change."""
PLAIN = "PlainBoosting"
"""Name of the plain candidate: gradient boosting with default settings behind a plain encoder."""
REFERENCES = (BASELINE, PLAIN)
"""Candidates that others are compared with: they are fitted on each fold that any other is fitted on."""
ENSEMBLE = "Ensemble"
"""Name of a weighted average of candidates."""
