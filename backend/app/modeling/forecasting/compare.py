"""A model of a series beside what the series says by itself, on the same rows of the hold-out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.intervals import bootstrap, make_resampling
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant


def compared(
    predicted: Predicted,
    said: Mapping[str, np.ndarray],
    problem: Problem,
    seed: int,
    groups: pd.Series | None,
) -> list[dict[str, Any]]:
    """`[{"name", "score", "difference": Interval}]`, the best first; a difference above 0 is the model's.

    `said`: what each reference says of the rows that are judged; where it says nothing the last value does.
    """
    how = make_resampling(len(predicted.truth), problem, groups)
    found = []
    for name, forecast in said.items():
        whole = np.where(np.isfinite(forecast), forecast, said.get("last value", forecast))
        if not np.isfinite(whole).all():
            continue
        reference = Predicted.from_problem(problem, predicted.truth, whole)
        _, difference = bootstrap(predicted, reference, problem, how, seed)
        score = round_significant(SCORERS[problem.metric](reference))
        found.append({"name": name, "score": score, "difference": difference})
    sign = -1 if METRICS[problem.metric].greater_is_better else 1
    return sorted(found, key=lambda each: sign * (each["score"] if each["score"] is not None else np.inf))


def notes_on(references: list[dict[str, Any]]) -> list[str]:
    """What the model does not beat beyond chance."""
    unbeaten = [each["name"] for each in references if (each["difference"]["low"] or 0.0) <= 0]
    if not unbeaten:
        return []
    return [f"It does not beat a forecast without a model beyond chance: {', '.join(unbeaten)}."]
