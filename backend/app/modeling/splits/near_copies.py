"""Rows that nearly equal another row in their numbers: an entity that was recorded twice, without its name."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs

MAX_ROWS = 20_000
"""Rows that are compared: the neighbours of 20,000 rows in six columns take half a second."""
MIN_ROWS = 200
"""Rows from which distances tell copies from neighbours."""
MIN_COLUMNS, MAX_COLUMNS = 3, 6
"""Columns of numbers that are compared, those with the most values: in fewer, rows are near by chance."""
MIN_DISTINCT = 20
"""Distinct values of such a column: fewer are categories."""
NEIGHBOURS = 10
"""Neighbours whose farthest tells how dense rows lie."""
MAX_RATIO = 0.1
"""Distance of a copy, relative to that of the farthest neighbour."""
MIN_COPIED_SHARE = 0.05
"""Share of rows with a copy, from which they can change a score."""
MIN_CHANCE_RATIO = 5
"""Copies as a multiple of those that chance makes in as many dimensions as the rows have."""
MAX_GROUP, MAX_MEAN_GROUP = 10, 3.0
"""Rows of one group of copies, at most, and on average where not most pairs of them are near each other."""
MIN_LINKED_SHARE = 0.75
"""Pairs of rows of a group that are near each other, from which it is one of copies. Rows of an entity over
time make chains, of which only neighbours are near; of made groups of 3 to 8 copies 80 to 96 % of them are."""


def find_near_copies(rows: pd.DataFrame, problem: Problem) -> np.ndarray | None:
    """Number the groups of rows (rows,) that nearly equal each other, -1 for other rows; None without any.

    A copy lies ten times nearer than the tenth neighbour. Rows on few dimensions have such ones by chance:
    copies have to be more than chance explains.
    """
    if problem.time_column or problem.horizon or not MIN_ROWS <= len(rows) <= MAX_ROWS:
        return None
    numbers = select_inputs(rows, problem).select_dtypes("number")
    distinct = numbers.nunique()
    names = list(
        distinct[distinct >= MIN_DISTINCT].sort_values(ascending=False, kind="stable").index[:MAX_COLUMNS]
    )
    complete = np.flatnonzero(numbers[names].notna().all(axis=1)) if names else np.empty(0, dtype=int)
    if len(names) < MIN_COLUMNS or len(complete) < MIN_ROWS:
        return None
    # Ranks give all columns one unit, and an outlier cannot make all other rows look alike.
    ranks = numbers[names].iloc[complete].rank().to_numpy() / len(complete)
    # One more than the neighbours: a row is the nearest to itself.
    distances, neighbours = cKDTree(ranks).query(ranks, k=NEIGHBOURS + 1)
    radius = MAX_RATIO * distances[:, -1:]
    # Of equal rows, a row need not be listed first itself, so it is left out by its position.
    is_copy = (distances < radius) & (neighbours != np.arange(len(ranks))[:, None])
    share = float(is_copy.any(axis=1).mean())
    if share < max(MIN_COPIED_SHARE, MIN_CHANCE_RATIO * _expect_share(distances)):
        return None
    origin, place = np.nonzero(is_copy)
    links = csr_array((np.ones(len(origin)), (origin, neighbours[origin, place])), shape=(len(ranks),) * 2)
    groups = connected_components(links, directed=False)[1]
    sizes = np.bincount(groups)
    copied = sizes[sizes > 1]
    # Chains of links are joined, so a dense region becomes one large group instead of pairs.
    linked_share = (links + links.T).count_nonzero() / (copied * (copied - 1)).sum()
    is_chained = copied.mean() > MAX_MEAN_GROUP and linked_share < MIN_LINKED_SHARE
    if copied.max() > MAX_GROUP or is_chained:
        return None
    codes = np.full(len(rows), -1)
    codes[complete] = np.where(sizes[groups] > 1, groups, -1)
    return codes


def _expect_share(distances: np.ndarray) -> float:
    """Expect the share of rows with a copy by chance, from the dimensions in which the rows lie.

    The number of neighbours grows with the distance to the power of the dimensions; half of them lie within
    `distances[:, NEIGHBOURS // 2]` (rows, neighbours).
    """
    ratio = float(np.median(distances[:, NEIGHBOURS // 2] / np.maximum(distances[:, -1], 1e-12)))
    dimensions = np.log(0.5) / np.log(np.clip(ratio, 1e-3, 1 - 1e-3))
    return float(1 - (1 - MAX_RATIO**dimensions) ** (NEIGHBOURS - 1))
