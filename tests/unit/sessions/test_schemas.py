from typing import get_args

from app.modeling.problem import METRICS, Kind
from app.sessions.schemas import Metric


def test_the_metrics_to_choose_from_are_those_that_are_computed() -> None:
    """The API process cannot import the science, so the names are written twice."""
    assert get_args(Metric) == METRICS[Kind.CLASSIFICATION] + METRICS[Kind.REGRESSION]
