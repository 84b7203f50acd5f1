"""Is a table ordered in time, or made of groups? Judged from the goal, the names and the values."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.problem.goal_hints import mentions_future, mentions_new_entities
from app.modeling.table.sampling import sample_rows

_GROUP_NAME = re.compile(
    r"(^|_)(patient|subject|customer|user|client|account|household|family|store|shop|device|machine|person"
    r"|student|player|driver|session|group|site|school|hospital)(_?(id|no|nr|number|key))?$",
    re.IGNORECASE,
)
_ID_NAME = re.compile(r"(^|[_\W])(id|nr|no|number|key|code)$|[a-z](Id|ID|Nr|No)$|^id[_\W]", re.IGNORECASE)
_BIRTH = re.compile(r"birth|born|\bdob\b|(^|_)dob($|_)|geburt|naissance|nacimiento", re.IGNORECASE)

MIN_MOMENTS = 10
MIN_GROUPS = 10
WELL_KNOWN = 20
"""Rows a group on average from which a group is rather one that a model meets again."""
STATIC = 0.98
MAX_ROWS = 20_000


@dataclass(frozen=True)
class Found:
    """A column that orders or groups the rows, and the evidence, as a clause."""

    column: str
    why: str


def find_time_column(frame: pd.DataFrame, target: str, wanted: bool, goal: str = "") -> Found | None:
    """The date column that orders the rows; a date of birth never does.

    It counts where the file lies in its order. Where the future is what is predicted (`wanted`: there is a
    horizon; or the goal says so) the file's order does not matter.
    """
    dates = [
        str(name)
        for name in frame.columns
        if name != target
        and pd.api.types.is_datetime64_any_dtype(frame[name].dtype)
        and not _BIRTH.search(str(name))
    ]
    ordered = [name for name in dates if lies_in_order(frame[name])]
    future = mentions_future(goal)
    if ordered:
        return Found(ordered[0], "the file lies in its order" + (", and the goal is about what comes" * future))
    moving = [name for name in dates if frame[name].nunique() >= MIN_MOMENTS]
    if moving and (wanted or future):
        return Found(moving[0], "the goal is about what comes later")
    return Found(dates[0], "the goal looks ahead") if dates and wanted else None


def lies_in_order(column: pd.Series) -> bool:
    """At least 98% of the steps in one direction, few missing, and more than a few moments."""
    times = column.dropna()
    if len(times) < 0.98 * len(column) or times.nunique() < MIN_MOMENTS:
        return False
    steps = np.diff(times.astype("int64").to_numpy())
    moving = steps[steps != 0]
    rising = float((moving > 0).mean())
    return len(moving) >= MIN_MOMENTS - 1 and max(rising, 1 - rising) >= 0.98


def find_group_column(frame: pd.DataFrame, target: str, goal: str = "") -> Found | None:
    """A column whose rows belong together, where models will meet others.

    It is named like an entity, or other columns never change within it; and its values repeat. Where the goal
    says that entities are known, or where each has many rows, the column stays an input like any other.
    """
    new = mentions_new_entities(goal)
    if new is False:
        return None
    for name in frame.columns:
        if name == target or not _may_group(frame[name]):
            continue
        repeats = _repeats(frame[name])
        if new is None and repeats >= WELL_KNOWN:
            continue
        if _GROUP_NAME.search(str(name)):
            return Found(str(name), f"each has {repeats:.1f} rows on average")
        fixed = static_within(frame, str(name), target) if _ID_NAME.search(str(name)) or new else []
        if _ID_NAME.search(str(name)) and target_is_static(frame, str(name), target):
            return Found(str(name), f"{target!r} never changes within one")
        if len(fixed) >= 2:
            shown = ", ".join(repr(one) for one in fixed[:3])
            return Found(str(name), f"{shown} never change within one")
    return None


def _may_group(column: pd.Series) -> bool:
    """Not a measure or a date; filled in, and with values that repeat."""
    if pd.api.types.is_float_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    if pd.api.types.is_bool_dtype(column.dtype) or column.notna().mean() <= 0.9:
        return False
    return column.nunique() >= MIN_GROUPS and _repeats(column) >= 1.5


def _repeats(column: pd.Series) -> float:
    return float(column.notna().sum() / max(column.nunique(), 1))


def static_within(frame: pd.DataFrame, group: str, target: str) -> list[str]:
    """Columns with many values that hardly ever change within a value of `group`: they describe it.

    Judged by up to 20,000 rows of whole groups.
    """
    codes, _ = pd.factorize(frame[group])
    kept = _whole_groups(codes)
    codes, rows = codes[kept], frame.iloc[kept]
    order = np.argsort(codes, kind="stable")
    same = np.diff(codes[order]) == 0
    if same.sum() < MIN_GROUPS:
        return []
    found = []
    for name in rows.columns:
        if name in (group, target):
            continue
        values = pd.factorize(rows[name].iloc[order])[0]
        alike = np.diff(values) == 0
        chance = float((np.bincount(values[values >= 0]) / len(values)).max(initial=0.0))
        if chance < 0.5 and values.max(initial=-1) >= 4 and alike[same].mean() >= STATIC:
            found.append(str(name))
    return found


def target_is_static(frame: pd.DataFrame, group: str, target: str) -> bool:
    """Whether the target hardly ever changes within a group although it does between groups."""
    codes, _ = pd.factorize(frame[group])
    kept = _whole_groups(codes)
    order = kept[np.argsort(codes[kept], kind="stable")]
    same = np.diff(codes[order]) == 0
    values = pd.factorize(frame[target].iloc[order])[0]
    chance = float(((np.bincount(values[values >= 0]) / max(len(values), 1)) ** 2).sum())
    return bool(same.sum() >= MIN_GROUPS and chance < 0.9 and (np.diff(values) == 0)[same].mean() >= STATIC)


def _whole_groups(codes: np.ndarray) -> np.ndarray:
    if len(codes) <= MAX_ROWS:
        return np.flatnonzero(codes >= 0)
    groups = int(codes.max()) + 1
    chosen = np.zeros(groups, dtype=bool)
    chosen[sample_rows(groups, max(1, groups * MAX_ROWS // len(codes)), 0)] = True
    return np.flatnonzero((codes >= 0) & chosen[codes])
