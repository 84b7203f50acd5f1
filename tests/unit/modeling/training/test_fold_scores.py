"""Scores of folds are those of the model as it is delivered: at the costs and the threshold of the problem."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import BASELINE
from app.modeling.training.cross_validation import CrossValidated, cross_validate, score_by_fold
from app.modeling.training.fitting import CandidateSpec
from app.modeling.training.training_set import TrainingSet

from ..frames import problem


def rare_events(rows: int = 1500) -> pd.DataFrame:
    """An event of about one row in twenty whose odds rise with `x`."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    return pd.DataFrame({"x": x, "z": rng.normal(size=rows), "y": rng.random(rows) < 0.04 * np.exp(0.7 * x)})


def judge(estimator: str, run: list[int] | None = None, **request: object) -> CrossValidated:
    frame = rare_events()
    requested = problem(frame, "y", positive_class=True, **request)
    data = TrainingSet.from_frame(frame, requested, FoldPlan(SplitKind.STRATIFIED, 3, 0))
    return cross_validate(data, CandidateSpec(estimator), run=run)


@pytest.mark.parametrize("run", [None, [1]])
def test_a_rare_class_has_an_f1_in_each_fold(run: list[int] | None) -> None:
    judged = judge("Logistic regression", run, metric="f1")
    assert all((scores["f1"] or 0.0) > 0.05 for scores in judged.fold_metrics)


def test_the_naive_model_calls_every_row_positive_for_f1_and_none_for_accuracy() -> None:
    shares = [scores["recall"] for scores in judge(BASELINE, metric="f1").fold_metrics]
    assert shares == [1.0, 1.0, 1.0]
    assert all((scores["accuracy"] or 0.0) > 0.9 for scores in judge(BASELINE, metric="accuracy").fold_metrics)


def test_folds_are_scored_by_the_prices_of_the_mistakes() -> None:
    judged = judge("Logistic regression", metric="cost", costs=(1.0, 20.0))
    scores = [scores["cost"] or 0.0 for scores in judged.fold_metrics]
    # A miss costs 20, and a threshold of 0.5 misses nearly all of the 5 %, for a cost of 1 per row.
    assert all(0.3 < score < 0.9 for score in scores)
    requested = problem(rare_events(), "y", positive_class=True, metric="cost", costs=(1.0, 20.0))
    again = score_by_fold(judged.truth, judged.output, judged.fold, requested)
    assert [again[number]["cost"] for number in range(3)] == scores
