"""What is said of figures on new rows: scores that nobody promised, decay, bounds that fail."""

import numpy as np
import pytest

from app.modeling.evaluation.evaluate_predictions import evaluate_predictions
from app.modeling.evaluation.period_variation import Past
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.prediction_intervals import fit_intervals
from app.modeling.scoring.scores import Predicted

from ..frames import candidate_fit

IN_TIME = Problem("y", ProblemKind.REGRESSION, "mae", time_column="day")
NUMBER = Problem("y", ProblemKind.REGRESSION, "mae")


def drifting(rows: int, growth: float, seed: int = 0) -> tuple[Predicted, Predicted]:
    """A model whose errors grow with time, beside a mean."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=rows) * 10
    said = truth + rng.normal(size=rows) * np.linspace(1, growth, rows)
    return Predicted(truth, said), Predicted(truth, np.zeros(rows))


def test_errors_that_grow_with_time_are_noted_and_widen_the_interval() -> None:
    decaying = evaluate_predictions(*drifting(1200, 4.0), IN_TIME, "hold-out")
    steady = evaluate_predictions(*drifting(1200, 1.0), IN_TIME, "hold-out")
    assert any("The MAE worsens with time" in note for note in decaying["notes"])
    assert "variation between periods" in decaying["interval_method"]
    assert len(decaying["periods"]) == 4
    assert steady["notes"] == []
    held = decaying["metrics"]["mae"]
    assert held["high"] is not None
    later = drifting(1200, 4.0, 1)[0].take(np.arange(900, 1200))
    assert held["high"] > float(np.abs(later.output - later.truth).mean())


def test_a_rule_that_ended_before_the_hold_out_widens_the_interval_too() -> None:
    told = np.random.default_rng(1).normal(size=2400) * 10
    past = Past(told, ((0.29, told[1600:2000]), (0.3, told[2000:])))
    alone = evaluate_predictions(*drifting(800, 1.0), IN_TIME, "hold-out")["metrics"]["mae"]
    widened = evaluate_predictions(*drifting(800, 1.0), IN_TIME, "hold-out", past=past)["metrics"]["mae"]
    assert alone["low"] is not None
    assert widened["low"] is not None
    assert 0 < widened["low"] < alone["low"] - 0.2


def seasonal(rows: int, swing: float) -> np.ndarray:
    """Targets that vary `swing` times as much in the first quarter as afterwards."""
    rng = np.random.default_rng(5)
    return rng.normal(size=rows) * np.where(np.arange(rows) < rows / 4, swing, 1.0) * 10


def test_a_past_with_more_variation_widens_the_interval_and_is_noted() -> None:
    """A season that no fold was judged on: only the targets know of it."""
    predicted, baseline = drifting(800, 1.0)
    steady, wild = (
        evaluate_predictions(predicted, baseline, IN_TIME, "hold-out", past=Past(seasonal(3200, swing)))
        for swing in (1.0, 4.0)
    )
    low, high = (facts["metrics"]["mae"]["high"] or 0 for facts in (steady, wild))
    assert steady["notes"] == []
    assert high > 1.5 * low
    assert [
        note for note in wild["notes"] if "'y' has varied up to" in note and "on future rows expect" in note
    ]


@pytest.mark.parametrize("metric", ["roc_auc", "accuracy", "mcc", "log_loss"])
def test_no_bound_lies_beyond_the_range_of_its_metric(metric: str) -> None:
    """Nearly perfect, in some periods more than in others."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    noise = np.repeat([0.5, 0.7, 0.5, 0.9], 150) * rng.normal(size=600)
    share = 1 / (1 + np.exp(-6 * (truth - 0.5 + noise)))
    predicted = Predicted(truth, np.column_stack([1 - share, share]))
    problem = Problem("y", ProblemKind.CLASSIFICATION, metric, classes=("no", "yes"), time_column="day")
    score = evaluate_predictions(predicted, predicted, problem, "hold-out")["metrics"][metric]
    assert None not in (score["low"], score["high"])
    assert -1 < (score["low"] or 0) < (score["value"] or 0) < (score["high"] or 0)
    assert metric == "log_loss" or (score["high"] or 0) < 1
    assert metric == "mcc" or (score["low"] or 0) > 0


@pytest.mark.parametrize(("promised", "said"), [(0.4, "worse"), (1.5, "better"), (0.76, None)])
def test_a_score_unlike_the_cross_validated_one_is_noted(promised: float, said: str | None) -> None:
    scores = [promised + d for d in (-0.02, 0, 0.02, 0.01, -0.01)]
    fit = candidate_fit("m", scores, score=promised)
    facts = evaluate_predictions(*drifting(500, 1.0), NUMBER, "hold-out", fit=fit, compare=True)
    assert facts["agrees_with_cv"] is (said is None)
    assert [said in note for note in facts["notes"]] == ([True] if said else [])


def test_a_large_spread_of_folds_tolerates_a_difference() -> None:
    fit = candidate_fit("m", [0.2, 1.0, 0.5, 0.7, 0.6], score=0.6)
    assert evaluate_predictions(*drifting(500, 1.0), NUMBER, "hold-out", fit=fit, compare=True)[
        "agrees_with_cv"
    ]


def test_one_fold_agrees_as_often_as_chance_allows() -> None:
    """A fold without an error of its own disagrees in 19 of 100 cases."""
    agreed = 0
    for seed in range(60):
        errors = np.random.default_rng(seed).normal(size=(2, 200))
        fold_score = float(np.abs(errors[0]).mean())
        fit = candidate_fit("m", [fold_score, None, None, None, None], score=fold_score, rows=1000)
        predicted = Predicted(np.zeros(200), errors[1])
        facts = evaluate_predictions(predicted, predicted, NUMBER, "hold-out", fit=fit, compare=True)
        agreed += bool(facts["agrees_with_cv"])
    assert agreed >= 54
    unsized = candidate_fit("m", [fold_score, None], score=fold_score, rows=0)
    facts = evaluate_predictions(predicted, predicted, NUMBER, "hold-out", fit=unsized, compare=True)
    assert facts["agrees_with_cv"] is None


def test_intervals_with_wrong_coverage_are_noted() -> None:
    rng = np.random.default_rng(0)
    fitted = fit_intervals(rng.normal(size=500), np.zeros(500))
    predicted, baseline = drifting(400, 1.0)
    wrong = Predicted(predicted.truth, predicted.truth + 3 * (predicted.output - predicted.truth))
    fit = candidate_fit("m", prediction_intervals=fitted)
    assert evaluate_predictions(predicted, baseline, NUMBER, "hold-out", fit=fit)["notes"] == []
    facts = evaluate_predictions(wrong, baseline, NUMBER, "hold-out", fit=fit)
    assert any("too narrow" in note for note in facts["notes"])
    assert facts["intervals"] is not None
    assert facts["intervals"]["coverage"]["value"] == pytest.approx(0.42, abs=0.08)


def test_groups_that_agree_make_an_interval_as_wide_as_few_rows_would() -> None:
    rng = np.random.default_rng(0)
    off = np.repeat(rng.normal(size=20) * 3, 50)
    predicted = Predicted(np.zeros(1000), off)
    units = IndependentUnits.of_clusters(np.repeat(range(20), 50), UnitKind.GROUPS)
    apart = evaluate_predictions(predicted, predicted, NUMBER, "hold-out")["metrics"]["mae"]
    together = evaluate_predictions(predicted, predicted, NUMBER, "hold-out", units=units)["metrics"]["mae"]
    widths = [(each["high"] or 0) - (each["low"] or 0) for each in (apart, together)]
    assert widths[1] > 4 * widths[0]


@pytest.mark.parametrize(("group_count", "note"), [(1, "have the same 'shop'"), (3, "of 3 groups"), (20, "")])
def test_few_groups_are_noted(group_count: int, note: str) -> None:
    problem = Problem("y", ProblemKind.REGRESSION, "mae", group_column="shop")
    units = IndependentUnits.of_clusters(np.arange(800) % group_count, UnitKind.GROUPS)
    notes = evaluate_predictions(*drifting(800, 1.0), problem, "hold-out", units=units)["notes"]
    assert any("'shop'" in text for text in notes) is bool(note)
    assert not note or any(note in text for text in notes)


@pytest.mark.parametrize(("freedom", "is_noted"), [(1.5, True), (30.0, False)])
def test_few_errors_that_decide_a_squared_score_are_noted(freedom: float, is_noted: bool) -> None:
    rng = np.random.default_rng(0)
    truth = rng.standard_t(freedom, size=800)
    predicted, naive = Predicted(truth, np.zeros(800)), Predicted(truth, np.full(800, 5.0))
    notes = {
        metric: evaluate_predictions(
            predicted, naive, Problem("y", ProblemKind.REGRESSION, metric), "hold-out"
        )["notes"]
        for metric in ("rmse", "mae")
    }
    assert any("half of the squared error of 800 rows" in note for note in notes["rmse"]) == is_noted
    assert notes["mae"] == []


def test_labels_that_all_overlap_are_noted() -> None:
    problem = Problem("y", ProblemKind.REGRESSION, "mae", time_column="day", horizon=12)
    facts = evaluate_predictions(*drifting(20, 1.0), problem, "hold-out")
    assert facts["metrics"]["mae"]["low"] is None
    assert not facts["beats_baseline"]
    assert any("count as one observation" in text for text in facts["notes"])


def test_a_model_worse_than_the_baseline_is_noted() -> None:
    predicted, baseline = drifting(300, 1.0)
    facts = evaluate_predictions(baseline, predicted, NUMBER, "hold-out")
    assert not facts["beats_baseline"]
    assert facts["notes"] == ["It is worse than the naive baseline on these rows."]
