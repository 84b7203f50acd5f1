"""Target means of columns of codes, as additional columns for trees.

A tree splits codes by their order, which is arbitrary for users, films or places: that takes too many splits.
"""

from typing import Any

import numpy as np

MIN_CODES = 20
"""Distinct codes of a column; trees separate fewer by themselves."""
MIN_ROWS_PER_CODE = 3.0
"""Mean rows per code: fewer make noisy means."""
MAX_WIDENED_COLUMNS = 6
"""Columns that get means: the ones with the largest gain."""
MAX_CLASSES = 10
"""Each class adds a column of means for each widened column."""
FOLD_COUNT = 5
"""Training rows get the means of the rows of other folds, so that their own target does not leak."""
PRIOR_ROWS = 10.0
"""Rows of the overall mean that are added to each code (additive smoothing)."""
BAND_COUNT = 32
"""Bands of neighbouring codes that show what splits by order explain."""
MIN_VARIANCE_GAIN = 0.01
"""Share of the target's variance that means must explain beyond the order of the codes."""
MIN_KNOWN_SHARE = 0.5
"""Share of validation rows that must have codes of the training rows."""
PROBE_ROWS = 1000
"""Rows that are checked first, to rule out most columns early."""

CodeMeans = list[dict[str, Any]]
"""For each widened column: its position, its sorted codes, their means, and the mean for other codes."""


def learn_means(X: Any, y: np.ndarray, classes: int, seed: int) -> tuple[CodeMeans, Any]:
    """Learn the means that are worth adding; return them with the widened training rows (cross-fitted
    means)."""
    if not isinstance(X, np.ndarray) or classes > MAX_CLASSES or len(y) < FOLD_COUNT * MIN_CODES:
        return [], X
    outcome = _outcome(y, classes)
    fold = np.random.default_rng(seed).permutation(np.arange(len(y)) % FOLD_COUNT)
    gains = []
    for position in range(X.shape[1]):
        codes, code_positions = _codes(X[:, position])
        if not len(codes):
            continue
        estimates = _cross_fit(code_positions, len(codes), outcome, fold)
        # Means must tell more than bands of codes do, which trees split by themselves.
        gain = _explained_share(estimates, outcome) - _explained_share(
            _band_means(code_positions, len(codes), outcome), outcome
        )
        if gain >= MIN_VARIANCE_GAIN:
            gains.append((gain, position, codes, code_positions, estimates))
    gains = sorted(gains, key=lambda entry: (-entry[0], entry[1]))[:MAX_WIDENED_COLUMNS]
    means = [
        _means(position, codes, code_positions, outcome) for _, position, codes, code_positions, _ in gains
    ]
    return means, _append_columns(X, [estimates for *_, estimates in gains])


def widen(X: Any, means: CodeMeans) -> Any:
    """Add the means to new rows (rows, features)."""
    return _append_columns(X, [_look_up(X[:, column_means["place"]], column_means) for column_means in means])


def has_known_codes(X: Any, means: CodeMeans) -> bool:
    """Test whether most rows have codes of the training rows. Otherwise later rows bring new codes, as new
    groups."""
    shares = []
    for column_means in means:
        column = X[:, column_means["place"]]
        column = column[~np.isnan(column)]
        shares.append(float(np.isin(column, column_means["codes"]).mean()) if len(column) else 0.0)
    return min(shares, default=1.0) >= MIN_KNOWN_SHARE


def merge_contributions(values: np.ndarray, means: CodeMeans, width: int) -> np.ndarray:
    """Add the contributions of means (..., features and base value) to those of their source columns."""
    # Readers know the column, not its mean: SHAP values add up, so both can be told as one.
    merged = values[..., [*range(width), values.shape[-1] - 1]].copy()
    start = width
    for column_means in means:
        count = column_means["means"].shape[1]
        merged[..., column_means["place"]] += values[..., start : start + count].sum(axis=-1)
        start += count
    return merged


def _outcome(y: np.ndarray, classes: int) -> np.ndarray:
    """Target as columns (rows, outcomes): the number, or indicators of classes; of two classes only the
    second."""
    if not classes:
        return np.asarray(y, dtype="float64")[:, None]
    positions = [1] if classes == 2 else range(classes)
    return np.column_stack([(y == position).astype("float64") for position in positions])


def _codes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct codes, and each row's position among them, -1 for missing; empty if the column has no codes."""
    empty = np.zeros(0), np.zeros(0, dtype=int)
    probe = column[:: max(1, len(column) // PROBE_ROWS)]
    present = probe[~np.isnan(probe)]
    if len(np.unique(present)) <= MIN_CODES or (present != np.floor(present)).any():
        return empty
    codes, positions = np.unique(column, return_inverse=True)
    is_present = ~np.isnan(codes)
    codes, positions = codes[is_present], np.where(np.isnan(column), -1, positions)
    # The probe may have missed fractions and rare codes.
    if len(codes) * MIN_ROWS_PER_CODE > (positions >= 0).sum() or (codes != np.floor(codes)).any():
        return empty
    return codes, positions


def _sums(positions: np.ndarray, count: int, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the outcome (codes, outcomes) and row counts (codes, 1), without missing codes."""
    is_present = positions >= 0
    rows = np.bincount(positions[is_present], minlength=count).astype("float64")
    sums = [
        np.bincount(positions[is_present], weights=column[is_present], minlength=count) for column in outcome.T
    ]
    return np.column_stack(sums), rows[:, None]


def _smooth(sums: np.ndarray, rows: np.ndarray, overall: np.ndarray) -> np.ndarray:
    """Means of codes (codes, outcomes), shrunk to the overall mean."""
    return np.asarray((sums + PRIOR_ROWS * overall) / (rows + PRIOR_ROWS))


def _cross_fit(positions: np.ndarray, count: int, outcome: np.ndarray, fold: np.ndarray) -> np.ndarray:
    estimates = np.empty_like(outcome)
    for number in range(FOLD_COUNT):
        in_fold = fold == number
        overall = outcome[~in_fold].mean(axis=0)
        # The overall mean stands last, where position -1 of missing codes finds it.
        means = np.vstack([_smooth(*_sums(positions[~in_fold], count, outcome[~in_fold]), overall), overall])
        estimates[in_fold] = means[positions[in_fold]]
    return estimates


def _band_means(positions: np.ndarray, count: int, outcome: np.ndarray) -> np.ndarray:
    """Means of bands of neighbouring codes with about equal rows (rows, outcomes)."""
    rows = np.bincount(positions[positions >= 0], minlength=count).cumsum()
    band = np.append(np.minimum((rows - 1) * BAND_COUNT // max(rows[-1], 1), BAND_COUNT - 1), BAND_COUNT)[
        positions
    ]
    sums, counts = _sums(band, BAND_COUNT + 1, outcome)
    return np.asarray(_smooth(sums, counts, outcome.mean(axis=0))[band])


def _explained_share(estimates: np.ndarray, outcome: np.ndarray) -> float:
    spread = ((outcome - outcome.mean(axis=0)) ** 2).sum()
    return 1 - float(((outcome - estimates) ** 2).sum() / spread) if spread > 0 else 0.0


def _means(column: int, codes: np.ndarray, positions: np.ndarray, outcome: np.ndarray) -> dict[str, Any]:
    overall = outcome.mean(axis=0)
    means = _smooth(*_sums(positions, len(codes), outcome), overall)
    return {
        "place": column,
        "codes": codes,
        "means": means.astype("float32"),
        "other": overall.astype("float32"),
    }


def _look_up(column: np.ndarray, column_means: dict[str, Any]) -> np.ndarray:
    positions = np.searchsorted(column_means["codes"], column).clip(0, len(column_means["codes"]) - 1)
    # False for nan too, which equals nothing.
    is_known = column_means["codes"][positions] == column
    return np.asarray(np.where(is_known[:, None], column_means["means"][positions], column_means["other"]))


def _append_columns(X: Any, columns: list[np.ndarray]) -> Any:
    return np.concatenate([X, *columns], axis=1, dtype="float32") if columns else X
