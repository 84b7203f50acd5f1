"""Input and output files of a contender, which runs in a process of its own."""

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
    """Training and test rows as pandas reads them from CSV, without any preparation."""

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
class ContenderResult:
    """Predictions of the test rows, and the score that the contender itself expects, on the metric's own scale.

    Classification: `values` (rows, classes) with the names of `classes`; regression: `values` (rows,).
    """

    values: np.ndarray
    classes: list[str] | None = None
    claim: float | None = None
    note: str = ""


def run_contender(fit: Callable[[Task], Callable[[], ContenderResult]]) -> None:
    """Run a contender's `fit`, which returns a function that predicts the test rows, and write its result.

    The command line is `-m MODULE TABLE_FOLDER OUTPUT_FOLDER BUDGET_S`.
    """
    table, output_folder, budget_s = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    facts = json.loads((table / "table.json").read_text())
    started = time.monotonic()
    train, test = (pd.read_csv(table / f"{part}.csv", low_memory=False) for part in ("train", "test"))
    task = Task(train, test, facts["target"], facts["kind"], facts["metric"], budget_s, output_folder)
    predict = fit(task)
    fitted = time.monotonic()
    result = predict()
    ended = time.monotonic()
    write_result(output_folder, result, {"fit_s": fitted - started, "predict_s": ended - fitted})


def write_result(output_folder: Path, result: ContenderResult, timings: dict[str, Any]) -> None:
    """Write prediction.csv and measurements.json."""
    names = ["prediction"] if result.classes is None else result.classes
    frame = pd.DataFrame(result.values.reshape(len(result.values), -1), columns=names)
    frame.to_csv(output_folder / "prediction.csv", index=False)
    (output_folder / "measurements.json").write_text(
        json.dumps({"claim": result.claim, "note": result.note, **timings})
    )


def class_names(classes: Any) -> list[str]:
    return [str(name) for name in classes]
