"""Scores of the naive model: by the problem's metric at its own threshold, else of the commonest class."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.evaluation.evaluate_predictions import evaluate_predictions
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.scoring.scores import Predicted

ROWS, POSITIVES = 300, 90


@pytest.mark.parametrize("metric", ["roc_auc", "f1"])
def test_the_accuracy_of_the_naive_model_is_that_of_the_commonest_class(metric: str) -> None:
    truth = (np.arange(ROWS) < POSITIVES).astype(int)
    frame = pd.DataFrame({"x": np.arange(ROWS) % 7, "y": truth})
    problem = resolve_problem(frame, {"target": "y", "metric": metric})
    chance = np.full((ROWS, 2), (1 - POSITIVES / ROWS, POSITIVES / ROWS))
    # A threshold of the best F1 lies below what the naive model says of every row.
    naive = Predicted.from_problem(problem, truth, chance, threshold=0.1)
    scores = evaluate_predictions(naive, naive, problem, "hold-out")["baseline"]
    assert scores["accuracy"] == pytest.approx(1 - POSITIVES / ROWS)
    best_f1 = 2 * POSITIVES / (POSITIVES + ROWS)
    assert scores["f1"] == pytest.approx(best_f1 if metric == "f1" else 0.0, abs=1e-3)
