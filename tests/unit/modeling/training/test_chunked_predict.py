import numpy as np
import pandas as pd
import pytest

from app.modeling.recipe.recipe import select_inputs
from app.modeling.training import chunked_predict
from app.modeling.training.ensemble.average import average_models
from app.modeling.training.fitting import CandidateSpec, fit, predict_all
from app.modeling.training.training_set import TrainingSet

from ..frames import people, problem, series

LOOKING_BACK = [
    {"op": "lags", "columns": ["sales"], "periods": [1, 7]},
    {"op": "rolling", "columns": ["sales"], "windows": [14], "statistics": ["mean"]},
]


@pytest.mark.parametrize("shops", [1, 3])
@pytest.mark.parametrize("shuffled", [False, True])
def test_chunked_predictions_equal_predictions_in_one_batch(
    shops: int, shuffled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = series(6000 // shops, shops=shops)
    wish = {"group_column": "shop"} if shops > 1 else {}
    asked = problem(frame, "sales", time_column="day", horizon=1, **wish)
    taught, later = frame.iloc[:2000], select_inputs(frame.iloc[2000:], asked)
    if shuffled:
        later = later.sample(frac=1, random_state=0)
    data = TrainingSet.from_frame(taught, asked)
    models = [fit(data, CandidateSpec("Ridge", recipe=recipe)) for recipe in (LOOKING_BACK, LOOKING_BACK[:1])]
    model = average_models([(one, 0.5) for one in models], asked)
    whole = predict_all(model, later, asked)
    monkeypatch.setattr(chunked_predict, "MAX_CELLS", 4_000)
    np.testing.assert_allclose(predict_all(model, later, asked), whole, rtol=1e-6)


def test_rows_without_time_are_chunked_in_file_order(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(2500)
    asked = problem(frame, "left")
    model = fit(TrainingSet.from_frame(frame, asked), CandidateSpec("LogisticRegression"))
    whole = predict_all(model, select_inputs(frame, asked), asked)
    seen = []

    def say(rows: pd.DataFrame) -> np.ndarray:
        seen.append(len(rows))
        said: np.ndarray = model.predict_proba(rows)
        return said

    monkeypatch.setattr(chunked_predict, "MAX_CELLS", 4_000)
    np.testing.assert_allclose(
        chunked_predict.predict_in_chunks(model, select_inputs(frame, asked), say), whole
    )
    assert seen == [1000, 1000, 500]
