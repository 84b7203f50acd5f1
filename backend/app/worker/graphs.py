"""Assembly of the graphs that sessions of this service run."""

import os
from functools import partial
from uuid import UUID

from app.agent_jobs.graph import make_graph_spec as job_spec
from app.agents.roster import assemble_assistant, assemble_crew
from app.artifacts.session_workspace import SessionWorkspace
from app.artifacts.workspace import Workspace
from app.auth.storage_quota import StorageQuota
from app.datasets.dataset_source import DatasetSource
from app.datasets.prices import Prices
from app.datasets.session_datasets import SessionDatasets
from app.pipeline.fork_changes import RULES
from app.pipeline.fork_comparison import find_differences
from app.pipeline.graph import make_graph_spec
from app.program_runs.graph import make_graph_spec as run_spec
from app.program_runs.workspace import RunWorkspace
from app.resources import Resources
from app.sessions.forks.comparison import SessionComparison
from app.sessions.forks.service import ForkService
from app.sessions.graphs import Graphs
from app.sessions.holdout_looks import HoldoutLooks
from app.sessions.recorded_facts import DatabaseRecords, SessionRecords
from app.sessions.service import SessionService
from app.sessions.step_scope import SessionFacts
from app.sessions.workers import count_fit_slots
from app.threads.graph import make_graph_spec as chat_spec
from app.threads.memory import ThreadMemory
from app.threads.studies import StudyServices, ThreadStudies
from app.tools.context.conversation_workflows import ConversationWorkflows
from app.tools.finalization.holdout_outputs import OUTPUTS
from app.tools.toolsets import load_toolsets
from app.worker.agent_jobs import make_job_services
from app.worker.storage import StorageCharges
from app.worker.workflows import make_owner_workflows, make_services_of_run
from app.workflows.runs.context import RunServices
from app.workflows.runs.graph import make_graph_spec as workflow_spec
from app.workspaces.conversation import Conversation
from app.workspaces.reader import SnapshotReader


def pipeline_graphs(resources: Resources) -> Graphs:
    settings = resources.settings
    toolsets = load_toolsets(settings.tools_config)
    crew = assemble_crew(settings.chat, toolsets)

    def workspace_of(facts: SessionFacts) -> Workspace:
        return SessionWorkspace(resources.open_uow, resources.blobs, facts.owner_id, facts.id)

    def shelf_of(facts: SessionFacts) -> DatasetSource:
        read_at = facts.datasets_at or facts.created_at
        return SessionDatasets(resources.open_uow, facts.owner_id, facts.dataset_ids, read_at)

    def conversation_of(facts: SessionFacts) -> Conversation:
        snapshots = SnapshotReader(resources.database, facts.owner_id)
        return Conversation(facts.id, shelf_of(facts), snapshots)

    def records_of(facts: SessionFacts) -> SessionRecords:
        return DatabaseRecords(resources.database, facts.id)

    def prices_of(facts: SessionFacts) -> Prices:
        return Prices(resources.database, resources.computer, settings.home / "prices", facts.owner_id)

    def run_workspace_of(facts: SessionFacts) -> Workspace:
        inside = facts.preferences.get("session_id")
        # A run inside a session sees the frames of that session, and keeps its own apart.
        if inside is None:
            return workspace_of(facts)
        looks = HoldoutLooks(resources.database)
        return RunWorkspace(resources.open_uow, resources.blobs, facts.owner_id, UUID(inside), looks)

    def workflows_of(facts: SessionFacts) -> ConversationWorkflows:
        return make_owner_workflows(resources, facts, workspace_of(facts), shelf_of(facts))

    charges = StorageCharges(resources.database, settings.quotas, StorageQuota(resources.database))

    runs = run_spec(resources.computer, settings.limits, run_workspace_of, shelf_of)
    # While no worker is known: as many as `labcrew up` starts.
    slots = partial(count_fit_slots, resources.database, settings.workers_per_queue * (os.cpu_count() or 1))
    pipeline = make_graph_spec(
        crew, resources.computer, workspace_of, shelf_of, records_of, prices_of, slots, resources.charts
    )
    chat = chat_spec(
        assemble_assistant(settings.chat, toolsets),
        resources.computer,
        workspace_of,
        conversation_of,
        ThreadMemory(resources.database, settings.thread_history_window),
        resources.charts,
        partial(ThreadStudies, _assemble_study_services(resources)),
        records_of,
        workflows_of,
        charges.of_session,
    )

    def workflow_services_of(facts: SessionFacts) -> RunServices:
        return make_services_of_run(resources, facts, workspace_of(facts), shelf_of(facts), chat.make_context)

    job = job_spec(chat.make_context, partial(make_job_services, resources))
    return Graphs([runs, pipeline, chat, job, workflow_spec(workflow_services_of)])


def _assemble_study_services(resources: Resources) -> StudyServices:
    """Build the services by which conversations start, fork and compare studies."""
    database, config = resources.database, resources.settings.sessions
    return StudyServices(
        database,
        SessionService(database, resources.tail, resources.send, config),
        ForkService(database, resources.send, config, RULES),
        SessionComparison(database, resources.computer, find_differences, OUTPUTS),
    )
