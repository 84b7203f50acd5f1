"""Problems are completed from the data; targets that cannot be predicted are refused with a code."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import infer_kind, resolve_problem

from ..frames import houses, people, series


def refusal(frame: pd.DataFrame, **request: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        resolve_problem(frame, request)
    return caught.value


def test_a_two_valued_target_is_a_binary_classification() -> None:
    problem = resolve_problem(people(), {"target": "left"})
    assert (problem.kind, problem.classes, problem.positive_class) == (ProblemKind.CLASSIFICATION, (0, 1), 1)
    assert problem.metric == "roc_auc"


def test_a_measured_target_is_a_regression() -> None:
    problem = resolve_problem(houses(), {"target": "price"})
    assert (problem.kind, problem.classes, problem.metric) == (ProblemKind.REGRESSION, None, "rmse")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.0, 1.0, np.nan] * 10, ProblemKind.CLASSIFICATION),
        (["a", "b"] * 10, ProblemKind.CLASSIFICATION),
        ([True, False] * 10, ProblemKind.CLASSIFICATION),
        ([1, 2, 3, 4, 5] * 12, ProblemKind.CLASSIFICATION),
        ([1, 2, 3, 4, 5] * 2, ProblemKind.REGRESSION),
        (list(range(40)), ProblemKind.REGRESSION),
        ([0.5, 1.5, 2.5] * 20, ProblemKind.REGRESSION),
    ],
)
def test_the_kind_of_problem_is_inferred_from_the_values(values: list[Any], kind: ProblemKind) -> None:
    assert infer_kind(pd.Series(values)) is kind


def test_the_positive_class_means_yes_or_is_the_rarer_one() -> None:
    frame = pd.DataFrame({"x": range(30), "paid": ["yes", "no"] * 15, "fruit": ["apple"] * 20 + ["fig"] * 10})
    assert resolve_problem(frame, {"target": "paid"}).positive_class == "yes"
    assert resolve_problem(frame, {"target": "fruit"}).positive_class == "fig"
    assert resolve_problem(frame, {"target": "fruit", "positive_class": "apple"}).positive_class == "apple"


def test_a_problem_survives_json() -> None:
    problem = resolve_problem(series(shops=2), {"target": "sales", "horizon": 3, "group_column": "shop"})
    assert Problem.from_json(problem.to_json()) == problem


def test_a_horizon_infers_the_time_column_and_outlook() -> None:
    problem = resolve_problem(series(), {"target": "sales", "horizon": 1, "kind": "classification"})
    assert (problem.time_column, problem.outlook, problem.classes) == ("day", Outlook.DIRECTION, ("down", "up"))


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ([None] * 40, "target_empty"),
        ([7] * 40, "target_constant"),
        (pd.date_range("2024-01-01", periods=40), "target_is_date"),
        ([f"text {number}" for number in range(80)], "target_is_text"),
        ([f"text {number}" for number in range(300)], "target_is_text"),
        ([f"class {number}" for number in range(120)] * 60, "too_many_classes"),
        ([f"kind {number}" for number in range(20)] * 2, "too_few_per_class"),
    ],
)
def test_a_target_that_cannot_be_predicted_is_refused(column: Any, code: str) -> None:
    frame = pd.DataFrame({"x": range(len(column)), "y": column})
    assert refusal(frame, target="y").code == code


def test_a_misspelled_target_is_refused_with_the_nearest_name() -> None:
    error = refusal(people(), target="lef")
    assert (error.code, error.facts["nearest"]) == ("unknown_column", ["left"])


@pytest.mark.parametrize(
    ("preferences", "code"),
    [
        ({}, "no_target"),
        ({"target": "left", "metric": "rmse"}, "bad_metric"),
        ({"target": "left", "horizon": 1}, "no_time_column"),
        ({"target": "left", "horizon": -2}, "bad_horizon"),
        ({"target": "left", "horizon": True}, "bad_horizon"),
        ({"target": "plan", "kind": "regression"}, "target_not_numeric"),
        ({"target": "left", "kind": "clustering"}, "bad_problem_kind"),
        ({"target": "left", "positive_class": "maybe"}, "bad_positive_class"),
        ({"target": "left", "costs": {"false_alarm": 0, "missed": 1}}, "bad_costs"),
    ],
)
def test_invalid_preferences_are_refused(preferences: dict[str, Any], code: str) -> None:
    assert refusal(people(), **preferences).code == code


@pytest.mark.parametrize(
    ("target", "requested", "expected"),
    [("plan", "brier", "log_loss"), ("plan", "top_3_accuracy", "accuracy"), ("delay", "mape", "smape")],
)
def test_a_metric_undefined_for_the_target_is_replaced(target: str, requested: str, expected: str) -> None:
    frame = people().assign(delay=np.arange(300.0))
    assert resolve_problem(frame, {"target": target, "metric": requested}).metric == expected


def test_costs_are_the_default_metric() -> None:
    problem = resolve_problem(people(), {"target": "left", "costs": {"false_alarm": 1, "missed": 4}})
    assert (problem.metric, problem.costs, problem.default_threshold) == ("cost", (1.0, 4.0), 0.2)
    assert Problem.from_json(problem.to_json()) == problem


def test_a_pinball_metric_sets_the_quantile() -> None:
    assert resolve_problem(houses(), {"target": "price", "metric": "pinball_90"}).quantile == 0.9


def test_a_hundred_classes_may_be_predicted() -> None:
    frame = pd.DataFrame({"x": range(400), "y": [f"kind {number}" for number in range(100)] * 4})
    assert len(resolve_problem(frame, {"target": "y"}).classes or ()) == 100


def test_a_column_of_groups_is_detected_and_a_unique_id_is_not() -> None:
    frame = people()
    frame["patient_id"] = np.arange(len(frame)) // 4
    assert resolve_problem(frame, {"target": "left"}).group_column == "patient_id"
    frame["patient_id"] = np.arange(len(frame))
    assert resolve_problem(frame, {"target": "left"}).group_column is None


def test_dates_that_do_not_order_the_file_do_not_order_the_split() -> None:
    frame = people()
    days = pd.to_timedelta(np.random.default_rng(0).permutation(300), "D")
    frame["joined"] = pd.Timestamp("1990-01-01") + days
    assert resolve_problem(frame, {"target": "left"}).time_column is None
    assert resolve_problem(frame.sort_values("joined"), {"target": "left"}).time_column == "joined"
