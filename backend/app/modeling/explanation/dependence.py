"""How answers move with one column: everything else stays as it is, and that column is set for all rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.explanation.facts import Dependence
from app.modeling.explanation.subject import Deadline, Subject
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant, to_json_scalar

MAX_COLUMNS = 6
MAX_ROWS = 200
MIN_ROWS = 30
MAX_POINTS = 11
MAX_VALUES = 8
MAX_CLASSES = 4
DENSITY_BINS = 16


def partial_dependence(
    subject: Subject,
    rows: pd.DataFrame,
    columns: Sequence[str],
    seed: int = 0,
    deadline: Deadline | None = None,
) -> list[Dependence]:
    """For each of the first `columns` that has values to step through (free text has none).

    The answer is the positive class's probability, the number, or the probability of each frequent class. `low`
    and `high` hold the middle four fifths of the rows, so a wide band means that other columns decide too.
    """
    deadline = deadline or Deadline(None)
    made: list[Dependence] = []
    sample = _sample(subject, rows, seed, deadline)
    for name in columns:
        steps = _steps(rows[name])
        if steps is None:
            continue
        started = deadline.spent_s
        made.append(_along(subject, sample, rows[name], name, *steps))
        took_s = deadline.spent_s - started
        if len(made) == MAX_COLUMNS or deadline.left_s < took_s:
            break
        if deadline.limit_s is not None and took_s * (MAX_COLUMNS - len(made)) > deadline.left_s:
            share = deadline.left_s / (took_s * (MAX_COLUMNS - len(made)))
            count = max(int(len(sample) * share), min(MIN_ROWS, len(sample)))
            sample = sample.iloc[subject.sample(len(sample), count, seed)].reset_index(drop=True)
    return made


def _sample(subject: Subject, rows: pd.DataFrame, seed: int, deadline: Deadline) -> pd.DataFrame:
    """Rows for every column to step through, going by what the fewest take."""
    count = MAX_ROWS
    if deadline.limit_s is not None:
        started = deadline.spent_s
        few = rows.iloc[:MIN_ROWS]
        subject.say(few)
        a_row_s = max((deadline.spent_s - started) / max(len(few), 1), 1e-9)
        count = min(max(int(deadline.left_s / (MAX_COLUMNS * MAX_POINTS * a_row_s)), MIN_ROWS), MAX_ROWS)
    return rows.iloc[subject.sample(len(rows), count, seed)].reset_index(drop=True)


def _steps(column: pd.Series) -> tuple[str, list[Any]] | None:
    """The kind of the column and the values that it is set to; None where stepping says nothing."""
    known = column.dropna()
    kind = column_kind(column)
    if kind in (ColumnKind.EMPTY, ColumnKind.TEXT) or known.nunique() < 2:
        return None
    if kind in (ColumnKind.NUMBER, ColumnKind.DATETIME) and known.nunique() > MAX_VALUES:
        shares = np.linspace(0.02, 0.98, MAX_POINTS)
        values = list(dict.fromkeys(known.quantile(shares, interpolation="nearest").tolist()))
        return ("datetime" if kind is ColumnKind.DATETIME else "number"), values
    frequent = known.value_counts().index[:MAX_VALUES].tolist()
    ordered = sorted(frequent) if kind in (ColumnKind.NUMBER, ColumnKind.DATETIME) else frequent
    return "category", ordered


def _along(
    subject: Subject, sample: pd.DataFrame, column: pd.Series, name: str, kind: str, values: list[Any]
) -> Dependence:
    said = subject.say_all([_set(sample, name, value) for value in values])
    answers = np.stack(said)  # (values, rows[, classes])
    facts: Dependence = {
        "column": name,
        "kind": kind,
        "at": [to_json_scalar(value) for value in values],
        "rows": len(sample),
        "lines": [_line(subject, answers, place) for place in _told(subject, answers)],
        "density": _density(column, kind, values),
    }
    return facts


def _set(sample: pd.DataFrame, name: str, value: Any) -> pd.DataFrame:
    column = pd.Series([value] * len(sample), index=sample.index, dtype=sample[name].dtype)
    return sample.assign(**{name: column})


def _told(subject: Subject, answers: np.ndarray) -> list[int | None]:
    """Places of the classes that get a line; None stands for a number."""
    if answers.ndim == 2:
        return [None]
    if subject.problem.is_binary:
        return [subject.problem.positive_index]
    likely = np.argsort(-answers.mean(axis=(0, 1)))[:MAX_CLASSES]
    return [int(place) for place in sorted(likely)]


def _line(subject: Subject, answers: np.ndarray, place: int | None) -> dict[str, Any]:
    of_class = answers if place is None else answers[:, :, place]
    classes = subject.problem.classes or ()
    low, high = np.quantile(of_class, (0.1, 0.9), axis=1)
    return {
        "class": None if place is None else str(classes[place]),
        "mean": [round_significant(float(each)) for each in of_class.mean(axis=1)],
        "low": [round_significant(float(each)) for each in low],
        "high": [round_significant(float(each)) for each in high],
    }


def _density(column: pd.Series, kind: str, values: list[Any]) -> dict[str, Any]:
    """Where the rows are: counts per step of a category, or of a number's or date's range."""
    if kind == "category":
        found = column.value_counts()
        return {"counts": [int(found.get(value, 0)) for value in values]}
    if kind == "datetime":
        return {}
    known = column.dropna().astype("float64")
    inside = known[(known >= values[0]) & (known <= values[-1])]
    counts, edges = np.histogram(inside, bins=DENSITY_BINS, range=(float(values[0]), float(values[-1])))
    return {"edges": [round_significant(float(edge)) for edge in edges], "counts": counts.tolist()}
