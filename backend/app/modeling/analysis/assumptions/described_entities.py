"""Entities without a name of their own, which columns that describe them tell apart."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from app.modeling.problem_definition.time_and_group_columns import find_static_columns, rows_per_value
from app.modeling.type_inference.distinct_values import is_text

MAX_COLUMNS = 12
"""Columns of which pairs are compared: 66 pairs of 20,000 rows take half a second."""
MIN_FILLED_SHARE = 0.9
"""Share of filled-in cells of a column that describes entities."""
MIN_ROWS_EACH = 2.0
"""Rows of each entity on average."""
MAX_JOINT_RATIO = 1.05
"""Pairs of values as a multiple of the values of one column, which then nearly determine the other one's."""
MAX_CORRELATION = 0.99
"""Rank correlation from which a column is the other one in another unit, or rounded."""


def find_name_pairs(sample: pd.DataFrame, names: Sequence[str], target: str) -> Iterator[tuple[str, str, str]]:
    """Yield two columns of texts and one that never changes within a pair of their values, but within each.

    First and last names are such columns, and a date of birth is such a third one.
    """
    texts = [name for name in names if is_text(sample[name])][:MAX_COLUMNS]
    static_within = {name: {*find_static_columns(sample, name, target)} for name in texts}
    for first, second in combinations(texts, 2):
        codes = _number_pairs(sample, first, second)
        # Each pair tells more rows apart than its columns do, or one of these is the entity.
        if codes.max() + 1 <= MAX_JOINT_RATIO * max(sample[first].nunique(), sample[second].nunique()):
            continue
        if rows_per_value(pd.Series(codes)) < MIN_ROWS_EACH:
            continue
        static_columns = find_static_columns(sample.assign(**{_PAIR: codes}), _PAIR, target)
        attributes = (
            name
            for name in static_columns
            if name not in (first, second, *static_within[first], *static_within[second])
        )
        if described := next(attributes, None):
            yield first, second, described


def find_measured_pair(sample: pd.DataFrame, target: str, min_entities: int) -> tuple[str, str] | None:
    """Find two measurements that come together in all rows of an entity: altitude and latitude of a site.

    The first one has a value for each entity. Measurements in two units, or rounded, are none.
    """
    names = [
        str(name)
        for name in sample.select_dtypes("number").columns
        if name != target
        and not pd.api.types.is_bool_dtype(sample[name].dtype)
        and sample[name].notna().mean() >= MIN_FILLED_SHARE
        and sample[name].nunique() >= min_entities
        and rows_per_value(sample[name]) >= MIN_ROWS_EACH
    ]
    # Those with the most values first: of nested places the smallest ones are the entities.
    names.sort(key=lambda name: -sample[name].nunique())
    for first, second in combinations(names[:MAX_COLUMNS], 2):
        joint = int(_number_pairs(sample, first, second).max()) + 1
        if joint > MAX_JOINT_RATIO * sample[first].nunique():
            continue
        correlation = sample[first].corr(sample[second], "spearman")
        if np.isfinite(correlation) and abs(correlation) < MAX_CORRELATION:
            return first, second
    return None


_PAIR = "\N{SYMBOL FOR GROUP SEPARATOR}pair"
"""Name of the column of pairs, which no table has."""


def _number_pairs(sample: pd.DataFrame, first: str, second: str) -> np.ndarray:
    numbers: np.ndarray = sample.groupby([first, second], sort=False, dropna=False).ngroup().to_numpy()
    return numbers
