"""Models that are asked for by what they do."""

import pytest

from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.named_models import spell_out_models


@pytest.mark.parametrize(
    ("goal", "spelled_out"),
    [
        ("Build a spam filter", "predict spam"),
        ("I need a simple churn predictor, by Friday", "predict churn, by Friday"),
        ("make me a price calculator for flats", "predict price of flats"),
        ("predict our future revenue", "forecast revenue"),
        ("predict churn of future customers", "predict churn of future customers"),
        ("train a detector of leaks", "train a detector of leaks"),
        ("filter the rows of March", "filter the rows of March"),
        ("predict the load, then build a leak detector", "predict the load, then build a leak detector"),
    ],
)
def test_a_model_that_is_named_by_its_purpose_is_a_prediction(goal: str, spelled_out: str) -> None:
    assert spell_out_models(goal) == spelled_out


def test_a_predictor_that_is_built_is_a_model_and_no_list_of_drivers() -> None:
    assert not parse_goal("build a churn predictor").wants_drivers
    assert parse_goal("what are the predictors of churn").wants_drivers
