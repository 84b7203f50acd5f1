"""Assembly of the services of workflows: those of their runs, and those of conversations about them."""

from dataclasses import replace
from functools import partial

from app.artifacts.workspace import Workspace
from app.datasets.dataset_source import DatasetSource
from app.resources import Resources
from app.sessions.schemas import WORKFLOW_GRAPH
from app.sessions.service import SessionService
from app.sessions.step_scope import SessionFacts
from app.worker.mail import send_owner_mail
from app.worker.workflow_data import find_owner_model, start_owner_study, store_owner_dataset
from app.workflows.conversations.pipelines import Pipelines
from app.workflows.conversations.runs import ConversationRuns
from app.workflows.conversations.service import OwnerWorkflows
from app.workflows.proposals import ProposalService
from app.workflows.requests.client import RequestClient
from app.workflows.runs.context import FindFigure, MakeChat, RunServices
from app.workflows.runs.queries import WorkflowRuns
from app.workflows.runs.schemas import WorkflowRunPreferences
from app.workflows.service import WorkflowService


def make_run_services(
    resources: Resources, run: SessionFacts, frames: Workspace, datasets: DatasetSource, find_figure: FindFigure
) -> RunServices:
    """Make the services of nodes. `frames`: the tables of `run`, the session in which they run."""
    owner = run.owner_id

    async def make_client() -> RequestClient:
        return RequestClient(await resources.hosts.rules_of(owner), run_id=run.id)

    return RunServices(
        frames,
        datasets,
        resources.computer,
        make_client,
        partial(resources.secrets.read, owner),
        find_figure,
        partial(send_owner_mail, resources, owner),
        WorkflowRuns(resources.database, owner),
        partial(find_owner_model, resources, owner),
        partial(store_owner_dataset, resources, owner),
        resources.charts,
        partial(start_owner_study, resources, owner),
    )


def make_services_of_run(
    resources: Resources, run: SessionFacts, frames: Workspace, datasets: DatasetSource, make_chat: MakeChat
) -> RunServices:
    """Make the services of a run, whose conditions compare with the run before it."""
    preferences = WorkflowRunPreferences.model_validate(run.preferences)
    # Neither this run nor the one that it repeats is the run before it.
    run_ids = [run.id, *([preferences.retried.id] if preferences.retried else [])]
    earlier = WorkflowRuns(resources.database, run.owner_id)

    async def find_figure(node_id: str) -> float | None:
        return await earlier.find_figure(preferences.saved_origin, node_id, run_ids)

    return replace(make_run_services(resources, run, frames, datasets, find_figure), make_chat=make_chat)


def make_owner_workflows(
    resources: Resources, turn: SessionFacts, frames: Workspace, datasets: DatasetSource
) -> OwnerWorkflows:
    """Make the workflows of a turn's owner."""
    owner, check = turn.owner_id, resources.check_documents(turn.owner_id)
    services = make_run_services(resources, turn, frames, datasets, _find_no_figure)
    return OwnerWorkflows(
        turn,
        WorkflowService(resources.database, owner),
        ProposalService(resources.database, owner, check),
        check,
        Pipelines(check, services),
        ConversationRuns(
            turn,
            WorkflowService(resources.database, owner),
            check,
            SessionService(
                resources.database, resources.tail, resources.send, resources.settings.sessions, WORKFLOW_GRAPH
            ),
            WorkflowRuns(resources.database, owner),
        ),
    )


async def _find_no_figure(node_id: str) -> float | None:
    """A pipeline is run once: there is no run before it."""
    return None
