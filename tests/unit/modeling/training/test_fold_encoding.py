"""Test rows of a fold are encoded with the rows around them."""

import numpy as np
import pytest

from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.training import cross_validation
from app.modeling.training.cross_validation import cross_validate
from app.modeling.training.fitting import CandidateSpec
from app.modeling.training.training_set import TrainingSet

from ..frames import problem, series


def test_lags_of_scored_rows_reach_into_rows_that_are_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = series(300)
    requested = problem(frame, "sales", horizon=1)
    data = TrainingSet.from_frame(frame, requested, FoldPlan(SplitKind.TIME, 3, 0))
    # A family that does not stop by the scored rows, so that the model is the same.
    spec = CandidateSpec(
        "RandomForest", {"n_estimators": 20}, recipe=[{"op": "lags", "columns": ["sales"], "periods": [1, 6]}]
    )
    every_row = cross_validate(data, spec)
    monkeypatch.setattr(cross_validation, "MAX_TEST_ROWS", 20)
    some_rows = cross_validate(data, spec)
    assert some_rows.tested.sum() == 60
    np.testing.assert_allclose(some_rows.output[some_rows.tested], every_row.output[some_rows.tested])
