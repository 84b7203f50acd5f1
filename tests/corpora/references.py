"""Answers of the corpus of questions, computed from their references with pandas.

`python -m tests.corpora.references FILE.json ...` computes the answers of the files and writes them back.
Before that an answer may be absent or hold only `ordered`, `share` and `shares`.
"""

import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.corpora.questions import QuestionTable, read_rows

# Digits that are stored: enough for every comparison, and equal on every platform.
SIGNIFICANT_DIGITS = 10
MAX_LINE = 112


def plain_cell(value: Any) -> bool | int | float | str | None:
    """JSON value of a cell: dates in ISO 8601, durations in seconds, intervals and periods as texts."""
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, pd.Timedelta):
        return plain_cell(value.total_seconds())
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat() if value == value.normalize() else value.isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def table_of(result: pd.DataFrame | pd.Series) -> dict[str, Any]:
    """Table answer of a pandas result: an index other than 0, 1, 2 ... becomes its first columns."""
    frame = result.to_frame(result.name or "value") if isinstance(result, pd.Series) else result
    if not isinstance(frame.index, pd.RangeIndex):
        names = [name or f"key_{i + 1}" for i, name in enumerate(frame.index.names)]
        frame = frame.reset_index(names=names)
    labels: list[Any] = list(frame.columns)
    columns = [" ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in labels]
    rows = [
        [plain_cell(cell) for cell in row] for row in frame.astype(object).itertuples(index=False, name=None)
    ]
    return {"form": "table", "columns": columns, "rows": rows}


def evaluate(reference: str, frames: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Answer of a reference without the judgements `ordered`, `share` and `shares`."""
    copies = {name: frame.copy() for name, frame in frames.items()}
    result = eval(reference, {"pd": pd, "np": np, **copies})
    if isinstance(result, pd.DataFrame | pd.Series):
        return table_of(result)
    if isinstance(result, list | tuple | np.ndarray | pd.Index):
        return {"form": "list", "values": [plain_cell(value) for value in result]}
    value = plain_cell(result)
    return {"form": "text" if isinstance(value, str | bool) else "number", "value": value}


def dump(value: Any, depth: int = 0, used: int = 0) -> str:
    """JSON with indent 1 in which a list or object that fits into a line stands in a line."""
    text = json.dumps(value, ensure_ascii=False)
    if depth + used + len(text) <= MAX_LINE - 1 or not isinstance(value, dict | list) or not value:
        return text
    pad, end = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, list):
        return "[" + pad + f",{pad}".join(dump(item, depth + 1) for item in value) + end + "]"
    keys = [json.dumps(key, ensure_ascii=False) + ": " for key in value]
    parts = [key + dump(item, depth + 1, len(key)) for key, item in zip(keys, value.values(), strict=True)]
    return "{" + pad + f",{pad}".join(parts) + end + "}"


def fill(path: Path) -> None:
    """Compute the answers of a file of the corpus and write it back."""
    content = json.loads(path.read_text(encoding="utf-8"))
    tables = [QuestionTable.model_validate(table) for table in content["tables"]]
    frames = {table.name: read_rows(path.with_suffix("") / f"{table.name}.csv", table) for table in tables}
    for question in content["questions"]:
        for reading in question["readings"]:
            judged = reading.get("answer", {})
            answer = evaluate(reading["reference"], frames)
            if answer["form"] in ("list", "table"):
                answer["ordered"] = judged.get("ordered", False)
            answer |= {key: judged[key] for key in ("share", "shares") if judged.get(key)}
            reading["answer"] = answer
    path.write_text(dump(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fill(Path(name))
