"""The paired difference of two models on one hold-out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.modeling.evaluation.holdout_outputs import MemberOutputs, make_outputs
from app.modeling.evaluation.paired_holdout import compare_on_holdout, find_obstacle
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted

NUMBERS = Problem("price", ProblemKind.REGRESSION, "rmse")
CLASSES = Problem("kept", ProblemKind.CLASSIFICATION, "roc_auc", classes=("no", "yes"), positive_class="yes")


def member(problem: Problem, truth: np.ndarray, output: np.ndarray, holdout: pd.DataFrame) -> MemberOutputs:
    predicted = Predicted.from_problem(problem, truth, output)
    return MemberOutputs(problem, None, holdout, make_outputs(predicted, np.arange(len(truth))))


def price_pair(noise: float, rows: int = 400) -> tuple[MemberOutputs, MemberOutputs]:
    """Two models whose errors are alike but for noise of their own, which makes the second worse."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=rows)
    shared = truth + rng.normal(scale=1.0, size=rows)
    holdout = pd.DataFrame({"price": truth, "size": rng.normal(size=rows)})
    first = member(NUMBERS, truth, shared, holdout)
    second = member(NUMBERS, truth, shared + rng.normal(scale=noise, size=rows), holdout)
    return first, second


def test_a_difference_much_smaller_than_both_intervals_is_found_by_pairing() -> None:
    facts = compare_on_holdout(*price_pair(0.5), seed=1, looks=2)
    difference = facts["metrics"]["rmse"]
    assert facts["rows"] == 400
    assert facts["better"]["rmse"] == "first"
    assert 0 < difference["low"] < difference["value"] < difference["high"] < 0.3
    assert facts["level"] == 0.95


def test_both_scores_stand_beside_their_difference() -> None:
    facts = compare_on_holdout(*price_pair(0.5), seed=1, looks=2)
    assert set(facts["scores"]) == set(facts["metrics"])
    scores, difference = facts["scores"]["rmse"], facts["metrics"]["rmse"]
    assert scores["first"] is not None
    assert scores["second"] is not None
    assert scores["first"] == pytest.approx(1.0, abs=0.1)
    assert scores["second"] - scores["first"] == pytest.approx(difference["value"], abs=1e-4)


def test_equal_models_do_not_differ() -> None:
    first, _ = price_pair(0.5)
    facts = compare_on_holdout(first, first, seed=1, looks=2)
    assert set(facts["better"].values()) == {None}
    assert facts["metrics"]["rmse"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_the_intervals_of_all_pairs_of_three_looks_hold_together() -> None:
    two, three = (compare_on_holdout(*price_pair(0.5), seed=1, looks=looks) for looks in (2, 3))
    assert three["level"] == pytest.approx(1 - 0.05 / 3)
    narrow, wide = two["metrics"]["rmse"], three["metrics"]["rmse"]
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]


def test_probabilities_are_compared_with_the_threshold_of_each_model() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 300).astype(float)
    share = np.clip(0.3 * truth + rng.uniform(0, 0.7, 300), 0, 1)
    holdout = pd.DataFrame({"kept": np.where(truth == 1, "yes", "no")})
    first = member(CLASSES, truth, np.column_stack([1 - share, share]), holdout)
    second = replace(first, threshold=0.9)
    facts = compare_on_holdout(first, second, seed=1, looks=2)
    assert facts["metrics"]["roc_auc"]["value"] == 0
    assert facts["metrics"]["recall"]["value"] < 0
    assert facts["better"]["recall"] == "first"


def test_rows_that_differ_are_not_paired_and_the_reason_is_given() -> None:
    first, second = price_pair(0.5)
    fewer = replace(second, holdout=second.holdout.head(399))
    assert "different rows (400 and 399)" in (find_obstacle(first, fewer) or "")
    shuffled = replace(second, holdout=second.holdout.sample(frac=1, random_state=1).reset_index(drop=True))
    assert "different rows of equal number" in (find_obstacle(first, shuffled) or "")
    other = replace(second, problem=replace(NUMBERS, target="size"))
    assert "They predict different things" in (find_obstacle(first, other) or "")
    assert compare_on_holdout(first, fewer, seed=1, looks=2)["metrics"] == {}
    narrower = replace(second, holdout=second.holdout[["price"]])
    assert find_obstacle(first, narrower) is None


def test_costs_are_compared_only_where_both_count_them_alike() -> None:
    truth = np.array([0.0, 1.0, 0.0, 1.0])
    output = np.array([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3], [0.1, 0.9]])
    holdout = pd.DataFrame({"kept": ["no", "yes", "no", "yes"]})
    costly = replace(CLASSES, metric="cost", costs=(1.0, 5.0))
    first = member(costly, truth, output, holdout)
    assert "cost" in compare_on_holdout(first, first, seed=1, looks=2)["metrics"]
    second = replace(first, problem=replace(costly, costs=(1.0, 2.0)))
    assert "cost" not in compare_on_holdout(first, second, seed=1, looks=2)["metrics"]
