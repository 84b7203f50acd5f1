"""Two candidates told apart by the rows that both judged."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.evaluation.paired_test import PairedBootstrap
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind

from ..frames import candidate_fit

ROWS = 4000
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, ROWS)
PROBLEM = resolve_problem(
    pd.DataFrame({"x": np.arange(ROWS), "y": TRUTH}), {"target": "y", "metric": "roc_auc"}
)


def said(strength: float, rows: slice = slice(None)) -> pd.DataFrame:
    share = 1 / (1 + np.exp(-(strength * (TRUTH - 0.5) + RNG.normal(size=ROWS))))
    frame = pd.DataFrame({"fold": 0, "truth": TRUTH, "p_0": 1 - share, "p_1": share})
    return frame.iloc[rows]


APART = PairedBootstrap(
    {"good": said(2.0), "same": said(2.0), "bad": said(0.5), "guess": said(0.0), "few": said(2.0, slice(0, 1))},
    PROBLEM,
    seed=0,
)


def test_a_paired_difference_is_distinguished_and_equal_candidates_are_not() -> None:
    low, middle, high = APART(candidate_fit("good"), candidate_fit("bad"))
    assert low is not None
    assert middle is not None
    assert high is not None
    assert 0 < low < middle < high
    low, _, high = APART(candidate_fit("good"), candidate_fit("same"))
    assert low is not None
    assert high is not None
    assert low < 0 < high


def test_swapping_candidates_negates_the_difference() -> None:
    bad, guess = candidate_fit("bad"), candidate_fit("guess")
    forward, backward = APART(bad, guess), APART(guess, bad)
    assert forward[1] == -(backward[1] or 0.0)


def test_without_common_rows_there_is_no_interval() -> None:
    assert APART(candidate_fit("few"), candidate_fit("good")) == (None, None, None)


def test_intervals_cover_the_true_difference_at_their_level() -> None:
    covered = 0
    for seed in range(40):
        two = {"a": said(1.0), "b": said(1.0)}
        low, _, high = PairedBootstrap(two, PROBLEM, seed)(candidate_fit("a"), candidate_fit("b"))
        covered += (low or 0.0) <= 0 <= (high or 0.0)
    assert covered >= 34


def err_by_group(groups: np.ndarray, seed: int) -> pd.DataFrame:
    """Out-of-fold predictions of 0 whose errors have a part that all rows of a group share."""
    rng = np.random.default_rng(seed)
    errors = rng.normal(size=groups.max() + 1)[groups] + rng.normal(size=len(groups))
    return pd.DataFrame({"fold": 0, "truth": np.zeros(len(groups)), "prediction": errors})


@pytest.mark.parametrize(("group_count", "rows"), [(40, 50), (6, 100)])
def test_models_that_err_alike_within_groups_are_rarely_told_apart_by_chance(
    group_count: int, rows: int
) -> None:
    groups = np.repeat(np.arange(group_count), rows)
    problem = Problem("y", ProblemKind.REGRESSION, "mae", group_column="shop")
    units = IndependentUnits.of_clusters(groups, UnitKind.GROUPS)
    false_alarms = 0
    for seed in range(40):
        two = {name: err_by_group(groups, 100 * seed + place) for place, name in enumerate("ab")}
        low, _, high = PairedBootstrap(two, problem, seed, units)(candidate_fit("a"), candidate_fit("b"))
        assert low is not None
        assert high is not None
        false_alarms += not low <= 0 <= high
    # Drawn row by row, 54 % and 60 % of such pairs are said to differ.
    assert false_alarms <= 5


def test_a_single_group_tells_no_models_apart() -> None:
    groups = np.zeros(200, dtype=int)
    two = {name: err_by_group(groups, place) for place, name in enumerate("ab")}
    problem = Problem("y", ProblemKind.REGRESSION, "mae", group_column="shop")
    units = IndependentUnits.of_clusters(groups, UnitKind.GROUPS)
    assert PairedBootstrap(two, problem, 0, units)(candidate_fit("a"), candidate_fit("b")) == (None, None, None)


def test_the_step_of_a_forecast_is_not_what_it_predicts() -> None:
    generator = np.random.default_rng(3)
    truth, steps = generator.normal(size=600), np.tile([1, 2, 3], 200)
    problem = resolve_problem(pd.DataFrame({"x": steps, "y": truth}), {"target": "y", "metric": "mae"})
    frames = {
        name: pd.DataFrame(
            {"fold": 0, "truth": truth, "prediction": truth + noise * generator.normal(size=600)}
        )
        for name, noise in (("near", 0.1), ("far", 0.5))
    }
    stepped = {
        name: frame.assign(rows_ahead=steps)[["fold", "truth", "rows_ahead", "prediction"]]
        for name, frame in frames.items()
    }
    pair = candidate_fit("near"), candidate_fit("far")
    assert PairedBootstrap(stepped, problem, 0)(*pair) == PairedBootstrap(frames, problem, 0)(*pair)
