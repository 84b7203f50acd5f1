"""Assembly of the graphs that sessions of this service run."""

import os
from functools import partial
from uuid import UUID

from app.agents.roster import assemble_crew
from app.artifacts.session_workspace import SessionWorkspace
from app.artifacts.workspace import Workspace
from app.datasets.dataset_source import DatasetSource
from app.datasets.prices import Prices
from app.datasets.session_datasets import SessionDatasets
from app.pipeline.graph import make_graph_spec
from app.program_runs.graph import make_graph_spec as run_spec
from app.program_runs.workspace import RunWorkspace
from app.resources import Resources
from app.sessions.graphs import Graphs
from app.sessions.recorded_facts import DatabaseRecords, SessionRecords
from app.sessions.step_scope import SessionFacts
from app.sessions.workers import count_fit_slots
from app.tools.toolsets import load_toolsets


def pipeline_graphs(resources: Resources) -> Graphs:
    settings = resources.settings
    crew = assemble_crew(settings.chat, load_toolsets(settings.tools_config))

    def workspace_of(facts: SessionFacts) -> Workspace:
        return SessionWorkspace(resources.open_uow, resources.blobs, facts.owner_id, facts.id)

    def shelf_of(facts: SessionFacts) -> DatasetSource:
        return SessionDatasets(resources.open_uow, facts.owner_id, facts.dataset_ids, facts.created_at)

    def records_of(facts: SessionFacts) -> SessionRecords:
        return DatabaseRecords(resources.database, facts.id)

    def prices_of(facts: SessionFacts) -> Prices:
        return Prices(resources.database, resources.computer, settings.home / "prices", facts.owner_id)

    def run_workspace_of(facts: SessionFacts) -> Workspace:
        inside = facts.preferences.get("session_id")
        if inside is None:
            return workspace_of(facts)
        return RunWorkspace(resources.open_uow, resources.blobs, facts.owner_id, UUID(inside))

    runs = run_spec(resources.computer, settings.limits, run_workspace_of, shelf_of)
    slots = partial(count_fit_slots, resources.database, settings.workers_per_queue * (os.cpu_count() or 1))
    pipeline = make_graph_spec(crew, resources.computer, workspace_of, shelf_of, records_of, prices_of, slots)
    return Graphs([runs, pipeline])
