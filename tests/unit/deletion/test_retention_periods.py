import pytest
from pydantic import ValidationError

from app.deletion.dependents import Dependent, dependents_exist
from app.deletion.expiry_statements import KINDS
from app.deletion.retention_periods import RetentionPeriods
from app.settings import load_settings


def test_what_is_evidence_is_kept_unless_an_operator_says_so() -> None:
    keep = RetentionPeriods()
    for_ever = {kind.name for kind in KINDS if not kind.keep_days(keep)}
    assert for_ever == {"sessions", "journals", "threads"}


def test_one_setting_changes_some_of_it() -> None:
    keep = load_settings(_env_file=None, retention='{"runs_days": 7, "audit_days": 0}').retention
    assert (keep.runs_days, keep.audit_days, keep.events_days) == (7, 0, 90)


@pytest.mark.parametrize("wrong", [{"blobs_days": 0}, {"runs_days": -1}, {"run_days": 3}])
def test_bytes_on_their_way_to_a_row_are_never_swept(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        RetentionPeriods.model_validate(wrong)


def test_a_refusal_names_what_is_derived_and_the_two_ways_on() -> None:
    from uuid import uuid4

    dependents = [Dependent("session", uuid4(), f"Goal {n}", is_live=False) for n in range(12)]
    refusal = dependents_exist("dataset", dependents)
    assert 'session "Goal 0"' in refusal.detail
    assert "and 9 more" in refusal.detail
    assert "derived=true" in refusal.detail
    assert "derived=false" in refusal.detail
    assert refusal.facts["derived_count"] == 12
