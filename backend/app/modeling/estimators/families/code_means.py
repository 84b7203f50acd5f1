"""Columns of codes for trees: what the target is on average where a code is the same.

A tree splits codes by their order, which says nothing of users, films or places: that takes too many splits.
"""

from typing import Any

import numpy as np

MIN_CODES = 20
"""Of fewer different ones, trees tell each apart."""
MIN_ROWS = 3.0
"""Of each code, on average: else there is nothing to average."""
MAX_COLUMNS = 6
MAX_CLASSES = 10
PARTS = 5
PRIOR_ROWS = 10.0
"""Rows' worth of the overall mean in each mean: few rows of a code say little."""
BANDS = 32
WORTH = 0.01
"""Of the target's variance, told beyond what the codes' order tells, from which on a column is widened."""
USUALLY_KNOWN = 0.5
GLANCE = 1000

CodeMeans = list[dict[str, Any]]
"""Each widened column: its place, its codes in order, the mean of each, and of any other code."""


def learn(X: Any, y: np.ndarray, classes: int, seed: int) -> tuple[CodeMeans, Any]:
    """What to add, and these rows with it: each has the means of rows other than its own fifth."""
    if not isinstance(X, np.ndarray) or classes > MAX_CLASSES or len(y) < PARTS * MIN_CODES:
        return [], X
    outcome = _outcome(y, classes)
    part = np.random.default_rng(seed).permutation(np.arange(len(y)) % PARTS)
    found = []
    for place in range(X.shape[1]):
        codes, at = _codes(X[:, place])
        if not len(codes):
            continue
        told = _out_of_part(at, len(codes), outcome, part)
        gain = _explained(told, outcome) - _explained(_by_order(at, len(codes), outcome), outcome)
        if gain >= WORTH:
            found.append((gain, place, codes, at, told))
    found = sorted(found, key=lambda one: (-one[0], one[1]))[:MAX_COLUMNS]
    means = [_means(place, codes, at, outcome) for _, place, codes, at, _ in found]
    return means, _joined(X, [told for *_, told in found])


def widen(X: Any, means: CodeMeans) -> Any:
    """Other rows with the means of their codes."""
    return _joined(X, [_looked_up(X[:, one["place"]], one) for one in means])


def are_known(X: Any, means: CodeMeans) -> bool:
    """Whether these rows have the codes that taught: others mean that new ones come, as new groups do."""
    shares = []
    for one in means:
        column = X[:, one["place"]]
        column = column[~np.isnan(column)]
        shares.append(float(np.isin(column, one["codes"]).mean()) if len(column) else 0.0)
    return min(shares, default=1.0) >= USUALLY_KNOWN


def narrow(values: np.ndarray, means: CodeMeans, width: int) -> np.ndarray:
    """(..., features and one more) of the widened rows, those of an added column counted to its source."""
    made = values[..., [*range(width), values.shape[-1] - 1]].copy()
    at = width
    for one in means:
        many = one["means"].shape[1]
        made[..., one["place"]] += values[..., at : at + many].sum(axis=-1)
        at += many
    return made


def _outcome(y: np.ndarray, classes: int) -> np.ndarray:
    """(rows, outcomes): the number itself, or whether it is the class; of two classes the second says all."""
    if not classes:
        return np.asarray(y, dtype="float64")[:, None]
    asked = [1] if classes == 2 else range(classes)
    return np.column_stack([(y == place).astype("float64") for place in asked])


def _codes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values and each row's place among them, -1 where missing; none where these are no codes."""
    nothing = np.zeros(0), np.zeros(0, dtype=int)
    glance = column[:: max(1, len(column) // GLANCE)]
    known = glance[~np.isnan(glance)]
    if len(np.unique(known)) <= MIN_CODES or (known != np.floor(known)).any():
        return nothing
    codes, at = np.unique(column, return_inverse=True)
    present = ~np.isnan(codes)
    codes, at = codes[present], np.where(np.isnan(column), -1, at)
    if len(codes) * MIN_ROWS > (at >= 0).sum() or (codes != np.floor(codes)).any():
        return nothing
    return codes, at


def _sums(at: np.ndarray, count: int, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the outcome (codes, outcomes) and rows (codes, 1); missing ones are left out."""
    known = at >= 0
    rows = np.bincount(at[known], minlength=count).astype("float64")
    sums = [np.bincount(at[known], weights=column[known], minlength=count) for column in outcome.T]
    return np.column_stack(sums), rows[:, None]


def _shrunk(sums: np.ndarray, rows: np.ndarray, overall: np.ndarray) -> np.ndarray:
    return np.asarray((sums + PRIOR_ROWS * overall) / (rows + PRIOR_ROWS))


def _out_of_part(at: np.ndarray, count: int, outcome: np.ndarray, part: np.ndarray) -> np.ndarray:
    told = np.empty_like(outcome)
    for number in range(PARTS):
        asked = part == number
        overall = outcome[~asked].mean(axis=0)
        means = np.vstack([_shrunk(*_sums(at[~asked], count, outcome[~asked]), overall), overall])
        told[asked] = means[at[asked]]
    return told


def _by_order(at: np.ndarray, count: int, outcome: np.ndarray) -> np.ndarray:
    """What bands of neighbouring codes tell, about as many rows in each."""
    rows = np.bincount(at[at >= 0], minlength=count).cumsum()
    band = np.append(np.minimum((rows - 1) * BANDS // max(rows[-1], 1), BANDS - 1), BANDS)[at]
    sums, counts = _sums(band, BANDS + 1, outcome)
    return np.asarray(_shrunk(sums, counts, outcome.mean(axis=0))[band])


def _explained(told: np.ndarray, outcome: np.ndarray) -> float:
    spread = ((outcome - outcome.mean(axis=0)) ** 2).sum()
    return 1 - float(((outcome - told) ** 2).sum() / spread) if spread > 0 else 0.0


def _means(place: int, codes: np.ndarray, at: np.ndarray, outcome: np.ndarray) -> dict[str, Any]:
    overall = outcome.mean(axis=0)
    means = _shrunk(*_sums(at, len(codes), outcome), overall)
    return {
        "place": place,
        "codes": codes,
        "means": means.astype("float32"),
        "other": overall.astype("float32"),
    }


def _looked_up(column: np.ndarray, one: dict[str, Any]) -> np.ndarray:
    at = np.searchsorted(one["codes"], column).clip(0, len(one["codes"]) - 1)
    known = one["codes"][at] == column
    return np.asarray(np.where(known[:, None], one["means"][at], one["other"]))


def _joined(X: Any, more: list[np.ndarray]) -> Any:
    return np.concatenate([X, *more], axis=1, dtype="float32") if more else X
