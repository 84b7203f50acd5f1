from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID, uuid4

from app.agent_jobs.config import QueueConfig
from app.agent_jobs.service import JobRecord, JobService
from app.agent_jobs.sweep import JobSweep
from app.db.pool import Database


class ClaimedJobs:
    """A database in which jobs were claimed, by their ids."""

    def __init__(self, *job_ids: str) -> None:
        self.job_ids = job_ids

    async def rows(self, sql: str, *args: object) -> Sequence[Mapping[str, Any]]:
        return [
            {
                **JobRecord(uuid4(), uuid4(), job_id, "{}", "", None, datetime.now(UTC), None)._asdict(),
                "is_queued": False,
            }
            for job_id in self.job_ids
        ]


class Advances:
    """Notes the jobs that it advances, and cannot advance one."""

    def __init__(self, broken: str) -> None:
        self.broken = broken
        self.advanced: list[str] = []

    async def advance(self, record: JobRecord) -> None:
        if record.job_id == self.broken:
            raise ValueError("its session left what nobody can read")
        self.advanced.append(record.job_id)


async def test_a_job_that_cannot_be_advanced_does_not_hold_the_others() -> None:
    jobs = Advances("second")

    def jobs_of(owner: UUID) -> JobService:
        return cast(JobService, jobs)

    sweep = JobSweep(cast(Database, ClaimedJobs("first", "second", "third")), QueueConfig(), jobs_of)
    assert await sweep.sweep() == 3
    assert jobs.advanced == ["first", "third"]
