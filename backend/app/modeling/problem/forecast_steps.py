"""Which steps ahead a forecast of every step is learned at: no pandas, so that whoever plans may ask."""

MAX_CONSECUTIVE_STEPS = 32
"""Of a longer way some steps teach, evenly spaced; the ones between are asked of the same model."""
SPACED_STEPS = 24
MAX_STACKED_ROWS = 300_000
"""Rows that teach, an origin counting once for each of its steps."""


def training_steps(horizon: int) -> tuple[int, ...]:
    """Rows ahead, from 1 to the horizon."""
    if horizon <= MAX_CONSECUTIVE_STEPS:
        return tuple(range(1, horizon + 1))
    apart = (horizon - 1) / (SPACED_STEPS - 1)
    return tuple(dict.fromkeys(1 + round(place * apart) for place in range(SPACED_STEPS)))


def steps_per_origin(rows: int, horizon: int) -> int:
    """How many of the steps one origin teaches: all, unless there are very many origins."""
    return max(1, min(len(training_steps(horizon)), MAX_STACKED_ROWS // max(rows, 1)))
