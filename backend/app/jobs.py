"""Background work by name: what a job is called, and the outbox that is sent after commit.

A job's message is only a wake-up: losing one or getting it twice changes nothing, because the claim
is a row and the sweeper repairs what was lost.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID


class JobName(StrEnum):
    ADVANCE = "labcrew.advance"
    FIT = "labcrew.fit"


QUEUES: dict[JobName, str] = {JobName.ADVANCE: "steps", JobName.FIT: "compute"}


@dataclass(frozen=True)
class Job:
    """A wake-up: ids only, never data."""

    name: JobName
    args: tuple[str | int, ...]


def advance(session_id: UUID) -> Job:
    return Job(JobName.ADVANCE, (str(session_id),))


def fit(session_id: UUID, round_key: str, candidate: int) -> Job:
    return Job(JobName.FIT, (str(session_id), round_key, candidate))


Send = Callable[[Job], None]
"""Queues one job; never raises: a failed publish is the sweeper's to repair."""


@dataclass
class Outbox:
    """Jobs that wait for their rows: sent after commit, dropped on rollback."""

    jobs: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        self.jobs.append(job)

    def drain(self) -> list[Job]:
        jobs, self.jobs = self.jobs, []
        return jobs
