from typing import get_args

import pytest
from pydantic import ValidationError

from app.modeling.problem.problem import METRICS, ProblemKind
from app.sessions.schemas import Metric, SessionCreate


def test_the_metrics_to_choose_from_are_those_that_are_computed() -> None:
    """The API process cannot import the science, so the names are written twice."""
    assert get_args(Metric) == METRICS[ProblemKind.CLASSIFICATION] + METRICS[ProblemKind.REGRESSION]


@pytest.mark.parametrize("column", ["a\0b", "\ud800"])
def test_a_text_that_no_store_can_hold_is_refused(column: str) -> None:
    with pytest.raises(ValidationError):
        SessionCreate.model_validate({"goal": "Predict it", "preferences": {"target": column}})
