"""What is said of figures on new rows: scores that nobody promised, decay, bounds that fail."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.evaluation import evaluate
from app.modeling.prediction_intervals import fit_intervals
from app.modeling.problem import Kind, Problem
from app.modeling.scores import Predicted

IN_TIME = Problem("y", Kind.REGRESSION, "mae", time_column="day")
NUMBER = Problem("y", Kind.REGRESSION, "mae")


def drifting(rows: int, growth: float, seed: int = 0) -> tuple[Predicted, Predicted]:
    """A model whose errors grow with time, beside a mean."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=rows) * 10
    said = truth + rng.normal(size=rows) * np.linspace(1, growth, rows)
    return Predicted(truth, said), Predicted(truth, np.zeros(rows))


def test_errors_that_grow_with_time_are_said_and_widen_the_interval() -> None:
    decaying = evaluate(*drifting(1200, 4.0), IN_TIME, "hold-out")
    steady = evaluate(*drifting(1200, 1.0), IN_TIME, "hold-out")
    assert any("worsens with time" in note for note in decaying["notes"])
    assert "period to period" in decaying["interval_method"]
    assert len(decaying["periods"]) == 4
    assert steady["notes"] == []
    held = decaying["metrics"]["mae"]
    assert held["high"] is not None
    later = drifting(1200, 4.0, 1)[0].take(np.arange(900, 1200))
    assert held["high"] > float(np.abs(later.output - later.truth).mean())


def test_a_rule_that_ended_before_the_hold_out_widens_the_interval_too() -> None:
    fit = {"name": "m", "score": 0.3, "fold_scores": [0.3, 0.31, 0.29, 0.3, 0.3]}
    alone = evaluate(*drifting(800, 1.0), IN_TIME, "hold-out", compare=True)["metrics"]["mae"]
    after = evaluate(*drifting(800, 1.0), IN_TIME, "hold-out", fit=fit, compare=True)
    assert after["agrees_with_cv"] is not None
    widened = after["metrics"]["mae"]
    assert widened["low"] is not None
    assert alone["low"] is not None
    assert widened["low"] < alone["low"] - 0.2


@pytest.mark.parametrize(("promised", "said"), [(0.4, "worse"), (1.5, "better"), (0.76, None)])
def test_a_score_that_cross_validation_did_not_promise_is_said(promised: float, said: str | None) -> None:
    fit = {"name": "m", "score": promised, "fold_scores": [promised + d for d in (-0.02, 0, 0.02, 0.01, -0.01)]}
    facts = evaluate(*drifting(500, 1.0), NUMBER, "hold-out", fit=fit, compare=True)
    assert facts["agrees_with_cv"] is (said is None)
    assert [said in note for note in facts["notes"]] == ([True] if said else [])


def test_folds_that_differ_much_forgive_a_difference() -> None:
    fit = {"name": "m", "score": 0.6, "fold_scores": [0.2, 1.0, 0.5, 0.7, 0.6]}
    assert evaluate(*drifting(500, 1.0), NUMBER, "hold-out", fit=fit, compare=True)["agrees_with_cv"]


def test_bounds_that_do_not_hold_are_said() -> None:
    rng = np.random.default_rng(0)
    fitted = fit_intervals(rng.normal(size=500), np.zeros(500))
    predicted, baseline = drifting(400, 1.0)
    wrong = Predicted(predicted.truth, predicted.truth + 3 * (predicted.output - predicted.truth))
    fit = {"name": "m", "prediction_intervals": fitted}
    assert evaluate(predicted, baseline, NUMBER, "hold-out", fit=fit)["notes"] == []
    facts = evaluate(wrong, baseline, NUMBER, "hold-out", fit=fit)
    assert any("too narrow" in note for note in facts["notes"])
    assert facts["intervals"] is not None
    assert facts["intervals"]["coverage"]["value"] == pytest.approx(0.42, abs=0.08)


def test_groups_that_agree_make_an_interval_as_wide_as_few_rows_would() -> None:
    rng = np.random.default_rng(0)
    off = np.repeat(rng.normal(size=20) * 3, 50)
    predicted = Predicted(np.zeros(1000), off)
    names = pd.Series(np.repeat(range(20), 50))
    apart = evaluate(predicted, predicted, NUMBER, "hold-out")["metrics"]["mae"]
    together = evaluate(predicted, predicted, NUMBER, "hold-out", groups=names)["metrics"]["mae"]
    widths = [(each["high"] or 0) - (each["low"] or 0) for each in (apart, together)]
    assert widths[1] > 4 * widths[0]


def test_a_model_that_is_worse_than_the_baseline_is_called_so() -> None:
    predicted, baseline = drifting(300, 1.0)
    facts = evaluate(baseline, predicted, NUMBER, "hold-out")
    assert not facts["beats_baseline"]
    assert facts["notes"] == ["It is worse than the naive baseline on these rows."]
