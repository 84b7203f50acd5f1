"""Candidates of a structure among the rows: entities with several rows each, and an order in time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.described_entities import find_measured_pair, find_name_pairs
from app.modeling.problem_definition.time_and_group_columns import (
    BIRTH_NAME,
    GROUP_NAME,
    ID_NAME,
    MAX_ROWS,
    can_group,
    find_static_columns,
    is_sorted,
    rows_per_value,
)

MIN_ENTITIES = 30
"""Distinct entities: fewer are categories, which come again, and too few to tell how new ones differ."""
MAX_ENTITY_SHARE = 0.67
"""Entities as a share of the rows: with more, hardly any has two rows."""
MAX_RUN_RATIO = 1.1
"""Runs of equal neighbours for each entity of a file that lists its entities one after the other."""
MIN_PERIODS = 5
"""Distinct names of which a period tells entities apart."""
MIN_YEARS = 3
"""Distinct years of a column that orders rows: fewer leave no later ones to judge on."""
MIN_PERIODS_OF_PAIR, MAX_PERIODS_OF_PAIR = 2, 300
"""Distinct values of a column that tells entities of one name apart: years, seasons, numbers."""
MAX_PAIRED_NAMES = 4
"""Columns that are tried as the name in an entity of two columns."""
MIN_STATIC_COLUMNS = 2
"""Columns that never change within an entity: a single one may be its class."""
MAX_ENTITIES = 2
"""Candidates that are measured: each costs a cross-validation."""

_PERIOD_NAME = re.compile(
    r"(^|[_\W])(year|yr|season|edition|round|wave|cohort|quarter|month|period|date|time|timestamp)s?($|[_\W\d])"
    r"|[a-z](Year|Date|Time|Season)\b",
    re.IGNORECASE,
)
_ELAPSED_NAME = re.compile(
    r"(^|[_\W])(day|week|month|hour|minute|second|period|round|wave|time|step|tick|trial|session|run|cycle|shot"
    r"|iteration|sequence)s?($|[_\W\d])",
    re.IGNORECASE,
)
"""Names of columns that count time from a beginning, or what is done in turn: `pan_day`, `run_no`."""
_FIRST_YEAR, _LAST_YEAR = 1500, 2200
"""Range of whole numbers that are calendar years."""


@dataclass(frozen=True)
class RowStructure:
    """Columns that tell entities apart, or one column that orders rows, with the evidence as a clause.

    `is_strong`: the file itself is laid out by it.
    """

    columns: tuple[str, ...]
    evidence: str
    is_strong: bool = False


def find_entities(frame: pd.DataFrame, target: str) -> list[RowStructure]:
    """Find columns, or pairs of them, whose values are entities with several rows each; best evidence first."""
    sample = frame.head(MAX_ROWS)
    names = [str(name) for name in frame.columns if name != target and can_group(frame[name])]
    singles = [
        structure
        for name in names
        if MIN_ENTITIES <= frame[name].nunique() <= MAX_ENTITY_SHARE * len(frame)
        and not _is_period(frame[name])
        and (structure := _judge_entity(frame, sample, name, target))
    ]
    pairs = list(_find_pairs(sample, names, target)) or list(_find_plain_pairs(sample, names, target))
    pairs = pairs or list(_describe_name_pairs(sample, names, target))
    # A name that a period parts is no entity alone: its rows of two periods may differ as much as two names.
    paired = {pair.columns[0] for pair in pairs}
    others = [single for single in singles if single.columns[0] not in paired]
    others.sort(key=lambda single: not GROUP_NAME.search(single.columns[0]))  # people and places before items
    # Descriptions of a named entity would tell the same rows apart.
    described = [] if pairs or others else _describe_measured(frame, sample, target)
    return [*pairs, *others, *described][:MAX_ENTITIES]


def _describe_name_pairs(sample: pd.DataFrame, names: list[str], target: str) -> Iterator[RowStructure]:
    """Yield entities of two names, as first and last ones, within which a third column never changes."""
    plain = [name for name in names if not _is_period(sample[name])]
    for first, second, described in find_name_pairs(sample, plain, target):
        count = sample.groupby([first, second], sort=False).ngroups
        if MIN_ENTITIES <= count <= MAX_ENTITY_SHARE * len(sample):
            rows_each = f"{count:,} pairs with {len(sample) / count:.1f} rows each"
            evidence = f"{rows_each}, within which {described!r} never changes"
            yield RowStructure((first, second), evidence)
            return


def _describe_measured(frame: pd.DataFrame, sample: pd.DataFrame, target: str) -> list[RowStructure]:
    """Describe entities that only measurements tell apart, which are the same in all of their rows."""
    plain = sample[
        [name for name in sample.columns if not _is_period(sample[name]) and not _is_year(sample[name])]
    ]
    if (pair := find_measured_pair(plain, target, MIN_ENTITIES)) is None:
        return []
    name, other = pair
    count = frame[name].nunique()
    if count > MAX_ENTITY_SHARE * len(frame):
        return []
    rows_each = f"{count:,} values with {rows_per_value(frame[name]):.1f} rows each"
    evidence = f"{rows_each}, within which {other!r} never changes"
    return [
        RowStructure((name,), evidence, _count_runs(sample[name]) <= MAX_RUN_RATIO * sample[name].nunique())
    ]


def _judge_entity(frame: pd.DataFrame, sample: pd.DataFrame, name: str, target: str) -> RowStructure | None:
    column = frame[name]
    count = f"{column.nunique():,} values with {rows_per_value(column):.1f} rows each"
    if _count_runs(sample[name]) <= MAX_RUN_RATIO * sample[name].nunique():
        if period := _find_panel_period(sample, name, target):
            return RowStructure((name,), f"{count}, each with one row a `{period}`", True)
        # A file may be sorted by a measure: rows of each of its values stand together without being one entity.
        if not (pd.api.types.is_numeric_dtype(column.dtype) and sample[name].is_monotonic_increasing):
            return RowStructure((name,), f"{count}, which stand next to each other", True)
    if GROUP_NAME.search(name) or ID_NAME.search(name):
        return RowStructure((name,), f"{count}, and it is named like an entity")
    static_columns = find_static_columns(frame, name, target)
    if len(static_columns) >= MIN_STATIC_COLUMNS:
        examples = ", ".join(repr(column) for column in static_columns[:3])
        return RowStructure((name,), f"{count}, within which {examples} never change")
    return None


def _find_panel_period(sample: pd.DataFrame, name: str, target: str) -> str | None:
    """Return the period of which each value of `name` has one row at most, as the entities of a panel have."""
    periods = (str(other) for other in sample.columns if other not in (name, target))
    return next(
        (
            period
            for period in periods
            if _is_period(sample[period])
            and MIN_PERIODS_OF_PAIR <= sample[period].nunique() <= MAX_PERIODS_OF_PAIR
            and not sample.duplicated([name, period]).any()
        ),
        None,
    )


def _find_pairs(sample: pd.DataFrame, names: list[str], target: str) -> Iterator[RowStructure]:
    """Yield entities of a name and a period: rows of each stand together, those of the name alone do not."""
    # A year that is to be predicted tells no entities apart: folds without its values could not be learned.
    periods = [
        str(name)
        for name in sample.columns
        if name != target
        and _is_period(sample[name])
        and MIN_PERIODS_OF_PAIR <= sample[name].nunique() <= MAX_PERIODS_OF_PAIR
    ]
    for name in _list_repeated(sample, [name for name in names if name not in periods]):
        for period in periods:
            codes = pd.Series(sample.groupby([name, period], sort=False, observed=True).ngroup())
            count = codes.nunique()
            if not MIN_ENTITIES <= count <= MAX_ENTITY_SHARE * len(sample):
                continue
            if count > MAX_RUN_RATIO * sample[name].nunique() and _count_runs(codes) <= MAX_RUN_RATIO * count:
                rows_each = f"{len(sample) / count:.1f} rows each"
                yield RowStructure((name, period), f"{rows_each}, which stand next to each other", True)
                # A second period of the same name would tell the same entities apart.
                break


def _list_repeated(sample: pd.DataFrame, names: list[str]) -> list[str]:
    """List the first names whose values come again in several places of the file."""
    return [
        name
        for name in names
        if sample[name].nunique() >= MIN_PERIODS
        and _count_runs(sample[name]) > MAX_RUN_RATIO * sample[name].nunique()
    ][:MAX_PAIRED_NAMES]


def _find_plain_pairs(sample: pd.DataFrame, names: list[str], target: str) -> Iterator[RowStructure]:
    """Yield entities of a name and a number that no name calls a period, whose rows a third column counts.

    A file that is sorted by two categories has rows of each pair together, too. That a count goes on within
    each pair, and begins again with the next one, is what only entities have.
    """
    clocks = [str(name) for name in sample.select_dtypes(["number", "datetime"]).columns if name != target]
    numbers = [name for name in names if name in clocks]
    for name in _list_repeated(sample, names):
        for number in numbers:
            if number == name or not MIN_PERIODS_OF_PAIR <= sample[number].nunique() <= MAX_PERIODS_OF_PAIR:
                continue
            codes = pd.Series(sample.groupby([name, number], sort=False, observed=True).ngroup())
            count = codes.nunique()
            is_parted = count > MAX_RUN_RATIO * sample[name].nunique() and _count_runs(codes) == count
            if not is_parted or not MIN_ENTITIES <= count <= MAX_ENTITY_SHARE * len(sample):
                continue
            counters = (clock for clock in clocks if clock not in (name, number))
            if clock := next((clock for clock in counters if _counts_rows(sample[clock], codes)), None):
                evidence = f"{len(sample) / count:.1f} rows each, which stand in the order of {clock!r}"
                yield RowStructure((name, number), evidence, True)
                break


MIN_STEP_SHARE = 0.8
"""Share of the rows of entities that follow by one step in a column that counts them: months wrap round."""


def _counts_rows(clock: pd.Series, codes: pd.Series) -> bool:
    """Test if values rise by one step within entities, whose rows stand together, and not between two."""
    values = clock.to_numpy().astype("datetime64[s]").astype("int64") if clock.dtype.kind == "M" else clock
    steps = np.round(np.diff(np.asarray(values, dtype="float64")), 9)
    is_within = np.diff(codes.to_numpy()) == 0
    distinct, counts = np.unique(steps[is_within], return_counts=True)
    usual = float(distinct[counts.argmax()])
    # A number of all rows rises between entities as well, and so may a value by which the file is sorted.
    is_usual = steps == usual
    is_counter = usual > 0 and is_usual[is_within].mean() >= MIN_STEP_SHARE
    return bool(is_counter and is_usual[~is_within].mean() < 1 - MIN_STEP_SHARE)


def _count_runs(column: pd.Series) -> int:
    codes = pd.factorize(column)[0]
    return int((np.diff(codes) != 0).sum()) + 1


def find_order(frame: pd.DataFrame, target: str) -> RowStructure | None:
    """Find the date or year that orders the rows: one by which the file is sorted, else a single one."""
    candidates = [
        str(name)
        for name in frame.columns
        # A date of birth orders people, not when rows were recorded.
        if name != target and not BIRTH_NAME.search(str(name)) and _is_time(frame[name])
    ]
    for name in candidates:
        if is_sorted(frame[name]) or _is_sorted_year(frame[name]):
            return RowStructure((name,), "the file is sorted by it", True)
    if elapsed := next((str(name) for name in frame.columns if _counts_time(frame[name], target)), None):
        return RowStructure((elapsed,), "the file is sorted by it", True)
    periods = [name for name in candidates if _PERIOD_NAME.search(name)]
    dates = [name for name in candidates if pd.api.types.is_datetime64_any_dtype(frame[name].dtype)]
    orders = periods if len(periods) == 1 else dates
    # Of several dates (ordered, shipped, paid) none is known to be the one that later rows have later.
    return RowStructure((orders[0],), "it dates the rows") if len(orders) == 1 else None


def _counts_time(column: pd.Series, target: str) -> bool:
    """Return true for whole numbers that count time, by which the file is sorted."""
    if column.name == target or not _ELAPSED_NAME.search(str(column.name)):
        return False
    return pd.api.types.is_integer_dtype(column.dtype) and is_sorted(column)


def _is_time(column: pd.Series) -> bool:
    return pd.api.types.is_datetime64_any_dtype(column.dtype) or (_is_year(column) and _is_period(column))


def _is_period(column: pd.Series) -> bool:
    return bool(_PERIOD_NAME.search(str(column.name))) and not pd.api.types.is_float_dtype(column.dtype)


def _is_year(column: pd.Series) -> bool:
    """Return true for whole numbers that are calendar years, nearly all filled in."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return False
    values = column.dropna()
    if len(values) < 0.98 * len(column) or values.nunique() < MIN_YEARS:
        return False
    return bool(values.between(_FIRST_YEAR, _LAST_YEAR).all() and (values == values.round()).all())


def _is_sorted_year(column: pd.Series) -> bool:
    if not _is_year(column):
        return False
    steps = np.diff(column.dropna().to_numpy())
    moving = steps[steps != 0]
    rising = float((moving > 0).mean()) if len(moving) else 0.0
    # Few changes too: a panel with many years of each entity rises nearly always as well.
    return max(rising, 1 - rising) >= 0.98 and len(moving) <= 2 * column.nunique()
