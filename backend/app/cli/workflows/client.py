"""Client of workflows: they and their runs over the API, named as a user names them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote
from uuid import UUID

from app.cli.api_client.client import LabClient
from app.cli.workflows.responses import (
    DifferenceText,
    ListedRun,
    ListedTrigger,
    ListedVersion,
    ListedWorkflow,
    Proposal,
    RunWait,
    WorkflowContent,
    WorkflowRunAnswer,
)
from app.errors import InvalidInput, NotFound


class WorkflowClient:
    """Workflows of the user, named by id, by the beginning of an id, or by name."""

    def __init__(self, client: LabClient) -> None:
        self._client = client

    def list_workflows(self) -> list[ListedWorkflow]:
        page = self._client.call("GET", "/workflows?limit=200")
        return [ListedWorkflow.model_validate(item) for item in page["items"]]

    def find(self, name: str) -> ListedWorkflow:
        """Raises NotFound, and InvalidInput if several fit."""
        workflows = self.list_workflows()
        fitting = [
            flow for flow in workflows if flow.name.lower() == name.lower() or flow.id.startswith(name.lower())
        ]
        if not fitting:
            names = ", ".join(flow.name for flow in workflows[:20]) or "none yet"
            raise NotFound("workflow_not_found", f"There is no workflow {name}. Yours: {names}.")
        if len(fitting) > 1:
            raise InvalidInput(
                "several_workflows",
                f"{len(fitting)} workflows are named {name}. Give an id: "
                f"{', '.join(flow.id[:8] for flow in fitting[:10])}.",
            )
        return fitting[0]

    def read(self, name: str) -> WorkflowContent:
        return WorkflowContent.model_validate(self._client.call("GET", f"/workflows/{self.find(name).id}"))

    def create(self, content: Mapping[str, Any]) -> WorkflowContent:
        return WorkflowContent.model_validate(self._client.call("POST", "/workflows", content))

    def find_dataset(self, name: str) -> str:
        """Return the id of the newest dataset of a name. Raises NotFound."""
        datasets = self._client.call("GET", "/datasets?limit=200")["items"]
        fitting = [dataset for dataset in datasets if dataset["name"].casefold() == name.casefold()]
        if not fitting:
            names = ", ".join(dict.fromkeys(dataset["name"] for dataset in datasets[:20])) or "none yet"
            raise NotFound("dataset_not_found", f"There is no dataset {name}. Yours: {names}.")
        return str(fitting[0]["id"])

    def propose(self, name: str, message: str, time_zone: str) -> Proposal:
        body = {"message": message, "time_zone": time_zone}
        path = f"/workflows/{self.find(name).id}/proposals"
        return Proposal.model_validate(self._client.call("POST", path, body))

    def decide(self, proposal: Proposal, verb: str) -> Proposal:
        return Proposal.model_validate(self._client.call("POST", f"/workflow-proposals/{proposal.id}/{verb}"))

    def versions(self, name: str) -> list[ListedVersion]:
        rows = self._client.call("GET", f"/workflows/{self.find(name).id}/versions?limit=50")
        return [ListedVersion.model_validate(item) for item in rows]

    def restore(self, name: str, version: int) -> DifferenceText:
        change = self._client.call("POST", f"/workflows/{self.find(name).id}/restore", {"to": version})
        return DifferenceText.model_validate(change["difference"])

    def triggers(self, workflow: WorkflowContent) -> list[ListedTrigger]:
        rows = self._client.call("GET", f"/workflows/{workflow.id}/triggers")
        return [ListedTrigger.model_validate(item) for item in rows]

    def runs(self, name: str) -> list[ListedRun]:
        rows = self._client.call("GET", f"/workflows/{self.find(name).id}/runs?limit=50")
        return [ListedRun.model_validate(item) for item in rows]

    def run(self, name: str) -> str:
        """Begin a whole run and return its id. A workflow of one query is run alike."""
        return str(self._client.call("POST", f"/workflows/{self.find(name).id}/run", {"by_node": True})["id"])

    def retry(self, run_id: str, node: str | None) -> str:
        """Begin a run that goes on from an ended one and return its id."""
        if not is_id(run_id):
            raise InvalidInput(
                "no_run_id", f"{run_id} is no id of a run: labcrew workflow runs WORKFLOW lists them."
            )
        body = {"from_node": node} if node else {}
        return str(self._client.call("POST", f"/workflow-runs/{quote(run_id, safe='')}/retry", body)["id"])

    def delete(self, workflow_id: str) -> None:
        self._client.call("DELETE", f"/workflows/{workflow_id}")

    def run_state(self, run_id: str) -> WorkflowRunAnswer:
        return WorkflowRunAnswer.model_validate(self._client.call("GET", f"/workflow-runs/{run_id}"))

    def mark_seen(self, run_id: str) -> None:
        """Take a run off the Inbox: its end was printed."""
        self._client.call("POST", f"/workflow-runs/{run_id}/seen")

    def answer(self, run_id: str, question: RunWait, answer: Any) -> None:
        self._client.call("POST", f"/workflow-runs/{run_id}/answer", {"answer": answer, "key": question.key})


def is_id(text: str) -> bool:
    """Tell if a text is a whole id, and no name."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True
