"""A model whose inner workings are known: it leans on a number and a category, and errs on one value of it."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.explanation.explained_model import ExplainedModel
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem

BINARY = Problem("y", ProblemKind.CLASSIFICATION, "roc_auc", (0, 1), 1)
NUMBER = Problem("y", ProblemKind.REGRESSION, "rmse")


def answers(rows: pd.DataFrame) -> np.ndarray:
    share = 1 / (1 + np.exp(-(1.5 * rows["a"] + 2.0 * (rows["kind"] == "x") - 1 + 0.05 * rows["noise_0"])))
    return np.column_stack([1 - share, share])


@pytest.fixture
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.normal(size=1500), "kind": rng.choice(list("xyz"), 1500)})
    return table.assign(**{f"noise_{place}": rng.normal(size=1500) for place in range(8)})


@pytest.fixture
def truth(rows: pd.DataFrame) -> np.ndarray:
    """Drawn as the model thinks, but turned round in two fifths of the rows of `z`."""
    rng = np.random.default_rng(4)
    labels = (rng.random(len(rows)) < answers(rows)[:, 1]).astype("float64")
    turned = (rows["kind"] == "z").to_numpy() & (rng.random(len(rows)) < 0.4)
    return np.where(turned, 1 - labels, labels)


@pytest.fixture
def subject() -> ExplainedModel:
    return ExplainedModel(answers, BINARY)
