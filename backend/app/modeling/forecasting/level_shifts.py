"""Shifts of the level of a series, found by the split that explains most of its variation."""

import numpy as np

MIN_SEGMENT_ROWS = 4
"""Rows of the shortest level: of fewer, an outlier would be one."""
MAX_SHIFTS = 4
"""Shifts that are followed to the latest one: earlier ones hardly matter for the present."""
MAX_ROWS = 600
"""Latest rows that are searched: an older level says nothing of the next rows."""
PENALTY = 6.0
"""Reduction of the squared error by a shift, in variances of the noise times the logarithm of the rows, that is
no chance: three times that of BIC, since neighbouring rows are alike."""


def mean_since_shift(values: np.ndarray) -> float:
    """Return the mean of the rows since the level last shifted; of all rows without a shift."""
    segment = values[-MAX_ROWS:]
    variance = _noise_variance(segment)
    for _ in range(MAX_SHIFTS):
        begin = _find_shift(segment, PENALTY * variance * np.log(max(len(segment), 2)))
        if begin is None:
            break
        segment = segment[begin:]
    return float(segment.mean())


def _find_shift(values: np.ndarray, min_gain: float) -> int | None:
    """Return the first row of the second of two levels that explain the values best; None without a gain."""
    rows = len(values)
    if rows < 2 * MIN_SEGMENT_ROWS:
        return None
    first_rows = np.arange(MIN_SEGMENT_ROWS, rows - MIN_SEGMENT_ROWS + 1)
    sums = np.cumsum(values)
    first = sums[first_rows - 1] / first_rows
    second = (sums[-1] - sums[first_rows - 1]) / (rows - first_rows)
    gains = first_rows * (rows - first_rows) / rows * (second - first) ** 2
    best = int(gains.argmax())
    return int(first_rows[best]) if gains[best] > min_gain else None


def _noise_variance(values: np.ndarray) -> float:
    """Estimate the variance around a level from the changes between rows, of which a shift makes only one."""
    changes = np.diff(values)
    if not len(changes):
        return 0.0
    # The factor makes a standard deviation of the median deviation of normal noise.
    deviation = 1.4826 * float(np.median(np.abs(changes - np.median(changes))))
    # A change has the noise of two rows. Where most rows are equal the median is zero, and tells nothing.
    return (deviation or float(changes.std())) ** 2 / 2
