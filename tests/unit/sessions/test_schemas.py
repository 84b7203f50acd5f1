import pytest
from pydantic import ValidationError

from app.modeling.problem.metrics import METRICS
from app.sessions.schemas import Preferences, SessionCreate


def test_preferences_offer_and_accept_every_metric_of_the_table() -> None:
    offered = Preferences.model_json_schema()["properties"]["metric"]["anyOf"][0]["enum"]
    assert offered == list(METRICS)
    assert [Preferences(metric=name).metric for name in METRICS] == list(METRICS)


def test_a_metric_outside_the_table_is_refused() -> None:
    with pytest.raises(ValidationError, match="roc_auc"):
        Preferences(metric="area")


@pytest.mark.parametrize("column", ["a\0b", "\ud800"])
def test_a_text_that_no_store_can_hold_is_refused(column: str) -> None:
    with pytest.raises(ValidationError):
        SessionCreate.model_validate({"goal": "Predict it", "preferences": {"target": column}})
