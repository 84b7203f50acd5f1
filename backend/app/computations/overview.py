"""Figures of a training frame before anything is fitted: gaps, distributions, target, associations."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.computations.pictures import leave_pictures
from app.reporting.figure_choice import Drawable

_MAX_ROWS = 20_000
_MAX_LOOKED_AT = 30
"""Columns that are drawn from: the most telling ones where a frame has more."""

_MAX_PAIRED = 4_000
"""Rows by which columns are paired."""

_MAX_COLUMNS = 12
_MAX_GROUPS = 6
_MAX_MOMENTS = 300
_MANY_VALUES = 30


def leave_overview(
    folder: Path,
    frame: pd.DataFrame,
    problem: Mapping[str, Any],
    relations: Mapping[str, float | None] | None = None,
) -> list[dict[str, str]]:
    """Draw what the frame allows into `folder`; `[{"file", "title"}]` of each SVG (a PNG lies beside it).

    `relations`: how much each column tells about the target. A wide frame is drawn from the most telling ones.
    """
    sample = frame if len(frame) <= _MAX_ROWS else frame.sample(_MAX_ROWS, random_state=0).sort_index()
    target = str(problem["target"])
    sample = sample[_most_telling(sample, target, relations or {})]
    facts = {
        "missing_values": _missing(frame),
        "distributions": _distributions(sample, frame.shape[1]),
        "target_by_feature": _target(sample, target, problem),
        "association": _association(sample.iloc[:: max(1, -(-len(sample) // _MAX_PAIRED))], target),
        "time_series": _over_time(frame, target, problem),
    }
    return leave_pictures(folder, [Drawable(kind, given) for kind, given in facts.items() if given])


def _most_telling(frame: pd.DataFrame, target: str, relations: Mapping[str, float | None]) -> list[str]:
    """The target and the columns most related to it, in the order of the file; all where they are few."""
    if frame.shape[1] <= _MAX_LOOKED_AT:
        return list(frame.columns)
    ranked = sorted(frame.columns, key=lambda name: (name != target, -(relations.get(str(name)) or 0.0)))
    kept = set(ranked[:_MAX_LOOKED_AT])
    return [name for name in frame.columns if name in kept]


def _missing(frame: pd.DataFrame) -> dict[str, Any]:
    counts = frame.isna().sum()
    if not counts.any():
        return {}
    return {
        "rows": len(frame),
        "columns": [{"name": str(name), "missing": int(count)} for name, count in counts.items()],
    }


def _distributions(frame: pd.DataFrame, of: int) -> dict[str, Any]:
    columns = [facts for name in frame.columns if (facts := _distribution(str(name), frame[name].dropna()))]
    return {"columns": columns, "left_out": of - frame.shape[1]} if columns else {}


def _distribution(name: str, values: pd.Series) -> dict[str, Any] | None:
    if values.empty or pd.api.types.is_datetime64_any_dtype(values):
        return None
    if _is_number(values) and values.nunique() > 10:
        counts, edges = np.histogram(_numbers(values), bins=24)
        return {"name": name, "kind": "numeric", "edges": edges.tolist(), "counts": counts.tolist()}
    found = values.map(_plain).astype("str").value_counts()
    if len(found) > max(_MANY_VALUES, len(values) // 2):
        return None  # names and identifiers: a bar each would say nothing
    return {"name": name, "kind": "categorical", "labels": found.index.tolist(), "counts": found.tolist()}


def _target(frame: pd.DataFrame, target: str, problem: Mapping[str, Any]) -> dict[str, Any]:
    """Share of the positive class (two classes) or mean (a number) in groups of each column."""
    classes = problem.get("classes")
    if problem.get("horizon") or (classes and len(classes) != 2):
        return {}
    known = frame[frame[target].notna()]
    if classes:
        positive = problem.get("positive_class", classes[1])
        outcome = (known[target].map(_plain) == _plain(positive)).astype("float64")
        value_label = f"Share of {target} = {positive}"
    else:
        outcome = _numbers(known[target])
        value_label = f"Mean of {target}"
    panels = [
        _panel(str(name), known[name], outcome, bool(classes)) for name in known.columns if name != target
    ]
    ranked = sorted((panel for panel in panels if panel), key=lambda panel: -panel["spread"])
    for panel in ranked:
        del panel["spread"]
    return {"value_label": value_label, "panels": ranked} if ranked else {}


def _panel(name: str, column: pd.Series, outcome: pd.Series, is_share: bool) -> dict[str, Any] | None:
    groups = _groups(column)
    if groups is None:
        return None
    table = outcome.groupby(groups, observed=True, sort=True).agg(["mean", "std", "count"])
    table = table[table["count"] >= 5]
    if len(table) < 2:
        return None
    counts, means = table["count"].to_numpy(), table["mean"].to_numpy()
    low, high = _wilson(means, counts) if is_share else _around(means, table["std"].to_numpy(), counts)
    weighted = float(np.average((means - np.average(means, weights=counts)) ** 2, weights=counts))
    return {
        "feature": name,
        "labels": [str(label) for label in table.index],
        "values": means.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "counts": counts.tolist(),
        "spread": weighted,
    }


def _groups(column: pd.Series) -> pd.Series | None:
    """Each row's group: its value where there are few, else a range of its number; None where neither fits."""
    if pd.api.types.is_datetime64_any_dtype(column) or column.nunique() < 2:
        return None
    if column.nunique() <= _MAX_GROUPS + 2:
        return column.map(_plain).astype("str").where(column.notna(), "missing")
    if not _is_number(column):
        return None
    cut, edges = pd.qcut(_numbers(column), _MAX_GROUPS, duplicates="drop", retbins=True)
    if len(edges) < 3:
        return None
    names = [f"{_short(low)}\N{EN DASH}{_short(high)}" for low, high in pairwise(edges.tolist())]
    return cut.cat.rename_categories(names) if len(set(names)) == len(names) else None


def _wilson(shares: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95% score interval of a share."""
    z = 1.96
    middle = (shares + z**2 / (2 * counts)) / (1 + z**2 / counts)
    reach = z * np.sqrt(shares * (1 - shares) / counts + z**2 / (4 * counts**2)) / (1 + z**2 / counts)
    return middle - reach, middle + reach


def _around(means: np.ndarray, deviations: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    reach = 1.96 * deviations / np.sqrt(counts)
    return means - reach, means + reach


def _association(frame: pd.DataFrame, target: str) -> dict[str, Any]:
    """From 0 (none) to 1: rank correlation, correlation ratio or Cramer's V, as the two columns allow."""
    usable = [name for name in frame.columns if _is_comparable(frame[name])]
    names = ([target] if target in usable else []) + [name for name in usable if name != target]
    names = names[:_MAX_COLUMNS]
    if len(names) < 2:
        return {}
    strength = {(a, b): _strength(frame[a], frame[b]) for place, a in enumerate(names) for b in names[place:]}
    matrix = [[strength.get((a, b), strength.get((b, a))) for b in names] for a in names]
    note = "Rank correlation, correlation ratio or Cramér's V"
    return {"names": [str(name) for name in names], "matrix": matrix, "note": note}


def _is_comparable(column: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(column) or column.nunique() < 2:
        return False
    return _is_number(column) or column.nunique() <= _MANY_VALUES


def _strength(a: pd.Series, b: pd.Series) -> float | None:
    known = a.notna() & b.notna()
    a, b = a[known], b[known]
    if len(a) < 10 or a.nunique() < 2 or b.nunique() < 2:
        return None
    a_counts, b_counts = _is_measure(a), _is_measure(b)
    if a_counts and b_counts:
        return abs(float(_numbers(a).rank().corr(_numbers(b).rank())))
    if a_counts or b_counts:
        return _correlation_ratio(a if a_counts else b, b if a_counts else a)
    return _cramer(a, b)


def _correlation_ratio(numbers: pd.Series, groups: pd.Series) -> float:
    values = _numbers(numbers)
    means = values.groupby(groups.astype("str")).transform("mean")
    spread = float(((values - values.mean()) ** 2).sum())
    return float(np.sqrt(((means - values.mean()) ** 2).sum() / spread)) if spread else 0.0


def _cramer(a: pd.Series, b: pd.Series) -> float:
    table = pd.crosstab(a.astype("str"), b.astype("str")).to_numpy(dtype="float64")
    total = table.sum()
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / total
    chi2 = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi2 / total / (min(table.shape) - 1)))


def _over_time(frame: pd.DataFrame, target: str, problem: Mapping[str, Any]) -> dict[str, Any]:
    column = problem.get("time_column")
    if not column or column not in frame or not _is_number(frame[target]):
        return {}
    rows = pd.DataFrame({"time": pd.to_datetime(frame[column]), "value": _numbers(frame[target])}).dropna()
    if len(rows) < 2:
        return {}
    rows = rows.sort_values("time")
    parts = np.array_split(np.arange(len(rows)), min(len(rows), _MAX_MOMENTS))
    means = [float(rows["value"].iloc[part].mean()) for part in parts]
    times = [rows["time"].iloc[part[0]].isoformat() for part in parts]
    return {"times": times, "series": [{"label": target, "values": means}], "value_label": target}


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _is_measure(column: pd.Series) -> bool:
    return _is_number(column) and column.nunique() > 2


def _numbers(column: pd.Series) -> pd.Series:
    return column.astype("float64").replace([np.inf, -np.inf], np.nan)


def _plain(value: Any) -> Any:
    """1.0 and 1 are the same group, and read as 1."""
    return int(value) if isinstance(value, (float, np.floating)) and float(value).is_integer() else value


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
