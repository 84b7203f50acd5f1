"""Detection of columns that are the average of the target over a group of rows, the row itself included."""

import numpy as np
import pandas as pd

from app.modeling.facts.leaks import Leak
from app.modeling.problem.problem import Problem
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.numeric import to_float

MIN_GROUPS = 30
"""Groups of two rows and more: the error of fewer is too rough to compare with what chance leaves."""
MAX_NOISE_RATIO = 0.5
"""Error of an average, as a share of what rows of a group vary by chance. An average of other rows, or of
earlier ones, has an error of 1 and more; one of these rows and of half as many others of 0.5."""
MIN_EXACT_SHARE = 0.1
"""Share of the groups whose average the column equals, from which it is made of it. Those with a row in the
hold-out have another one."""
MAX_COLUMNS = 30
"""Columns of groups, and of numbers, that are compared."""


def find_group_averages(inputs: pd.DataFrame, labels: pd.Series, problem: Problem) -> list[Leak]:
    """Find numbers that never change within the values of a column and are the average of the target there.

    `labels`: numbers, or the classes 0 and 1.
    """
    if problem.is_classification and not problem.is_binary:
        return []
    kinds = {str(name): column_kind(inputs[name]) for name in inputs.columns}
    numbers = [name for name, kind in kinds.items() if kind is ColumnKind.NUMBER][:MAX_COLUMNS]
    distinct = {name: inputs[name].nunique() for name in kinds}
    groups = [name for name in kinds if MIN_GROUPS <= distinct[name] <= 0.8 * len(inputs)][:MAX_COLUMNS]
    target, leaks = labels.astype("float64"), list[Leak]()
    for number in numbers:
        if distinct[number] < MIN_GROUPS:
            continue
        values = to_float(inputs[number])
        # A group of rows has one value, so that there are no more values than groups.
        candidates = (name for name in groups if name != number and distinct[number] <= distinct[name])
        exact = next((share for name in candidates if (share := _measure(inputs[name], values, target))), None)
        if exact is not None:
            leaks.append(_to_leak(number, problem, *exact))
    return leaks


def _measure(group: pd.Series, values: pd.Series, target: pd.Series) -> tuple[str, float] | None:
    """Return the group's name and the share of exact averages, if the values are averages of these rows."""
    table = pd.DataFrame({"group": group.to_numpy(), "value": values.to_numpy(), "target": target.to_numpy()})
    by_group = table.dropna().groupby("group", observed=True, sort=False)
    spans = by_group["value"].max() - by_group["value"].min()
    if not len(spans) or (spans > 0).mean() > 0.01:
        return None
    sums = by_group["target"].agg(["size", "mean", "var"]).assign(value=by_group["value"].first())
    sums = sums[sums["size"] >= 2]
    if len(sums) < MIN_GROUPS:
        return None
    variance = float(np.average(sums["var"], weights=sums["size"] - 1))
    # A target that never changes within a group has averages that other columns may fairly know.
    if variance <= 1e-9 * float(np.var(table["target"])):
        return None
    errors = sums["mean"] - sums["value"]
    ratio = float((sums["size"] * errors**2).mean()) / variance
    if ratio > MAX_NOISE_RATIO:
        return None
    rounding = 1e-3 * np.sqrt(variance)
    return str(group.name), float((errors.abs() <= rounding).mean())


def _to_leak(number: str, problem: Problem, group: str, exact_share: float) -> Leak:
    text = (
        f"{number!r} is the average of {problem.target!r} over the rows of each {group!r}, with the row itself:"
        " it is made of the target."
    )
    is_exact = exact_share >= MIN_EXACT_SHARE
    return {
        "column": number,
        "kind": "group_average",
        "text": text,
        "certain": is_exact,
        "evidence_of": "identity" if is_exact else "score",
        "evidence": {"group": group, "exact_share": round(exact_share, 4)},
    }
