from app.sessions.workers import missing_versions, missing_workers


def test_a_queue_without_a_worker_is_named_with_the_command_that_starts_one() -> None:
    assert missing_workers({"steps": 1, "compute": 2}) is None
    assert "labcrew worker --queues compute" in (missing_workers({"steps": 1, "compute": 0}) or "")
    assert "steps and compute" in (missing_workers({"steps": 0, "compute": 0}) or "")


def test_sessions_that_no_worker_can_drive_are_counted_by_version() -> None:
    assert missing_versions({}) is None
    assert "3 of pipeline 7" in (missing_versions({"pipeline 7": 3}) or "")
