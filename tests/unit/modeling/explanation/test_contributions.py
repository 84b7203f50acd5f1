"""What features add is exact: together with the constant they are the answer."""

import numpy as np
import pytest
import xgboost

from app.modeling.explanation.contributions import TreeMember, explain_contributions
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.training.deadline import Deadline

from .conftest import BINARY, NUMBER


class Boosted:
    def __init__(self, X: np.ndarray, y: np.ndarray, objective: str, classes: int = 0) -> None:
        given = {"objective": objective, "max_depth": 3, **({"num_class": classes} if classes else {})}
        self.booster = xgboost.train(given, xgboost.DMatrix(X, y), 20)
        self.asked = 0

    def contributions(self, X: np.ndarray) -> np.ndarray:
        self.asked += len(X)
        return np.asarray(self.booster.predict(xgboost.DMatrix(X), pred_contribs=True))


@pytest.fixture
def matrix() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(500, 4))


def member(matrix: np.ndarray, model: Boosted) -> TreeMember:
    return TreeMember("XGBoost", model, matrix, ["a", "b", "code", "unused"], [True, True, False, True])


def test_features_are_ranked_by_contribution_with_direction(matrix: np.ndarray) -> None:
    y = 3 * matrix[:, 0] - matrix[:, 1] + 0.5 * (matrix[:, 2] > 0)
    model = Boosted(matrix, y, "reg:squarederror")

    made = explain_contributions(member(matrix, model), NUMBER, y)
    assert made

    told = {feature["feature"]: feature["direction"] for feature in made.facts["features"]}
    assert list(told)[:3] == ["a", "b", "code"]
    assert told["a"] is not None
    assert told["a"] > 0.9
    assert told["b"] is not None
    assert told["b"] < -0.8
    assert told["code"] is None
    assert made.values.shape == made.numbers.shape == (400, len(told))
    assert np.isnan(made.numbers[:, 2]).all()
    assert made.facts["of_class"] is None


def test_contributions_to_the_first_of_two_classes_are_negated(matrix: np.ndarray) -> None:
    y = (matrix[:, 0] > 0).astype(float)
    model = Boosted(matrix, y, "binary:logistic")
    first = Problem("y", ProblemKind.CLASSIFICATION, "roc_auc", ("no", "yes"), "no")

    of_yes = explain_contributions(member(matrix, model), BINARY, y)
    of_no = explain_contributions(member(matrix, model), first, y)
    assert of_yes
    assert of_no

    assert of_no.facts["of_class"] == "no"
    assert of_no.facts["features"][0]["direction"] < -0.7
    np.testing.assert_allclose(of_no.values, -of_yes.values)


def test_contributions_are_to_the_most_frequent_of_several_classes(matrix: np.ndarray) -> None:
    y = np.select([matrix[:, 0] < -1, matrix[:, 0] > 1], [0, 2], 1).astype(float)
    three = Problem("y", ProblemKind.CLASSIFICATION, "log_loss", ("low", "middle", "high"))

    made = explain_contributions(member(matrix, Boosted(matrix, y, "multi:softprob", 3)), three, y)
    assert made

    assert made.facts["of_class"] == "middle"
    assert made.facts["features"][0]["feature"] == "a"


@pytest.mark.parametrize(("limit_s", "rows"), [(0.35, 175), (0.01, None)])
def test_a_deadline_reduces_rows_and_gives_nothing_below_the_minimum(
    matrix: np.ndarray, limit_s: float, rows: int | None
) -> None:
    model = Boosted(matrix, matrix[:, 0], "reg:squarederror")

    made = explain_contributions(
        member(matrix, model), NUMBER, matrix[:, 0], deadline=Deadline(limit_s, lambda: model.asked / 500)
    )

    assert (made.facts["rows"] if made else None) == rows
    assert model.asked <= 500 * limit_s
