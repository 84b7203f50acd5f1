"""Which folds are fitted in one job."""

from dataclasses import replace

import pytest

from app.modeling.facts.fits import FitSummary
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.tools.fits.more_fits import folds_within, missing_runs

QUICK = FitSummary(
    name="A",
    estimator="Ridge",
    metric="r2",
    folds=FoldPlan(SplitKind.RANDOM, 10),
    run=[0, 1],
    fit_s=0.5,
)


def test_missing_folds_are_split_into_jobs_of_equal_size():
    assert list(missing_runs(QUICK, None, 4)) == [[2, 3, 4, 5], [6, 7, 8, 9]]
    assert list(missing_runs(QUICK, [1, 2, 3], 1)) == [[2], [3]]
    assert list(missing_runs(QUICK, [], 4)) == [[]]
    assert list(missing_runs(replace(QUICK, refitted=True), [], 4)) == []


@pytest.mark.parametrize(("fit_s", "size"), [(0.5, 8), (4.0, 1), (400.0, 1)])
def test_the_folds_of_a_job_fit_into_its_seconds(fit_s, size):
    assert folds_within(2.0, replace(QUICK, fit_s=fit_s)) == size
