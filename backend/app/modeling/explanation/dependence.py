"""Partial dependence: mean predictions as one column is set to each of several values for all rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.explanation.explained_model import ExplainedModel
from app.modeling.explanation.explanation_facts import Dependence
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant, to_json_scalar
from app.modeling.training.deadline import Deadline

MAX_COLUMNS = 6
"""Columns in the report, the most important ones."""
MAX_ROWS = 200
"""Rows that are averaged over: the error of a mean is then small beside its range."""
MIN_ROWS = 30
"""Rows below which the mean and the quantiles are noise."""
MAX_POINTS = 11
"""Values of a number or date."""
MAX_VALUES = 8
"""Categories, the most frequent ones."""
MAX_CLASSES = 4
"""Classes with a line of their own."""
DENSITY_BINS = 16
"""Bins of the histogram below a curve, which shows only where there are rows."""


def partial_dependence(
    subject: ExplainedModel,
    rows: pd.DataFrame,
    columns: Sequence[str],
    seed: int = 0,
    deadline: Deadline | None = None,
) -> list[Dependence]:
    """Compute the dependence on each of the first `columns` that has a range of values (free text has none).

    The prediction is the positive class's probability, the number, or the probability of each frequent class.
    `low` and `high` bound the middle four fifths of the rows, so a wide band means that other columns matter
    too.
    """
    deadline = deadline or Deadline(None)
    dependences: list[Dependence] = []
    sample = _sample(subject, rows, seed, deadline)
    for name in columns:
        steps = _choose_values(rows[name])
        if steps is None:
            continue
        started = deadline.spent_s
        dependences.append(_vary_column(subject, sample, rows[name], name, *steps))
        column_s = deadline.spent_s - started
        if len(dependences) == MAX_COLUMNS or deadline.left_s < column_s:
            break
        # Fewer rows for the columns to come rather than fewer columns.
        if deadline.limit_s is not None and column_s * (MAX_COLUMNS - len(dependences)) > deadline.left_s:
            share = deadline.left_s / (column_s * (MAX_COLUMNS - len(dependences)))
            count = max(int(len(sample) * share), min(MIN_ROWS, len(sample)))
            sample = sample.iloc[subject.sample(len(sample), count, seed)].reset_index(drop=True)
    return dependences


def _sample(subject: ExplainedModel, rows: pd.DataFrame, seed: int, deadline: Deadline) -> pd.DataFrame:
    """Sample the rows to vary, as many as the deadline allows, going by the time of a few."""
    count = MAX_ROWS
    if deadline.limit_s is not None:
        started = deadline.spent_s
        few = rows.iloc[:MIN_ROWS]
        subject.predict(few)
        seconds_per_row = max((deadline.spent_s - started) / max(len(few), 1), 1e-9)
        count = min(
            max(int(deadline.left_s / (MAX_COLUMNS * MAX_POINTS * seconds_per_row)), MIN_ROWS), MAX_ROWS
        )
    return rows.iloc[subject.sample(len(rows), count, seed)].reset_index(drop=True)


def _choose_values(column: pd.Series) -> tuple[str, list[Any]] | None:
    """The kind of the column and the values to set; None if the column cannot be varied."""
    present = column.dropna()
    kind = column_kind(column)
    if kind in (ColumnKind.EMPTY, ColumnKind.TEXT) or present.nunique() < 2:
        return None
    if kind in (ColumnKind.NUMBER, ColumnKind.DATETIME) and present.nunique() > MAX_VALUES:
        # Without the outer 2 %, where a curve would rest on hardly any row.
        shares = np.linspace(0.02, 0.98, MAX_POINTS)
        # Nearest values occur: whole numbers stay whole, and dates stay dates.
        values = list(dict.fromkeys(present.quantile(shares, interpolation="nearest").tolist()))
        return ("datetime" if kind is ColumnKind.DATETIME else "number"), values
    frequent = present.value_counts().index[:MAX_VALUES].tolist()
    ordered = sorted(frequent) if kind in (ColumnKind.NUMBER, ColumnKind.DATETIME) else frequent
    return "category", ordered


def _vary_column(
    subject: ExplainedModel, sample: pd.DataFrame, column: pd.Series, name: str, kind: str, values: list[Any]
) -> Dependence:
    outputs = subject.predict_frames([_set_column(sample, name, value) for value in values])
    predictions = np.stack(outputs)  # (values, rows[, classes])
    facts: Dependence = {
        "column": name,
        "kind": kind,
        "at": [subject.problem.written_value(name, to_json_scalar(value)) for value in values],
        "rows": len(sample),
        "lines": [_line(subject, predictions, index) for index in _drawn_classes(subject, predictions)],
        "density": _density(column, kind, values),
    }
    return facts


def _set_column(sample: pd.DataFrame, name: str, value: Any) -> pd.DataFrame:
    # With the type of the column, since a recipe treats columns by their types.
    column = pd.Series([value] * len(sample), index=sample.index, dtype=sample[name].dtype)
    return sample.assign(**{name: column})


def _drawn_classes(subject: ExplainedModel, predictions: np.ndarray) -> list[int | None]:
    """Indices of the classes with a line; None for a number."""
    if predictions.ndim == 2:
        return [None]
    if subject.problem.is_binary:
        return [subject.problem.positive_index]
    likely = np.argsort(-predictions.mean(axis=(0, 1)))[:MAX_CLASSES]
    return [int(index) for index in sorted(likely)]


def _line(subject: ExplainedModel, predictions: np.ndarray, class_index: int | None) -> dict[str, Any]:
    of_class = predictions if class_index is None else predictions[:, :, class_index]
    classes = subject.problem.classes or ()
    low, high = np.quantile(of_class, (0.1, 0.9), axis=1)
    return {
        "class": None if class_index is None else str(classes[class_index]),
        "mean": [round_significant(float(value)) for value in of_class.mean(axis=1)],
        "low": [round_significant(float(value)) for value in low],
        "high": [round_significant(float(value)) for value in high],
    }


def _density(column: pd.Series, kind: str, values: list[Any]) -> dict[str, Any]:
    """Distribution of the rows: counts per category, or per bin of a number's range."""
    if kind == "category":
        value_counts = column.value_counts()
        return {"counts": [int(value_counts.get(value, 0)) for value in values]}
    if kind == "datetime":
        return {}
    present = column.dropna().astype("float64")
    inside = present[(present >= values[0]) & (present <= values[-1])]
    counts, edges = np.histogram(inside, bins=DENSITY_BINS, range=(float(values[0]), float(values[-1])))
    return {"edges": [round_significant(float(edge)) for edge in edges], "counts": counts.tolist()}
