"""Jobs in Postgres: taken once by owner and job id, begun as a session, answered once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID, uuid5

from pydantic import BaseModel

from app.agent_jobs.answer import JobAnswer, JobOutcome, make_answer, make_refusal
from app.agent_jobs.message import JobMessage
from app.agent_jobs.previous_results import parse_results
from app.agent_jobs.statements import JOBS
from app.db.pool import Database
from app.errors import Conflict, LabError, NotFound, TooMany
from app.observability.metrics.agent_jobs import JOBS_ANSWERED
from app.sessions.events.serialization import dumps, request_digest
from app.sessions.schemas import MAX_DATASETS
from app.sessions.service import SessionService
from app.threads.direct_modes import split_mode
from app.workflows.fusion import dataset_ids
from app.workflows.service import WorkflowService

MAX_OPEN_JOBS = 1_000
"""Jobs of a user that have no answer yet: more is a program that does not read."""
GET_JOB = JOBS.get_job.replace("-- COLUMNS", JOBS.job_columns)
GET_JOB_OF_SESSION = JOBS.get_job_of_session.replace("-- COLUMNS", JOBS.job_columns)
CLAIM_JOBS = JOBS.claim_jobs.replace("-- COLUMNS", JOBS.job_columns)


class JobRecord(NamedTuple):
    """A job. JSON: `message` and `answer`. `id` is that of its session."""

    id: UUID
    owner_id: UUID
    job_id: str
    message: str
    digest: str
    answer: str | None
    created_at: datetime
    answered_at: datetime | None

    def read_message(self) -> JobMessage:
        return JobMessage.model_validate_json(self.message)


class JobSummary(BaseModel):
    """A job of a list."""

    job_id: str
    status: Literal["queued", "running", "completed", "failed", "needs_input"]
    prompt: str
    created_at: datetime
    answered_at: datetime | None


class JobView(JobSummary):
    """A job with its answer, null until it is there."""

    answer: JobAnswer | None


class JobPreferences(BaseModel):
    """Settings of a job's session: the mode and the code of its prompt."""

    mode: str
    code: str
    seed: int | None = 0


class JobSession(BaseModel):
    """The request for a job's session."""

    goal: str
    dataset_ids: list[UUID]
    preferences: JobPreferences


@dataclass(frozen=True)
class JobService:
    """Jobs of one owner. `sessions`: of the graph `job`."""

    db: Database
    sessions: SessionService
    owner: UUID

    async def take(self, message: JobMessage, is_queued: bool) -> JobRecord:
        """Record a job, or find the one that came first with its id.

        Raises TooMany above the limit of open jobs, InvalidInput for code that cannot be read.
        """
        # Only to refuse what cannot be read: the session reads both again.
        split_mode(message.prompt, None)
        parse_results(message.context.previous_results)
        content = message.model_dump(mode="json", by_alias=True)
        await self.db.value(
            JOBS.create_job,
            # The id of its session, too: whoever begins the job a second time finds the first session.
            uuid5(self.owner, f"job {message.job_id}"),
            self.owner,
            message.job_id,
            dumps(content, "job"),
            request_digest(content),
            is_queued,
            MAX_OPEN_JOBS,
        )
        # Read afterwards: for an id that exists the statement makes no row, and returns none.
        record = await self.find(message.job_id)
        if record is None:
            raise TooMany(
                "too_many_jobs",
                f"You have {MAX_OPEN_JOBS:,} jobs without an answer. Wait for some, then send it again.",
                limit=MAX_OPEN_JOBS,
            )
        return record

    async def submit(self, message: JobMessage) -> JobRecord:
        """Take a job that came by HTTP, and begin it. Raises Conflict if its id was used for another job."""
        record = await self.take(message, is_queued=False)
        if record.digest != request_digest(message.model_dump(mode="json", by_alias=True)):
            raise Conflict(
                "job_id_reused", "This job_id was used for another job. Use a new one for a new job."
            )
        if record.answer is None:
            try:
                await self.begin(record)
            except LabError:
                await self.db.value(JOBS.withdraw_job, record.id)
                raise
        return record

    async def find(self, job_id: str) -> JobRecord | None:
        row = await self.db.row(GET_JOB, self.owner, job_id)
        return None if row is None else JobRecord(**row)

    async def find_by_session(self, session_id: UUID) -> JobRecord | None:
        """Find the job of a session of the owner."""
        row = await self.db.row(GET_JOB_OF_SESSION, self.owner, session_id)
        return None if row is None else JobRecord(**row)

    async def begin(self, record: JobRecord) -> None:
        """Create the session of a job, once. Raises NotFound for a dataset, TooMany above a quota."""
        message = record.read_message()
        moded = split_mode(message.prompt, None)
        request = JobSession(
            goal=message.prompt,
            dataset_ids=await self._choose_datasets(message),
            preferences=JobPreferences(mode=moded.mode, code=moded.text),
        )
        try:
            await self.sessions.create(self.owner, request, session_id=record.id)
        except Conflict:  # begun before with other datasets than there are by now
            return

    async def _choose_datasets(self, message: JobMessage) -> list[UUID]:
        """Choose the datasets of a job: those that it names, else those of its workflow, else the newest."""
        if message.context.datasets is not None:
            rows = await self.db.rows(JOBS.find_datasets, self.owner, message.context.datasets)
            missing = [str(row["word"]) for row in rows if row["id"] is None]
            if missing:
                raise NotFound("dataset_not_found", f"You have no dataset {', '.join(missing)}.")
            return list(dict.fromkeys(row["id"] for row in rows))
        document = message.current_workflow
        if document is None and message.workflow_tag is not None:
            workflow = await self.find_workflow(message.workflow_tag)
            document = (await WorkflowService(self.db, self.owner).get(workflow)).document if workflow else None
        ids = dataset_ids(document)[:MAX_DATASETS] if document is not None else []
        return ids or list(await self.db.column(JOBS.list_newest_datasets, self.owner, MAX_DATASETS))

    async def find_workflow(self, tag: str) -> UUID | None:
        """Find a saved workflow by its name or id. Raises Conflict if several have the name."""
        matches = await self.db.column(JOBS.find_workflows, self.owner, tag)
        if len(matches) > 1:
            raise Conflict("several_workflows", f"Several workflows are named {tag}. Send an id.")
        return UUID(str(matches[0])) if matches else None

    async def advance(self, record: JobRecord) -> JobAnswer | None:
        """Begin or answer a job, whichever is due. Return its answer, if there is one by now."""
        if record.answer is not None:
            return JobAnswer.model_validate_json(record.answer)
        row = await self.db.row(JOBS.read_outcome, record.id, self.owner)
        if row is None:
            try:
                await self.begin(record)
            except TooMany:  # it waits for a session to end
                return None
            except LabError as error:
                return await self._save(record, make_refusal(record.job_id, error))
            # Its session may end before the claim runs out.
            await self.db.value(JOBS.release_job, record.id)
            return None
        outcome = JobOutcome(**row)
        if not outcome.has_ended and outcome.question is None:
            return None
        # Before the cancel: the first answer stays, and a cancelled session would give another one.
        answer = await self._save(record, make_answer(record.read_message(), outcome))
        if not outcome.has_ended:
            await self._cancel(record.id)
        return answer

    async def _save(self, record: JobRecord, answer: JobAnswer) -> JobAnswer:
        row = await self.db.row(JOBS.save_answer, record.id, answer.model_dump_json())
        if row is None or row["answer"] is None:  # deleted meanwhile
            return answer
        saved = JobAnswer.model_validate_json(row["answer"])
        if row["is_first"]:
            JOBS_ANSWERED.labels(saved.metadata.lane or "none", saved.status).inc()
        return saved

    async def _cancel(self, session_id: UUID) -> None:
        """End a session that asked: the job is answered by its question, and a new job brings the answer."""
        try:
            await self.sessions.cancel(self.owner, session_id)
        except LabError:
            return

    async def cancel(self, job_id: str) -> JobView:
        """Cancel a job; safe to repeat. Raises NotFound, and Conflict if it is answered."""
        record = await self._get(job_id)
        if record.answer is not None:
            raise Conflict("job_answered", "This job has its answer: there is nothing to cancel.")
        try:
            await self.sessions.cancel(self.owner, record.id)
        except NotFound:  # not begun yet
            await self._save(record, make_refusal(job_id, LabError("cancelled", "This job was cancelled.")))
        return await self.view(job_id)

    async def view(self, job_id: str) -> JobView:
        """Raises NotFound."""
        record = await self._get(job_id)
        answer = await self.advance(record)
        record = await self._get(job_id)
        message = record.read_message()
        status = await self.db.value("select status from sessions where id = $1", record.id)
        is_queued = status in (None, "queued")
        return JobView(
            job_id=job_id,
            status=answer.status if answer else "queued" if is_queued else "running",
            prompt=message.prompt,
            created_at=record.created_at,
            answered_at=record.answered_at,
            answer=answer,
        )

    async def list_jobs(self, limit: int, offset: int) -> Sequence[JobSummary]:
        """List jobs, newest first."""
        rows = await self.db.rows(JOBS.list_jobs, self.owner, limit, offset)
        return [JobSummary(**row) for row in rows]

    async def _get(self, job_id: str) -> JobRecord:
        record = await self.find(job_id)
        if record is None:
            raise NotFound("job_not_found", f"There is no job with the id {job_id}.")
        return record
