"""Statuses of runs of workflows as lists show them."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.workflows.run_records import WorkflowRunRecord

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "result_end", "shown"),
    [
        ("completed", "returned", "succeeded"),
        ("completed", "failed", "failed"),  # a node of a whole run
        ("completed", "raised", "failed"),  # a query
        ("completed", "timed_out", "timed_out"),
        ("completed", "unknown_column", "rejected"),
        ("failed", None, "failed"),
        ("cancelled", None, "cancelled"),
        ("running", None, "running"),
        ("awaiting_user", None, "awaiting_user"),
    ],
)
def test_a_run_has_the_status_that_its_result_says(status: str, result_end: str | None, shown: str) -> None:
    record = WorkflowRunRecord(UUID(int=1), status, result_end, False, "", 1, NOON, NOON, NOON)
    assert record.make_view().status == shown


def test_a_run_that_waits_for_its_study_is_in_no_line() -> None:
    record = WorkflowRunRecord(UUID(int=1), "queued", None, True, "", 1, NOON, NOON, None)
    assert record.make_view().status == "waiting"
