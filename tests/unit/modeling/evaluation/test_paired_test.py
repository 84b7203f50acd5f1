"""Two candidates told apart by the rows that both judged."""

import numpy as np
import pandas as pd

from app.modeling.evaluation.paired_test import PairedBootstrap
from app.modeling.problem_definition.resolve_problem import resolve_problem

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
