"""Whether code says of a row what it says of that row without the others: what it may know is in its state."""

from collections.abc import Callable, Sequence

import numpy as np

from app.errors import InvalidInput

MAX_CHECKED_ROWS = 256
"""Rows that are asked about once more, in each use."""

ColumnOutputs = Sequence[tuple[str, np.ndarray]]
"""By column: numbers (rows,), or anything that can be compared."""


def check_row_independence(
    name: str, rows: int, said: ColumnOutputs, ask: Callable[[np.ndarray], ColumnOutputs]
) -> None:
    """Raises InvalidInput `code_peeks` where some rows, alone and in another order, are told something else.

    Which rows is drawn anew each time: whoever looks at others cannot know when nobody looks at them.
    """
    if rows < 2:
        return
    some = np.random.default_rng().permutation(rows)[: max(1, min(MAX_CHECKED_ROWS, rows // 2))]
    for (column, whole), (_, alone) in zip(said, ask(some), strict=True):
        differ = ~_same(whole[some], alone)
        if differ.any():
            raise InvalidInput(
                "code_peeks",
                f"{name!r} says something else of a row when others are missing or stand in another order "
                f"({column}, {int(differ.sum())} of {len(some)} rows): it may use the row itself and what "
                "`fit` returned. Learn means, ranks, counts and the like in `fit`.",
                name=name,
                column=column,
            )


def _same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    if one.dtype.kind == "f":
        scale = float(np.nanmax(np.abs(one), initial=0.0))
        close: np.ndarray = np.isclose(one, other, rtol=1e-5, atol=1e-9 * max(scale, 1.0), equal_nan=True)
        return close
    return np.asarray(one == other)
