"""What a contender is given and what it leaves, as files: each runs in a process of its own."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Task:
    """Rows as read from CSV by pandas, with nothing done to them."""

    train: pd.DataFrame
    test: pd.DataFrame
    target: str
    kind: str
    metric: str
    budget_s: float
    scratch: Path

    @property
    def features(self) -> pd.DataFrame:
        return self.train.drop(columns=[self.target])

    @property
    def labels(self) -> pd.Series:
        return self.train[self.target]


@dataclass(frozen=True)
class Said:
    """Predictions of the test rows, and the score that the contender itself expects, on the metric's own scale.

    Classification: `values` (rows, classes) with the names of `classes`; regression: `values` (rows,).
    """

    values: np.ndarray
    classes: list[str] | None = None
    claim: float | None = None
    note: str = ""


def run(fit: Callable[[Task], Callable[[], Said]]) -> None:
    """`fit` returns what predicts. Called as `-m MODULE TABLE_FOLDER OUT_FOLDER BUDGET_S`."""
    table, out, budget_s = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    facts = json.loads((table / "table.json").read_text())
    started = time.monotonic()
    train, test = (pd.read_csv(table / f"{part}.csv", low_memory=False) for part in ("train", "test"))
    task = Task(train, test, facts["target"], facts["kind"], facts["metric"], budget_s, out)
    predict = fit(task)
    fitted = time.monotonic()
    said = predict()
    ended = time.monotonic()
    leave(out, said, {"fit_s": fitted - started, "predict_s": ended - fitted})


def leave(out: Path, said: Said, taken: dict[str, Any]) -> None:
    """prediction.csv and said.json."""
    names = ["prediction"] if said.classes is None else said.classes
    frame = pd.DataFrame(said.values.reshape(len(said.values), -1), columns=names)
    frame.to_csv(out / "prediction.csv", index=False)
    (out / "said.json").write_text(json.dumps({"claim": said.claim, "note": said.note, **taken}))


def names_of(classes: Any) -> list[str]:
    return [str(name) for name in classes]
