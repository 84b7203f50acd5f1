"""Scores of persons at one cutoff: their interval is that of the next one, with its own chance and change."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.evaluation.evaluate_predictions import evaluate_predictions
from app.modeling.evaluation.period_variation import Past
from app.modeling.evaluation.single_periods import find_past
from app.modeling.facts.computation_facts import EvaluationFacts
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.scores import SCORERS, Predicted

from ..frames import candidate_fit

SPENDING = Problem(
    "spent",
    ProblemKind.REGRESSION,
    "rmse",
    time_column="cutoff",
    group_column="customer",
    exclude=("customer",),
)
PERSONS = 120


def make_periods(seed: int, count: int, spread: float) -> list[Predicted]:
    """Periods whose errors differ in size by `spread`, a standard deviation of their logarithm."""
    draw = np.random.default_rng(seed)
    sizes = np.exp(spread * draw.normal(size=count))
    return [
        Predicted(truth, truth + size * draw.normal(size=PERSONS))
        for size in sizes
        if (truth := 3 * draw.normal(size=PERSONS)) is not None
    ]


def evaluate(periods: list[Predicted], folds: int) -> EvaluationFacts:
    """Evaluate the last period, after the others."""
    *earlier, last = periods
    scored = tuple((SCORERS["rmse"](period), period.truth) for period in earlier)
    targets = tuple(period.truth for period in earlier)
    past = Past(np.concatenate(targets), scored[len(scored) - folds :], targets)
    units = IndependentUnits.of_clusters(np.arange(PERSONS), UnitKind.GROUPS)
    naive = Predicted(last.truth, np.zeros(PERSONS))
    return evaluate_predictions(last, naive, SPENDING, "hold-out", units=units, past=past)


@pytest.mark.parametrize(("spread", "minimum"), [(0.0, 35), (0.05, 35), (0.2, 32)])
def test_the_interval_holds_the_score_of_the_next_period(spread: float, minimum: int) -> None:
    """Of 40 shops. An interval of chance alone holds 33, 27 and 11 of them."""
    held = 0
    for seed in range(40):
        *known, later = make_periods(seed, 6, spread)
        score = evaluate(known, folds=4)["metrics"]["rmse"]
        assert score["low"] is not None
        assert score["high"] is not None
        held += score["low"] <= SCORERS["rmse"](later) <= score["high"]
    assert held >= minimum


def test_the_parts_of_one_period_are_no_periods() -> None:
    """Persons in the order of their numbers: those who were there first have larger errors."""
    draw = np.random.default_rng(2)
    order = np.linspace(3, 0.2, PERSONS)
    periods = [Predicted(np.zeros(PERSONS), order * draw.normal(size=PERSONS)) for _ in range(5)]
    facts = evaluate(periods, folds=3)
    assert len(facts["periods"]) == 4
    score = facts["metrics"]["rmse"]
    assert score["low"] is not None
    assert score["value"] is not None
    assert score["low"] > 0.5 * score["value"]
    assert not any("worsens" in note for note in facts["notes"])


def test_a_score_that_worsens_from_period_to_period_is_noted() -> None:
    draw = np.random.default_rng(2)
    periods = [Predicted(np.zeros(PERSONS), size * draw.normal(size=PERSONS)) for size in (1, 1.5, 2, 3, 4)]
    notes = evaluate(periods, folds=4)["notes"]
    assert any(
        "worsens with time: " in note and "in the first period that was judged" in note for note in notes
    )


@pytest.mark.parametrize(
    ("folds", "note"), [(3, "by how much 4 of them differed"), (1, "by how much 5 of them")]
)
def test_the_report_names_what_the_interval_rests_on(folds: int, note: str) -> None:
    """With a single fold the targets of all periods tell by how much they differ."""
    notes = evaluate(make_periods(1, 5, 0.1), folds)["notes"]
    [text] = [text for text in notes if note in text]
    assert "interval of the RMSE is that of the next 'cutoff'" in text
    assert "rests on the next period being like these" in text


def test_two_periods_do_not_tell_by_how_much_they_differ() -> None:
    notes = evaluate(make_periods(1, 2, 0.1), 1)["notes"]
    assert any("these rows are of too few times to tell" in note for note in notes)


@pytest.mark.parametrize(("moments", "sizes"), [(1, [4, 4, 4]), (2, [4, 8])])
def test_the_past_has_periods_of_as_many_moments_as_the_hold_out(moments: int, sizes: list[int]) -> None:
    days = np.repeat([f"2024-0{month}-01" for month in range(1, 6)], 4)
    rows = pd.DataFrame({"cutoff": days, "customer": np.tile(list("abcd"), 5), "spent": np.arange(20.0)})
    train, holdout = rows.iloc[:12], rows.iloc[12 : 12 + 4 * moments]
    fit = candidate_fit("m", [0.5, None], problem=SPENDING.to_json())
    units = IndependentUnits.of_clusters(np.arange(len(holdout)), UnitKind.GROUPS)
    past = find_past(train, fit, holdout, units)
    assert [len(period) for period in past.periods] == sizes
    assert np.concatenate(past.periods).tolist() == rows["spent"].iloc[:12].tolist()
    alone = find_past(train, fit, holdout, IndependentUnits.of_moments(np.arange(len(holdout))))
    assert alone.periods == ()
