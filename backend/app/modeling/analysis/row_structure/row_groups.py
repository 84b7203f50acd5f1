"""Groups of rows that are alike, and whether there are any.

Rows are grouped by k-means on columns of equal weight. Groups are always found; whether they are there is
another question, which two measures answer. *Separation*: the silhouette of the groups is set against those of
tables of the same columns without groups, in which numbers keep their distributions and their rank
correlations (a Gaussian copula) and categories are drawn by themselves. *Agreement*: two samples of the rows
are grouped by themselves, and the adjusted Rand index tells how far they agree on all rows (1 is the same, 0
is chance). Of several numbers of groups with both the one is taken whose silhouette is farthest above those of
tables without groups, as the gap statistic does (Tibshirani, Walther and Hastie, 2001,
https://doi.org/10.1111/1467-9868.00293).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from app.errors import InvalidInput
from app.modeling.analysis.row_structure.compared_columns import (
    ComparedColumn,
    choose_columns,
    make_dimensions,
    require_columns,
)
from app.modeling.table.sampling import sample_rows

MIN_ROWS = 30
"""Rows below which groups have too few to be described."""
MIN_GROUPS, MAX_GROUPS = 2, 8
"""Numbers of groups that are tried where none is asked for: nobody tells more than eight apart."""
MIN_AGREEMENT = 0.75
"""Agreement of samples below which a row's group is a matter of the sample."""
MAX_TOLD_COLUMNS = 6
"""Columns by which groups are described: those in which they differ most."""
_MAX_LEARNED_ROWS = 20_000
"""Rows that groups are learned from; all rows have one."""
_MAX_MEASURED_ROWS = 1_000
"""Rows whose distances to all others of them are measured."""
_REFERENCES = 19
"""Tables without groups. One of twenty such tables lies above all others by chance."""
_PAIRS = 6
"""Pairs of samples whose agreement is averaged."""
_SAMPLED_SHARE = 0.7


@dataclass(frozen=True)
class GroupTrait:
    """A difference of a group from all other rows in one column.

    `typical`: its mean, or its most frequent level; `share`: of that level in the group. `difference`: from
    the other rows, in standard deviations of the column, or as a difference of shares.
    """

    column: str
    typical: float | str
    share: float | None
    difference: float


@dataclass(frozen=True)
class RowGroup:
    name: str
    rows: int
    traits: Sequence[GroupTrait]


@dataclass(frozen=True)
class RowGroups:
    """Groups by falling size, and the group of each row (rows,) by its place among them.

    `is_separated`: they lie farther apart than those of tables without groups. `agreement` of two samples of
    the rows. `columns`: those that were compared.
    """

    groups: Sequence[RowGroup]
    labels: np.ndarray
    is_separated: bool
    agreement: float
    columns: Sequence[str]

    @property
    def is_stable(self) -> bool:
        return self.agreement >= MIN_AGREEMENT


@dataclass(frozen=True)
class _Grouping:
    """Groups of one number.

    `gap`: of the silhouette above the mean of tables without groups; `lead`: the gap in their standard
    deviations; `reference_leads`: those of each of these tables over the others.
    """

    model: KMeans
    gap: float
    lead: float
    reference_leads: np.ndarray
    agreement: float


def find_row_groups(
    frame: pd.DataFrame,
    count: int | None = None,
    seed: int = 1,
    is_late: Callable[[], bool] = lambda: False,
) -> RowGroups:
    """Group the rows of a table by all columns that compare them.

    `count`: of groups, None to choose it.
    `is_late` ends the trials of further counts. Raises InvalidInput `too_few_rows` or `too_few_columns`.
    """
    min_rows = max(MIN_ROWS, 5 * (count or 0))
    if len(frame) < min_rows:
        raise InvalidInput(
            "too_few_rows", f"Groups of rows need {min_rows} rows at least; the table has {len(frame)}."
        )
    compared = choose_columns(frame)
    require_columns(compared, 2, "Groups of rows")
    points = _make_points(compared)
    random = np.random.default_rng(seed)
    learned = sample_rows(len(points), _MAX_LEARNED_ROWS, seed)
    references = [_make_reference(compared, learned, random) for _ in range(_REFERENCES)]
    counts = [count] if count else range(MIN_GROUPS, min(MAX_GROUPS, len(points) // 10) + 1)
    groupings: list[_Grouping] = []
    for number in counts:
        if groupings and is_late():
            break
        groupings.append(_group(points[learned], references, number, seed))
    # The highest lead of all numbers tried: each number is a chance of its own to be beyond the references.
    chance_lead = float(np.max([grouping.reference_leads for grouping in groupings]))
    separated = [grouping for grouping in groupings if grouping.lead > chance_lead]
    stable = [grouping for grouping in separated if grouping.agreement >= MIN_AGREEMENT]
    best = max(stable or separated or groupings, key=lambda grouping: grouping.gap)
    labels = _order_by_size(best.model.predict(points))
    return RowGroups(
        [_describe_group(compared, labels, place) for place in range(labels.max() + 1)],
        labels,
        best in separated,
        best.agreement,
        [column.name for column in compared],
    )


def _make_points(compared: Sequence[ComparedColumn]) -> np.ndarray:
    """Return the rows as points (rows, dimensions), in which each column has a variance of about 1."""
    return np.column_stack([make_dimensions(column) for column in compared])


def _make_reference(
    compared: Sequence[ComparedColumn], learned: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Make the points of a table without groups, whose columns are distributed as these."""
    numbers = [column for column in compared if not column.is_category]
    parts = [_shuffle(column, learned, random) for column in compared if column.is_category]
    if numbers:
        values = np.column_stack([make_dimensions(column)[:, 0] for column in numbers])[learned]
        normal = stats.norm.ppf((stats.rankdata(values, axis=0) - 0.5) / len(values))
        correlation = np.atleast_2d(np.corrcoef(normal, rowvar=False))
        normal_rows = random.multivariate_normal(
            np.zeros(len(numbers)), np.nan_to_num(correlation), len(values), "ignore"
        )
        places = normal_rows.argsort(axis=0).argsort(axis=0)
        parts.append(np.take_along_axis(np.sort(values, axis=0), places, axis=0))
    return np.column_stack(parts)


def _shuffle(column: ComparedColumn, learned: np.ndarray, random: np.random.Generator) -> np.ndarray:
    shuffled: np.ndarray = random.permutation(make_dimensions(column)[learned])
    return shuffled


def _group(points: np.ndarray, references: Sequence[np.ndarray], count: int, seed: int) -> _Grouping:
    model = _fit(points, count, seed)
    silhouettes = np.array(
        [_separation(reference, _fit(reference, count, seed).labels_, seed) for reference in references]
    )
    gap = _separation(points, model.labels_, seed) - float(silhouettes.mean())
    lead = gap / max(float(silhouettes.std(ddof=1)), 1e-9)
    others = [np.delete(silhouettes, place) for place in range(len(silhouettes))]
    reference_leads = np.array(
        [
            (own - rest.mean()) / max(rest.std(ddof=1), 1e-9)
            for own, rest in zip(silhouettes, others, strict=True)
        ]
    )
    return _Grouping(model, gap, lead, reference_leads, _agreement(points, count, seed))


def _fit(points: np.ndarray, count: int, seed: int) -> KMeans:
    return KMeans(count, n_init=3, random_state=seed).fit(points)


def _separation(points: np.ndarray, labels: np.ndarray, seed: int) -> float:
    measured = sample_rows(len(points), _MAX_MEASURED_ROWS, seed)
    if len(np.unique(labels[measured])) < 2:
        return -1.0
    return float(silhouette_score(points[measured], labels[measured]))


def _agreement(points: np.ndarray, count: int, seed: int) -> float:
    """Return the mean adjusted Rand index of groups that two samples of the rows make of all rows."""
    random = np.random.default_rng(seed)
    size = int(_SAMPLED_SHARE * len(points))

    def regroup() -> np.ndarray:
        labels: np.ndarray = _fit(points[random.permutation(len(points))[:size]], count, seed).predict(points)
        return labels

    return float(np.mean([adjusted_rand_score(regroup(), regroup()) for _ in range(_PAIRS)]))


def _order_by_size(labels: np.ndarray) -> np.ndarray:
    """Number groups by their size, the largest first; empty ones have no number."""
    present, sizes = np.unique(labels, return_counts=True)
    order = present[np.argsort(-sizes, kind="stable")]
    places = np.empty(labels.max() + 1, dtype=int)
    places[order] = np.arange(len(order))
    numbered: np.ndarray = places[labels]
    return numbered


def _describe_group(compared: Sequence[ComparedColumn], labels: np.ndarray, place: int) -> RowGroup:
    inside = labels == place
    traits = [trait for column in compared if (trait := _find_trait(column, inside)) is not None]
    traits.sort(key=lambda trait: -abs(trait.difference))
    return RowGroup(name_group(place), int(inside.sum()), traits)


def name_group(place: int) -> str:
    """Return the name of a group by its place: A to T."""
    return chr(ord("A") + place)


def _find_trait(column: ComparedColumn, inside: np.ndarray) -> GroupTrait | None:
    present = ~np.isnan(column.values)
    own, others = column.values[inside & present], column.values[~inside & present]
    if not len(own) or not len(others):
        return None
    if column.is_category:
        levels = len(column.levels)
        shares = np.bincount(own.astype(int), minlength=levels) / len(own)
        elsewhere = np.bincount(others.astype(int), minlength=levels) / len(others)
        frequent = int(np.argmax(shares))
        return GroupTrait(
            column.name,
            column.levels[frequent],
            float(shares[frequent]),
            float(shares[frequent] - elsewhere[frequent]),
        )
    scaled = column.scaled()
    deviation = float(np.nanstd(scaled)) or 1.0
    difference = (scaled[inside & present].mean() - scaled[~inside & present].mean()) / deviation
    return GroupTrait(column.name, float(own.mean()), None, float(difference))
