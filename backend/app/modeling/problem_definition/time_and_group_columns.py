"""Detection of the time column and the group column of a table, from the goal, the names and the values."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.problem.goal_hints import mentions_future, mentions_new_entities
from app.modeling.table.sampling import sample_rows

GROUP_NAME = re.compile(
    r"(^|_)(patient|subject|customer|user|client|account|household|family|store|shop|device|machine|person"
    r"|student|player|driver|session|group|site|school|hospital"
    r"|artist|author|writer|composer|singer|actor|actress|athlete|swimmer|runner|rider|jockey|skater|golfer|pupil"
    r"|child|mother|father|parent|donor|member|employee|worker|guest|tenant|candidate|voter|participant"
    r"|respondent|volunteer|animal|dog|cat|cow|horse|mouse|rat|bird|sensor|ship|vessel|boat)"
    r"(_?(id|no|nr|number|key|name))?$",
    re.IGNORECASE,
)
"""Names of columns of entities: persons, animals and places that have rows of their own, and of which others
come later. Who only serves them, such as a doctor or a seller, rather comes again."""
ID_NAME = re.compile(r"(^|[_\W])(id|nr|no|number|key|code)$|[a-z](Id|ID|Nr|No)$|^id[_\W]", re.IGNORECASE)
BIRTH_NAME = re.compile(r"birth|born|\bdob\b|(^|_)dob($|_)|geburt|naissance|nacimiento", re.IGNORECASE)

MIN_MOMENTS = 10
"""Distinct times in a time column: fewer are periods such as years, which barely order the rows."""
MIN_GROUPS = 10
"""Distinct groups: fewer are categories, and leave too few groups for each fold."""
MIN_FAMILIAR_ROWS = 20
"""Mean rows per group from which a model will rather meet the same groups again."""
MIN_STATIC_SHARE = 0.98
"""Share of equal neighbours within groups; the rest allows for a few corrections in the data."""
MIN_ROWS_PER_MOMENT = 1.5
"""Mean rows of a moment from which a table has several series; fewer are a series with some rows twice."""
MAX_REPEATED_SHARE = 0.01
"""Share of the rows that may come twice in a moment of a series, as corrections do."""
MAX_ROWS = 20_000
"""Rows that are examined: more do not change the decision, only its cost."""


@dataclass(frozen=True)
class StructureColumn:
    """A column that orders or groups the rows, with the evidence as a clause."""

    column: str
    reason: str


def find_time_column(
    frame: pd.DataFrame, target: str, has_horizon: bool, goal: str = ""
) -> StructureColumn | None:
    """Find the date column that orders the rows; a date of birth never does.

    A column counts if the file is sorted by it. If the future is predicted (`has_horizon`, or by the goal's
    words), the order of the file does not matter.
    """
    dates = [
        str(name)
        for name in frame.columns
        if name != target
        and pd.api.types.is_datetime64_any_dtype(frame[name].dtype)
        and not BIRTH_NAME.search(str(name))
    ]
    ordered = [name for name in dates if is_sorted(frame[name])]
    future = mentions_future(goal)
    if ordered:
        return StructureColumn(
            ordered[0], "the file is sorted by it" + (", and the goal is about the future" * future)
        )
    moving = [name for name in dates if frame[name].nunique() >= MIN_MOMENTS]
    if moving and (has_horizon or future):
        return StructureColumn(moving[0], "the goal is about the future")
    return StructureColumn(dates[0], "the goal looks ahead") if dates and has_horizon else None


def is_sorted(column: pd.Series) -> bool:
    """Return true if at least 98% of the steps go in one direction, few are missing and moments are many."""
    times = column.dropna()
    if len(times) < 0.98 * len(column) or times.nunique() < MIN_MOMENTS:
        return False
    steps = np.diff(times.astype("int64").to_numpy())
    # Rows of one time, as of several shops, say nothing of the order.
    moving = steps[steps != 0]
    rising = float((moving > 0).mean())
    return len(moving) >= MIN_MOMENTS - 1 and max(rising, 1 - rising) >= 0.98


def find_group_column(frame: pd.DataFrame, target: str, goal: str = "") -> StructureColumn | None:
    """Find the column whose rows belong to one entity, if models will be used on new entities.

    It is named like an entity, or other columns never change within it; and its values repeat. If the goal says
    that entities are known, or if each has many rows, the column stays an input like any other.
    """
    about_new = mentions_new_entities(goal)
    if about_new is False:
        return None
    for name in frame.columns:
        if name == target or not can_group(frame[name]):
            continue
        group_rows = rows_per_value(frame[name])
        if about_new is None and group_rows >= MIN_FAMILIAR_ROWS:
            continue
        if GROUP_NAME.search(str(name)):
            return StructureColumn(str(name), f"each has {group_rows:.1f} rows on average")
        static_columns = (
            find_static_columns(frame, str(name), target) if ID_NAME.search(str(name)) or about_new else []
        )
        if ID_NAME.search(str(name)) and target_is_static(frame, str(name), target):
            return StructureColumn(str(name), f"{target!r} never changes within one")
        if len(static_columns) >= 2:
            examples = ", ".join(repr(column) for column in static_columns[:3])
            return StructureColumn(str(name), f"{examples} never change within one")
    return None


def has_several_series(times: pd.Series) -> bool:
    """Return true if the moments of a table come again, as they do where several series share them."""
    return rows_per_value(times) >= MIN_ROWS_PER_MOMENT


def find_series_column(
    frame: pd.DataFrame, target: str, time_column: str, horizon: int
) -> StructureColumn | None:
    """Find the column that tells series apart: each of its values has one row a moment.

    Of several the one with the fewest values, thus the longest series; they must be longer than the horizon.
    """
    rows_at_most = int(frame[time_column].value_counts().max())
    candidates = [
        str(name)
        for name in frame.columns
        if name not in (target, time_column)
        and _tells_series_apart(frame, str(name), time_column, rows_at_most)
        and rows_per_value(frame[name]) > horizon
    ]
    if not candidates:
        return None
    name = min(candidates, key=lambda candidate: frame[candidate].nunique())
    return StructureColumn(name, f"each has one row a {time_column!r}, so that the future of each is its own")


def _tells_series_apart(frame: pd.DataFrame, name: str, time_column: str, rows_at_most: int) -> bool:
    """Return true for a filled-in column of names or numbers of series. `rows_at_most`: rows of one moment."""
    column = frame[name]
    if pd.api.types.is_float_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    is_entity_name = bool(GROUP_NAME.search(name) or ID_NAME.search(name))
    # A measure with many values is hardly ever the same twice in a moment either.
    if (
        pd.api.types.is_numeric_dtype(column.dtype)
        and not is_entity_name
        and column.nunique() > 1.5 * rows_at_most
    ):
        return False
    is_filled = column.notna().all() and column.nunique() >= rows_at_most
    return bool(is_filled and frame.duplicated([name, time_column]).mean() <= MAX_REPEATED_SHARE)


def can_group(column: pd.Series) -> bool:
    """Return true for a filled-in column that is no measure or date and whose values repeat."""
    if pd.api.types.is_float_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    if pd.api.types.is_bool_dtype(column.dtype) or column.notna().mean() <= 0.9:
        return False
    return column.nunique() >= MIN_GROUPS and rows_per_value(column) >= 1.5


def rows_per_value(column: pd.Series) -> float:
    return float(column.notna().sum() / max(column.nunique(), 1))


def find_static_columns(frame: pd.DataFrame, group: str, target: str) -> list[str]:
    """Find columns with many values that hardly ever change within a value of `group`: they describe it.

    Judged by up to `MAX_ROWS` rows of complete groups.
    """
    codes, _ = pd.factorize(frame[group])
    positions = _sample_groups(codes)
    codes, rows = codes[positions], frame.iloc[positions]
    order = np.argsort(codes, kind="stable")
    same_group = np.diff(codes[order]) == 0
    if same_group.sum() < MIN_GROUPS:
        return []
    static_columns = []
    for name in rows.columns:
        if name in (group, target):
            continue
        values = pd.factorize(rows[name].iloc[order])[0]
        same_value = np.diff(values) == 0
        # A column of mostly one value never changes within anything, and describes nothing.
        chance = float((np.bincount(values[values >= 0]) / len(values)).max(initial=0.0))
        if chance < 0.5 and values.max(initial=-1) >= 4 and same_value[same_group].mean() >= MIN_STATIC_SHARE:
            static_columns.append(str(name))
    return static_columns


def target_is_static(frame: pd.DataFrame, group: str, target: str) -> bool:
    """Return true if the target hardly ever changes within a group but does between groups."""
    codes, _ = pd.factorize(frame[group])
    positions = _sample_groups(codes)
    order = positions[np.argsort(codes[positions], kind="stable")]
    same_group = np.diff(codes[order]) == 0
    values = pd.factorize(frame[target].iloc[order])[0]
    # Chance that two rows have the same target: a rare class hardly ever changes anywhere.
    chance = float(((np.bincount(values[values >= 0]) / max(len(values), 1)) ** 2).sum())
    return bool(
        same_group.sum() >= MIN_GROUPS
        and chance < 0.9
        and (np.diff(values) == 0)[same_group].mean() >= MIN_STATIC_SHARE
    )


def _sample_groups(codes: np.ndarray) -> np.ndarray:
    """Positions of the rows of a sample of groups, `MAX_ROWS` rows or somewhat more."""
    if len(codes) <= MAX_ROWS:
        return np.flatnonzero(codes >= 0)
    groups = int(codes.max()) + 1
    sampled = np.zeros(groups, dtype=bool)
    sampled[sample_rows(groups, max(1, groups * MAX_ROWS // len(codes)), 0)] = True
    # Whole groups, since a sample of rows would leave hardly any two of one group.
    return np.flatnonzero((codes >= 0) & sampled[codes])
