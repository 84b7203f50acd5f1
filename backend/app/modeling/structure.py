"""Is a table ordered in time, or made of groups? Judged from names and values."""

import re

import pandas as pd

_GROUP_NAME = re.compile(
    r"(^|_)(patient|subject|customer|user|client|account|household|family|store|shop|device|machine|person"
    r"|student|player|driver|session|group|site|school|hospital)(_?(id|no|nr|number|key))?$",
    re.IGNORECASE,
)


def find_time_column(frame: pd.DataFrame, target: str, wanted: bool) -> str | None:
    """The date column that orders the rows.

    Only a column in whose order the file already lies counts, unless one is `wanted` (there is a horizon): then
    the first date column will do.
    """
    dates = [
        str(name)
        for name in frame.columns
        if name != target and pd.api.types.is_datetime64_any_dtype(frame[name].dtype)
    ]
    ordered = [name for name in dates if _lies_in_order(frame[name])]
    if ordered:
        return ordered[0]
    return dates[0] if wanted and dates else None


def _lies_in_order(column: pd.Series) -> bool:
    """At least 98% of neighbours in one direction, few missing, and more than a few dates."""
    times = column.dropna()
    if len(times) < 0.98 * len(column) or times.nunique() < max(10, 0.05 * len(times)):
        return False
    forward = (times.diff().dropna() >= pd.Timedelta(0)).mean()
    backward = (times.diff().dropna() <= pd.Timedelta(0)).mean()
    return bool(max(forward, backward) >= 0.98)


def find_group_column(frame: pd.DataFrame, target: str) -> str | None:
    """A column that names whose rows belong together: it is named like one and its values repeat."""
    for name in frame.columns:
        if name == target or not _GROUP_NAME.search(str(name)):
            continue
        values = frame[name].dropna()
        repeats = len(values) / max(values.nunique(), 1)
        if len(values) > 0.9 * len(frame) and repeats >= 1.5 and values.nunique() >= 10:
            return str(name)
    return None
