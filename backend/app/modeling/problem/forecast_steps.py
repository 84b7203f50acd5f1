"""Steps ahead at which a forecast of every step is trained."""

MAX_CONSECUTIVE_STEPS = 32
"""Up to this horizon (rows), every step is trained. Of a longer one, evenly spaced steps are; the same model
forecasts the steps between.
"""
SPACED_STEPS = 24
"""Steps that are trained of a longer horizon."""
MAX_STACKED_ROWS = 300_000
"""Maximal training rows, an origin counting once for each of its steps: bounds the time of a fit."""


def training_steps(horizon: int) -> tuple[int, ...]:
    """Steps (rows ahead) to train, from 1 to the horizon."""
    if horizon <= MAX_CONSECUTIVE_STEPS:
        return tuple(range(1, horizon + 1))
    spacing = (horizon - 1) / (SPACED_STEPS - 1)
    return tuple(dict.fromkeys(1 + round(position * spacing) for position in range(SPACED_STEPS)))


def steps_per_origin(rows: int, horizon: int) -> int:
    """Number of training steps of one origin: all, unless there are very many origins."""
    return max(1, min(len(training_steps(horizon)), MAX_STACKED_ROWS // max(rows, 1)))
