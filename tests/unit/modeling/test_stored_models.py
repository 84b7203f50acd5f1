"""Models in the files of earlier versions: they are loaded, and predict as they did when they were stored.

`tests/e2e/test_stored_data.py` does this with the models of studies; here are the types that those do not hold.
"""

import json
import lzma
from base64 import b64decode
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.modeling.problem.problem import Problem
from app.modeling.training.fitting import predict_all
from app.modeling.training.persistence import deserialize_model

FILES = sorted((Path(__file__).parents[2] / "data").glob("labcrew-*/models/*.json"))


def test_there_are_models_of_an_earlier_version() -> None:
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_stored_model_predicts_as_when_it_was_stored(file: Path) -> None:
    stored = json.loads(file.read_text())
    model = deserialize_model(lzma.decompress(b64decode(stored["model"])))
    rows = pd.DataFrame(stored["rows"])
    predictions = predict_all(model.pipeline, rows, Problem.from_json(model.metadata["problem"]))
    # Linear algebra rounds differently on other processors.
    np.testing.assert_allclose(predictions, np.array(stored["predictions"]), rtol=1e-6)
