"""Constant baseline: class shares, mean or median of the training rows."""

from collections.abc import Callable

import numpy as np
from benchmarks.quality.contenders.task import ContenderResult, Task, class_names, run_contender


def fit(task: Task) -> Callable[[], ContenderResult]:
    rows = len(task.test)
    if task.kind == "regression":
        value = task.labels.median() if task.metric == "mae" else task.labels.mean()
        return lambda: ContenderResult(np.full(rows, value))
    probabilities = task.labels.value_counts(normalize=True).sort_index()
    return lambda: ContenderResult(
        np.tile(probabilities.to_numpy(), (rows, 1)), class_names(probabilities.index)
    )


if __name__ == "__main__":
    run_contender(fit)
