"""The data of figures is bounded and adds up; importance finds what a model leans on."""

import numpy as np
import pytest

from app.modeling.explanation.fold_importance import importance_on_fold
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.curves import calibration, confusion, precision_recall_curve, residuals, roc_curve
from app.modeling.scoring.scores import Predicted
from app.modeling.training.fitting import CandidateSpec
from app.modeling.training.training_set import TrainingSet

from .frames import people, problem

BINARY = Problem("y", ProblemKind.CLASSIFICATION, "roc_auc", classes=("no", "yes"), positive_class="yes")


def judged(rows: int, seed: int = 0) -> Predicted:
    """Probabilities that are true: each row's outcome is drawn with its own."""
    rng = np.random.default_rng(seed)
    share = rng.random(rows)
    return Predicted((rng.random(rows) < share).astype("float64"), np.column_stack([1 - share, share]))


def test_curves_have_at_most_200_points_and_their_ends() -> None:
    roc, precision = roc_curve(judged(5000)), precision_recall_curve(judged(5000))
    assert roc is not None
    assert precision is not None
    assert len(roc["x"]) <= 200
    assert len(precision["x"]) <= 200
    assert (roc["x"][0], roc["y"][0], roc["x"][-1], roc["y"][-1]) == (0, 0, 1, 1)
    assert np.all(np.diff(roc["x"]) >= 0)


def test_a_curve_of_one_class_is_none() -> None:
    one = Predicted(np.zeros(10), np.full((10, 2), 0.5))
    assert roc_curve(one) is None
    assert precision_recall_curve(one) is None


def test_true_probabilities_are_calibrated_and_doubled_ones_are_not() -> None:
    true = judged(5000)
    assert calibration(true)["error"] < 0.03
    said = np.clip(true.positive_share * 2, 0, 1)
    false = Predicted(true.truth, np.column_stack([1 - said, said]))
    assert calibration(false)["error"] > 0.15
    assert sum(part["count"] for part in calibration(true)["bins"]) == 5000


def test_a_confusion_counts_every_row_with_the_stated_threshold() -> None:
    given = judged(300)
    strict = Predicted(given.truth, given.output, threshold=0.9)
    counts = np.array(confusion(strict, BINARY)["counts"])
    assert counts.sum() == 300
    assert counts[:, 1].sum() == (given.positive_share >= 0.9).sum()
    assert confusion(strict, BINARY)["labels"] == ["no", "yes"]


def test_residuals_are_bounded_and_summarised() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=3000)
    facts = residuals(Predicted(truth, truth + 1))
    assert len(facts["points"]) == 200
    assert facts["quantiles"]["0.5"] == pytest.approx(1)
    assert sum(facts["histogram"]["counts"]) == 3000


def test_importance_is_high_for_what_matters_and_none_for_noise() -> None:
    frame = people(400)
    frame["noise"] = np.random.default_rng(5).normal(size=400)
    asked = problem(frame, "left")
    data = TrainingSet.from_frame(frame, asked, FoldPlan(SplitKind.STRATIFIED, 5, 0))
    facts = importance_on_fold(data, CandidateSpec("LogisticRegression"))
    by_name = {entry["column"]: entry for entry in facts["importances"]}
    assert facts["importances"][0]["column"] == "age"
    assert by_name["age"]["helps"]
    assert by_name["age"]["mean"] > 0.1
    assert not by_name["noise"]["helps"]
    assert by_name["name"]["mean"] == pytest.approx(0, abs=1e-9)
