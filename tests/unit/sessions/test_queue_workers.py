from app.sessions.queue_workers import lack_of_versions, lack_of_workers


def test_a_queue_without_a_worker_is_named_with_the_command_that_starts_one() -> None:
    assert lack_of_workers({"steps": 1, "compute": 2}) is None
    assert "labcrew worker --queues compute" in (lack_of_workers({"steps": 1, "compute": 0}) or "")
    assert "steps and compute" in (lack_of_workers({"steps": 0, "compute": 0}) or "")


def test_sessions_that_no_worker_can_drive_are_counted_by_version() -> None:
    assert lack_of_versions({}) is None
    assert "3 of pipeline 7" in (lack_of_versions({"pipeline 7": 3}) or "")
