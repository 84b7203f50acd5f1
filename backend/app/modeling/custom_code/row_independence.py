"""Check that agent-written code computes each row from that row and the fitted state only."""

from collections.abc import Callable, Sequence

import numpy as np

from app.errors import InvalidInput

MAX_CHECKED_ROWS = 256
"""Rows that are computed again in each use: bounds the cost of the check."""

ColumnOutputs = Sequence[tuple[str, np.ndarray]]
"""(name, values (rows,)) of each column; values are floats, or support ==."""


def check_row_independence(
    name: str, rows: int, outputs: ColumnOutputs, compute: Callable[[np.ndarray], ColumnOutputs]
) -> None:
    """Raise InvalidInput `code_peeks` if a shuffled subset of the rows has other outputs by itself.

    `compute(positions)` returns the outputs of these rows. The subset is random, so that code cannot detect the
    check.
    """
    if rows < 2:
        return
    positions = np.random.default_rng().permutation(rows)[: max(1, min(MAX_CHECKED_ROWS, rows // 2))]
    for (column, expected), (_, recomputed) in zip(outputs, compute(positions), strict=True):
        differs = ~_are_equal(expected[positions], recomputed)
        if differs.any():
            raise InvalidInput(
                "code_peeks",
                f"{name!r} computes another value for a row if other rows are missing or in another order "
                f"({column}, {int(differs.sum())} of {len(positions)} rows): it may use the row itself and "
                "the result of `fit`. Learn means, ranks, counts and the like in `fit`.",
                name=name,
                column=column,
            )


def _are_equal(expected: np.ndarray, recomputed: np.ndarray) -> np.ndarray:
    if expected.dtype.kind == "f":
        # Matrix products of fewer rows differ in their last digits, which is no peeking.
        scale = float(np.nanmax(np.abs(expected), initial=0.0))
        close: np.ndarray = np.isclose(
            expected, recomputed, rtol=1e-5, atol=1e-9 * max(scale, 1.0), equal_nan=True
        )
        return close
    return np.asarray(expected == recomputed)
