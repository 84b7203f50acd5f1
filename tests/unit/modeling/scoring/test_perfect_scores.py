"""A hold-out without an error has an interval with a width, and a note."""

import numpy as np
import pytest
from scipy import stats

from app.modeling.evaluation.evaluate_predictions import evaluate_predictions
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.perfect_scores import unseen_error_share
from app.modeling.scoring.scores import Predicted


def evaluate_right_predictions(positives: int, rows: int):
    problem = Problem(
        "y", ProblemKind.CLASSIFICATION, metric="roc_auc", classes=("no", "yes"), positive_class="yes"
    )
    truth = (np.arange(rows) < positives).astype(float)
    right = Predicted(truth, np.column_stack([1 - truth, truth]))
    naive = Predicted(truth, np.full((rows, 2), 0.5))
    return evaluate_predictions(right, naive, problem, "hold-out")


def test_perfect_shares_have_the_exact_bound_of_their_rows_or_of_the_rarest_class() -> None:
    facts = evaluate_right_predictions(positives=40, rows=200)
    scores = facts["metrics"]
    assert scores["accuracy"]["low"] == pytest.approx(stats.beta.ppf(0.025, 200, 1), rel=1e-3)
    assert scores["roc_auc"]["low"] == pytest.approx(stats.beta.ppf(0.025, 40, 1), rel=1e-3)
    assert scores["roc_auc"]["high"] == 1.0
    assert facts["notes"][0].startswith("None of these 200 rows is predicted wrong.")


def test_the_share_of_unseen_errors_is_about_3_7_divided_by_the_rows() -> None:
    assert unseen_error_share(1000) == pytest.approx(3.7 / 1000, rel=0.01)
