"""Figures of a training frame: missing values, distributions, target and associations."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.computations.cell_files.figure_files import write_figures
from app.modeling.training.deadline import Deadline
from app.reporting.figure_data import Drawable

_MAX_ROWS = 20_000
"""Rows that are drawn: a distribution of a sample looks the same."""
_MAX_DRAWN_COLUMNS = 30
"""Columns that are drawn: those most related to the target."""
_MAX_PAIR_ROWS = 4_000
"""Rows that associations are computed on."""
_MAX_ASSOCIATIONS = 12
"""Columns of the association matrix: its labels stay readable."""
_MAX_GROUPS = 6
"""Ranges that a number is cut into."""
_MAX_TIMES = 300
"""Points of a time series: about one per three pixels."""
_MAX_CATEGORIES = 30
"""Distinct values that are still drawn as categories."""


def draw_figures(
    folder: Path,
    frame: pd.DataFrame,
    problem: Mapping[str, Any],
    column_scores: Mapping[str, float | None] | None = None,
    limit_s: float | None = None,
) -> list[dict[str, str]]:
    """Draw figures of the frame into `folder`; return `[{"file", "title"}]` of each SVG (with a PNG beside it).

    `column_scores`: the score of each column alone. Of a wide frame the columns with the highest scores are
    drawn. `limit_s`: seconds, beyond which the figures that are left are not drawn.
    """
    deadline = Deadline(limit_s)
    # In the order of the table again, which the thinned rows of associations rely on.
    sample = frame if len(frame) <= _MAX_ROWS else frame.sample(_MAX_ROWS, random_state=0).sort_index()
    target = str(problem["target"])
    sample = sample[_select_columns(sample, target, column_scores or {})]
    drawables = _describe_figures(frame, sample, target, problem)
    return write_figures(folder, drawables, deadline)


def _describe_figures(
    frame: pd.DataFrame, sample: pd.DataFrame, target: str, problem: Mapping[str, Any]
) -> Iterator[Drawable]:
    """Yield the most useful figures first, since the time may end before all are drawn."""
    if over_time := _over_time(frame, target, problem):
        yield Drawable("time_series", over_time)
    if by_feature := _target(sample, target, problem):
        yield Drawable("target_by_feature", by_feature)
    if distributions := _distributions(sample, frame.shape[1]):
        yield Drawable("distributions", distributions)
    if missing := _missing(frame):
        yield Drawable("missing_values", missing)
    # Evenly spaced rows; the division rounds up, so that they never exceed the limit.
    pairs = sample.iloc[:: max(1, -(-len(sample) // _MAX_PAIR_ROWS))]
    if association := _association(pairs, target):
        yield Drawable("association", association)


def _select_columns(frame: pd.DataFrame, target: str, column_scores: Mapping[str, float | None]) -> list[str]:
    """The target and the columns with the highest scores, in the order of the file; all if they are few."""
    if frame.shape[1] <= _MAX_DRAWN_COLUMNS:
        return list(frame.columns)
    ranked = sorted(frame.columns, key=lambda name: (name != target, -(column_scores.get(str(name)) or 0.0)))
    selected = set(ranked[:_MAX_DRAWN_COLUMNS])
    return [name for name in frame.columns if name in selected]


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
    counts_by_label = values.map(_normalize_number).astype("str").value_counts()
    if len(counts_by_label) > max(_MAX_CATEGORIES, len(values) // 2):
        return None  # names and identifiers: bars of one row each show nothing
    return {
        "name": name,
        "kind": "categorical",
        "labels": counts_by_label.index.tolist(),
        "counts": counts_by_label.tolist(),
    }


def _target(frame: pd.DataFrame, target: str, problem: Mapping[str, Any]) -> dict[str, Any]:
    """Share of the positive class (two classes) or mean (a number) in groups of each column."""
    classes = problem.get("classes")
    # The label of a forecast is in a later row; several classes have no one share to draw.
    if problem.get("horizon") or (classes and len(classes) != 2):
        return {}
    labelled = frame[frame[target].notna()]
    if classes:
        positive = problem.get("positive_class", classes[1])
        outcome = (labelled[target].map(_normalize_number) == _normalize_number(positive)).astype("float64")
        value_label = f"Share of {target} = {positive}"
    else:
        outcome = _numbers(labelled[target])
        value_label = f"Mean of {target}"
    panels = [
        _panel(str(name), labelled[name], outcome, bool(classes)) for name in labelled.columns if name != target
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
    # The mean of a few rows would stand out of the figure by chance.
    table = table[table["count"] >= 5]
    if len(table) < 2:
        return None
    counts, means = table["count"].to_numpy(), table["mean"].to_numpy()
    low, high = (
        _share_intervals(means, counts) if is_share else _mean_intervals(means, table["std"].to_numpy(), counts)
    )
    # Weighted by rows, so that a small group far off does not rank a column first.
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
    """The group of each row: its value if values are few, else its range of numbers; None for other columns."""
    if pd.api.types.is_datetime64_any_dtype(column) or column.nunique() < 2:
        return None
    if column.nunique() <= _MAX_GROUPS + 2:
        return column.map(_normalize_number).astype("str").where(column.notna(), "missing")
    if not _is_number(column):
        return None
    # Groups of equal size; a frequent value may be the edge of two of them.
    cut, edges = pd.qcut(_numbers(column), _MAX_GROUPS, duplicates="drop", retbins=True)
    # One range holds nearly all rows: nothing to compare.
    if len(edges) < 3:
        return None
    names = [
        f"{_format_number(low)}\N{EN DASH}{_format_number(high)}" for low, high in pairwise(edges.tolist())
    ]
    return cut.cat.rename_categories(names) if len(set(names)) == len(names) else None


def _share_intervals(shares: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95% score interval of a share."""
    # Wilson's, which stays within 0 and 1 and holds for few rows and rare classes.
    z = 1.96
    middle = (shares + z**2 / (2 * counts)) / (1 + z**2 / counts)
    half_width = z * np.sqrt(shares * (1 - shares) / counts + z**2 / (4 * counts**2)) / (1 + z**2 / counts)
    return middle - half_width, middle + half_width


def _mean_intervals(
    means: np.ndarray, deviations: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    half_width = 1.96 * deviations / np.sqrt(counts)
    return means - half_width, means + half_width


def _association(frame: pd.DataFrame, target: str) -> dict[str, Any]:
    """Associations from 0 (none) to 1: rank correlation, correlation ratio or Cramér's V, by the kinds of
    columns."""
    usable = [name for name in frame.columns if _is_comparable(frame[name])]
    names = ([target] if target in usable else []) + [name for name in usable if name != target]
    names = names[:_MAX_ASSOCIATIONS]
    if len(names) < 2:
        return {}
    strength = {(a, b): _strength(frame[a], frame[b]) for index, a in enumerate(names) for b in names[index:]}
    matrix = [[strength.get((a, b), strength.get((b, a))) for b in names] for a in names]
    note = "Rank correlation, correlation ratio or Cramér's V"
    return {"names": [str(name) for name in names], "matrix": matrix, "note": note}


def _is_comparable(column: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(column) or column.nunique() < 2:
        return False
    return _is_number(column) or column.nunique() <= _MAX_CATEGORIES


def _strength(a: pd.Series, b: pd.Series) -> float | None:
    complete = a.notna() & b.notna()
    a, b = a[complete], b[complete]
    if len(a) < 10 or a.nunique() < 2 or b.nunique() < 2:
        return None
    is_a_measure, is_b_measure = _is_measure(a), _is_measure(b)
    if is_a_measure and is_b_measure:
        # Of ranks: monotonic relations count in full, and outliers do not decide.
        return abs(float(_numbers(a).rank().corr(_numbers(b).rank())))
    if is_a_measure or is_b_measure:
        return _correlation_ratio(a if is_a_measure else b, b if is_a_measure else a)
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
    # Equal numbers of rows, so that a gap in time gives no empty point.
    parts = np.array_split(np.arange(len(rows)), min(len(rows), _MAX_TIMES))
    means = [float(rows["value"].iloc[part].mean()) for part in parts]
    times = [rows["time"].iloc[part[0]].isoformat() for part in parts]
    return {"times": times, "series": [{"label": target, "values": means}], "value_label": target}


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _is_measure(column: pd.Series) -> bool:
    # A number with two values is a label: 0 and 1 for no and yes.
    return _is_number(column) and column.nunique() > 2


def _numbers(column: pd.Series) -> pd.Series:
    return column.astype("float64").replace([np.inf, -np.inf], np.nan)


def _normalize_number(value: Any) -> Any:
    """Convert 1.0 to 1, so that they are one group with one label."""
    return int(value) if isinstance(value, (float, np.floating)) and float(value).is_integer() else value


def _format_number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
