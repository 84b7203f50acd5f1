"""Assembly of the services of jobs."""

import asyncio
from functools import partial
from uuid import UUID

from app.agent_jobs.graph import JobServices
from app.agent_jobs.memory import JobMemory
from app.agent_jobs.patch_lane import ChangeServices
from app.agent_jobs.previous_results import PreviousTables
from app.agent_jobs.queue import JobQueue
from app.agent_jobs.service import JobService
from app.agent_jobs.sweep import JobSweep
from app.artifacts.session_workspace import SessionWorkspace
from app.resources import Resources
from app.sessions.schemas import JOB_GRAPH
from app.sessions.service import SessionService
from app.sessions.step_scope import SessionFacts
from app.workflows.proposals import ProposalService
from app.workflows.service import WorkflowService


def make_job_service(resources: Resources, owner: UUID) -> JobService:
    config = resources.settings.sessions
    sessions = SessionService(resources.database, resources.tail, resources.send, config, JOB_GRAPH)
    return JobService(resources.database, sessions, owner)


def make_job_services(resources: Resources, facts: SessionFacts) -> JobServices:
    """Make the services of the session of one job."""
    owner, database = facts.owner_id, resources.database
    files = SessionWorkspace(resources.open_uow, resources.blobs, owner, facts.id)
    jobs = make_job_service(resources, owner)
    check = resources.check_documents(owner)
    proposals = ProposalService(database, owner, check)
    return JobServices(
        jobs,
        ChangeServices(jobs, WorkflowService(database, owner), check, proposals, files),
        JobMemory(database, resources.settings.thread_history_window),
        PreviousTables(resources.open_uow, owner, files, resources.computer),
    )


def make_job_sweep(resources: Resources) -> JobSweep:
    """Make the sweep of jobs, with a listener of the queue where one is set."""
    config, new_job = resources.settings.agent_queue, asyncio.Event()
    jobs_of = partial(make_job_service, resources)
    queue = None
    if resources.job_queue is not None:
        queue = JobQueue(resources.job_queue, resources.database, config, jobs_of, new_job.set)
    return JobSweep(resources.database, config, jobs_of, queue, new_job)
