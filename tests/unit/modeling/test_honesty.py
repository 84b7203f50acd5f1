"""With a fault planted, scores do not flatter; without one, they find what is there."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.evaluation.evaluate_predictions import evaluate_predictions
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted
from app.modeling.splits.split import choose_kind
from app.modeling.training.cross_validation import CrossValidated, cross_validate
from app.modeling.training.fitting import CandidateSpec
from app.modeling.training.training_set import TrainingSet

from .frames import candidate_fit, houses, people, problem, series

QUICK = {
    "RandomForest": {"n_estimators": 30},
    "ExtraTrees": {"n_estimators": 30},
    "GradientBoosting": {"max_iter": 40},
}


def judged(frame: pd.DataFrame, asked: Problem, estimator: str, recipe: list | None = None) -> CrossValidated:
    plan = FoldPlan(choose_kind(asked)[0], 5, 0)
    spec = CandidateSpec(estimator, QUICK.get(estimator, {}), recipe or [])
    return cross_validate(TrainingSet.from_frame(frame, asked, plan), spec)


def score(frame: pd.DataFrame, asked: Problem, estimator: str, recipe: list | None = None) -> float:
    found = judged(frame, asked, estimator, recipe).mean(asked.metric)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "estimator", ["LogisticRegression", "RandomForest", "ExtraTrees", "GradientBoosting", "XGBoost"]
)
def test_a_real_signal_is_found(estimator: str) -> None:
    frame = people(400)
    assert score(frame, problem(frame, "left"), estimator) > 0.85


@pytest.mark.parametrize("estimator", ["Ridge", "RandomForest", "ExtraTrees", "GradientBoosting", "XGBoost"])
def test_a_price_is_predicted_far_better_than_by_its_mean(estimator: str) -> None:
    frame = houses(400)
    asked = problem(frame, "price")
    assert score(frame, asked, estimator) < 0.45 * score(frame, asked, "baseline")


@pytest.mark.parametrize("estimator", ["LogisticRegression", "RandomForest", "XGBoost"])
def test_a_shuffled_target_gives_a_score_of_chance(estimator: str) -> None:
    frame = people(500)
    frame["left"] = np.random.default_rng(3).permutation(frame["left"])
    assert abs(score(frame, problem(frame, "left"), estimator) - 0.5) < 0.08


def test_features_that_are_learned_from_noise_give_a_score_of_chance() -> None:
    """What is learned from 80 places and 30 numbers of 300 rows would look like a signal on its own rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 30))).add_prefix("x")
    frame["place"] = rng.choice([f"p{number}" for number in range(80)], 300)
    frame["y"] = rng.integers(0, 2, 300)
    recipe = [
        {"op": "frequency", "columns": ["place"]},
        {"op": "group_rare", "columns": ["place"]},
        {"op": "clip", "columns": [f"x{number}" for number in range(30)]},
    ]
    assert abs(score(frame, problem(frame, "y"), "LogisticRegression", recipe) - 0.5) < 0.1


def test_rows_of_one_group_do_not_leak_to_each_other() -> None:
    """Each customer has one outcome and a fingerprint: rows at random look perfect, groups show the truth."""
    rng = np.random.default_rng(0)
    customer = np.repeat(np.arange(60), 8)
    prints = rng.normal(size=(60, 4))
    frame = pd.DataFrame(prints[customer] + rng.normal(scale=0.01, size=(480, 4))).add_prefix("x")
    frame["customer_id"] = customer
    frame["y"] = rng.integers(0, 2, 60)[customer]
    grouped = problem(frame, "y")
    assert grouped.group_column == "customer_id"
    at_random = problem(frame.rename(columns={"customer_id": "c"}), "y", exclude=["c"])
    assert score(frame.rename(columns={"customer_id": "c"}), at_random, "RandomForest") > 0.95
    assert score(frame, grouped, "RandomForest") < 0.7


def test_a_random_walk_is_not_predicted_better_than_by_its_last_value() -> None:
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=500, freq="D")
    frame = pd.DataFrame({"day": days, "price": 100 + rng.normal(size=500).cumsum()})
    asked = problem(frame, "price", horizon=1)
    recipe = [{"op": "lags", "columns": ["price"], "periods": [1, 2, 3]}]
    persistence = score(frame, asked, "baseline")
    assert persistence == pytest.approx(1.0, abs=0.15)
    assert score(frame, asked, "GradientBoosting", recipe) > 0.97 * persistence


def test_a_rhythm_in_time_is_found_from_the_past_alone() -> None:
    frame = series(300)
    asked = problem(frame, "sales", horizon=1)
    recipe = [{"op": "lags", "columns": ["sales"], "periods": [1, 2, 3, 6]}]
    assert score(frame, asked, "Ridge", recipe) < 0.3 * score(frame, asked, "baseline")


def test_every_label_is_predicted_by_a_model_not_trained_on_it() -> None:
    frame = people(200)
    asked = problem(frame, "left")
    frame["noise"] = np.random.default_rng(0).random(200)
    found = judged(frame, asked, "RandomForest")
    assert found.tested.all()
    assert np.unique(found.fold).tolist() == [0, 1, 2, 3, 4]


def test_the_same_seed_gives_the_same_scores() -> None:
    frame = people(200)
    asked = problem(frame, "left")
    for estimator in ("RandomForest", "XGBoost", "GradientBoosting"):
        assert judged(frame, asked, estimator).fold_metrics == judged(frame, asked, estimator).fold_metrics


def of(truth: np.ndarray, share: np.ndarray) -> Predicted:
    return Predicted(truth, np.column_stack([1 - share, share]))


def test_an_evaluation_says_when_the_baseline_is_not_beaten_and_when_cross_validation_promised_more() -> None:
    rng = np.random.default_rng(0)
    asked = problem(people(), "left")
    truth = rng.integers(0, 2, 200).astype("float64")
    chance, naive = of(truth, rng.random(200)), of(truth, np.full(200, 0.5))
    promised = candidate_fit("m", [0.89, 0.9, 0.91, 0.9, 0.9])
    facts = evaluate_predictions(chance, naive, asked, "hold-out", fit=promised, compare=True)
    assert not facts["beats_baseline"]
    assert facts["agrees_with_cv"] is False
    assert len(facts["notes"]) == 2
    assert "worse than in cross-validation" in facts["notes"][1]


def test_an_evaluation_of_a_good_model_has_no_notes() -> None:
    rng = np.random.default_rng(0)
    asked = problem(people(), "left")
    truth = rng.integers(0, 2, 300).astype("float64")
    good, naive = of(truth, np.clip(0.35 * truth + 0.65 * rng.random(300), 0, 1)), of(truth, np.full(300, 0.5))
    facts = evaluate_predictions(good, naive, asked, "hold-out")
    assert facts["beats_baseline"]
    assert facts["notes"] == []
    low, value, high = (facts["metrics"]["roc_auc"][key] for key in ("low", "value", "high"))  # type: ignore[literal-required]
    assert low is not None
    assert value is not None
    assert high is not None
    assert low < value < high
    assert np.sum(facts["confusion"]["counts"]) == 300  # type: ignore[index]


@pytest.mark.parametrize("estimator", ["XGBoost", "LogisticRegression", "GradientBoosting", "RandomForest"])
def test_a_class_that_comes_only_later_in_time_breaks_no_fold(estimator: str) -> None:
    frame = series(200)
    frame["mood"] = np.where(frame.index > 150, "new", np.where(frame["sales"] > 100, "high", "low"))
    asked = problem(frame, "mood", time_column="day", metric="accuracy")
    assert score(frame, asked, estimator) > 0.5
