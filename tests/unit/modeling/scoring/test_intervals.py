"""Bootstrap intervals: coverage, and draws by blocks, groups or rows."""

from dataclasses import replace

import numpy as np
import pandas as pd

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.intervals import bootstrap, make_resampling
from app.modeling.scoring.scores import Predicted

NUMBER = Problem("y", ProblemKind.REGRESSION, "mae")
IN_TIME = Problem("y", ProblemKind.REGRESSION, "mae", time_column="day", horizon=2)


def test_about_95_of_100_intervals_cover_the_truth() -> None:
    covered = 0
    expected = float(np.sqrt(2 / np.pi))
    for seed in range(100):
        rng = np.random.default_rng(seed)
        predicted = Predicted(np.zeros(80), rng.normal(size=80))
        scheme = make_resampling(80, NUMBER)
        quick_scheme = replace(scheme, resamples=400)
        intervals, _ = bootstrap(predicted, predicted, NUMBER, quick_scheme, seed)
        low, high = intervals["mae"]["low"], intervals["mae"]["high"]
        assert low is not None
        assert high is not None
        covered += low <= expected <= high
    assert 86 <= covered <= 99


def test_neighbours_in_time_are_drawn_in_blocks() -> None:
    positions = make_resampling(100, IN_TIME).draw(np.random.default_rng(0))
    assert len(positions) == 100
    assert (np.diff(positions) == 1).mean() > 0.7
    assert "blocks of 5 rows" in make_resampling(100, IN_TIME).method


def test_groups_are_drawn_whole() -> None:
    groups = pd.Series(np.repeat(["a", "b", "c"], [5, 3, 2]), index=range(50, 60))
    positions = make_resampling(10, NUMBER, groups).draw(np.random.default_rng(0))
    counts = np.bincount(positions, minlength=10)
    assert len(set(counts[:5])) == len(set(counts[5:8])) == len(set(counts[8:])) == 1


def test_large_hold_outs_take_fewer_resamples() -> None:
    assert make_resampling(100, NUMBER).resamples == 1000
    assert make_resampling(1_000_000, NUMBER).resamples == 100
    assert "normal bootstrap" in make_resampling(1_000_000, NUMBER).method
