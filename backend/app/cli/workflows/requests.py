"""Work of `labcrew workflow`: workflows, their changes from words, and their runs, over the API."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import typer
from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console

from app.cli.api_client.client import LabClient
from app.cli.connection.service_connection import connected
from app.cli.terminal.exit_codes import Exit
from app.cli.terminal.result_table import show_rows
from app.cli.terminal.sanitize import harmless
from app.errors import InvalidInput, LabError, NotFound
from app.settings import load_settings

_POLL_S = 0.5
"""Seconds between two looks at a run."""


class _Answer(BaseModel):
    """Base of answers of the API; fields that are not shown are ignored."""

    model_config = ConfigDict(extra="ignore")


class ListedWorkflow(_Answer):
    id: str
    name: str
    version: int
    updated_at: str


class WorkflowContent(ListedWorkflow):
    document: dict[str, Any]


class DifferenceText(_Answer):
    text: str


class ProposalFault(_Answer):
    pointer: str
    message: str


class Proposal(_Answer):
    id: str
    summary: str
    difference: DifferenceText
    faults: list[ProposalFault]
    status: str


class ListedAuthor(_Answer):
    email: str
    kind: str
    name: str | None = None

    def describe(self) -> str:
        ways = {"api_key": f"key {self.name or 'deleted'}", "conversation": "conversation", "job": "job"}
        return f"{self.email}, {ways[self.kind]}" if self.kind in ways else self.email


class ListedVersion(_Answer):
    version: int
    message: str
    created_at: str
    author: ListedAuthor | None = None


class RunNode(_Answer):
    status: str
    rows: int | None = None
    figure: float | None = None
    passes: bool | None = None
    answer: str | None = None
    error: str | None = None
    notes: list[str] = Field(default_factory=list)
    columns: list[dict[str, Any]] = Field(default_factory=list)
    preview: list[list[Any]] = Field(default_factory=list)


class RunWait(_Answer):
    key: str
    text: str
    options: list[Any]


class WorkflowRunAnswer(_Answer):
    id: str
    status: str
    outcome: str | None = None
    nodes: dict[str, RunNode] = Field(default_factory=dict)
    question: RunWait | None = None
    waits_for: str | None = None
    ended_at: str | None = None


class ListedTrigger(_Answer):
    node: str
    text: str
    next_ticks: list[datetime]


class ListedRun(_Answer):
    id: str
    status: str
    version: int
    node: str
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None


@contextmanager
def open_workflows(url: str | None, key: str | None) -> Iterator["WorkflowClient"]:
    with connected(load_settings(), url, key, lambda text: typer.echo(text, err=True)) as client:
        yield WorkflowClient(client)


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
        if not _is_id(run_id):
            raise InvalidInput(
                "no_run_id", f"{run_id} is no id of a run: labcrew workflow runs WORKFLOW lists them."
            )
        body = {"from_node": node} if node else {}
        return str(self._client.call("POST", f"/workflow-runs/{quote(run_id, safe='')}/retry", body)["id"])

    def delete(self, workflow_id: str) -> None:
        self._client.call("DELETE", f"/workflows/{workflow_id}")

    def run_state(self, run_id: str) -> WorkflowRunAnswer:
        return WorkflowRunAnswer.model_validate(self._client.call("GET", f"/workflow-runs/{run_id}"))

    def answer(self, run_id: str, question: RunWait, answer: Any) -> None:
        self._client.call("POST", f"/workflow-runs/{run_id}/answer", {"answer": answer, "key": question.key})


def list_all(workflows: WorkflowClient) -> None:
    flows = workflows.list_workflows()
    if not flows:
        typer.echo(
            "No workflow yet. `labcrew workflow create FILE.json` saves one, and so does a conversation.",
            err=True,
        )
    for flow in flows:
        name = harmless(flow.name)
        typer.echo(f"{flow.id[:8]}  {name}  version {flow.version}  {flow.updated_at[:16]}")


def show(workflows: WorkflowClient, name: str) -> None:
    """Print when a workflow runs, its nodes with their settings, then the edges."""
    workflow = workflows.read(name)
    typer.echo(f"{harmless(workflow.name)}, version {workflow.version} ({workflow.id})")
    for trigger in workflows.triggers(workflow):
        typer.echo(harmless(f"  runs {trigger.text} ({trigger.node})"))
        times = ", ".join(f"{tick.astimezone():%a %Y-%m-%d %H:%M}" for tick in trigger.next_ticks)
        if times:
            typer.echo(f"    next {times}")
    for node in workflow.document["nodes"]:
        config = json.dumps(node["config"])[:150]
        typer.echo(harmless(f"  {node['id']} ({node['type']}{_describe_limits(node)}) {config}"))
    for edge in workflow.document["edges"]:
        typer.echo(harmless(f"  {_describe_edge(edge)}"))


def _describe_limits(node: Mapping[str, Any]) -> str:
    retries, timeout_s = node.get("retries"), node.get("timeout_s")
    texts = [
        "any input" if node.get("needs") == "any" else "",
        f"{retries} retries" if retries else "",
        f"at most {timeout_s:g} s" if timeout_s else "",
    ]
    return "".join(f", {text}" for text in texts if text)


def _describe_edge(edge: Mapping[str, Any]) -> str:
    condition = edge.get("condition")
    test = "" if condition is None else f" if {condition['field']} {condition['op']} {condition['value']}"
    return f"{edge['from']} -> {edge['to']}{test}"


def list_versions(workflows: WorkflowClient, name: str) -> None:
    """Print the last versions, newest first, with their authors."""
    for version in workflows.versions(name):
        author = f"  ({version.author.describe()})" if version.author else ""
        typer.echo(harmless(f"{version.version:>4}  {version.created_at[:16]}  {version.message}{author}"))


def list_runs(workflows: WorkflowClient, name: str) -> None:
    """Print the last runs, newest first, each with its whole id, which `retry` takes."""
    runs = workflows.runs(name)
    if not runs:
        typer.echo("It has not run yet.")
    for run in runs:
        began, ended = run.started_at, run.ended_at
        took = f", {(ended - began).total_seconds():,.1f} s" if began and ended else ""
        node = f", node {run.node}" if run.node else ""
        status = run.status.replace("_", " ")
        began_text = f"{run.created_at:%Y-%m-%d %H:%M}"
        typer.echo(harmless(f"{run.id}  {began_text}  version {run.version}  {status}{took}{node}"))


def create_from_file(workflows: WorkflowClient, path: Path) -> None:
    """Save a workflow. Raises InvalidInput with every fault of it, each in a line of its own."""
    if not path.is_file():
        raise NotFound("no_such_file", f"There is no file {path}.")
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput("file_unreadable", f"{path} is no JSON file: {error}") from error
    if not isinstance(content, dict):
        raise InvalidInput("file_unreadable", f"{path} holds no object with `nodes` and `edges`.")
    _fill_datasets(workflows, content)
    try:
        saved = workflows.create({"name": path.stem, **content})
    except LabError as error:
        faults = error.facts.get("faults")
        if not isinstance(faults, list):
            raise
        raise InvalidInput(
            error.code, "\n".join(f"{fault.pointer}: {fault.message}" for fault in faults)
        ) from error
    typer.echo(f"Saved {harmless(saved.name)} as {saved.id}.")


def _fill_datasets(workflows: WorkflowClient, content: Mapping[str, Any]) -> None:
    """Put the id of a dataset where a node names it by its name."""
    nodes = content.get("nodes")
    for node in nodes if isinstance(nodes, list) else []:
        config = node.get("config") if isinstance(node, dict) else None
        name = config.get("dataset_id") if isinstance(config, dict) else None
        if isinstance(config, dict) and isinstance(name, str) and not _is_id(name):
            config["dataset_id"] = workflows.find_dataset(name)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def change(workflows: WorkflowClient, name: str, message: str, time_zone: str, is_accepted: bool) -> int:
    """Show what a phrase changes, and save it when it is accepted; return the exit code."""
    try:
        proposal = workflows.propose(name, message, time_zone)
    except LabError as error:
        options = error.facts.get("options")
        # Options make a refusal a question that the user can answer with another phrase; others are errors.
        if not isinstance(options, list):
            raise
        typer.echo(harmless(error.detail), err=True)
        for option in options:
            typer.echo(harmless(f"  - {option}"), err=True)
        return Exit.FAILED
    typer.echo(harmless(f"{proposal.summary}\n{proposal.difference.text}"))
    for fault in proposal.faults:
        typer.echo(harmless(f"{fault.pointer}: {fault.message}"), err=True)
    if proposal.faults:
        return Exit.FAILED
    if is_accepted or typer.confirm("Save this change?", default=False):
        workflows.decide(proposal, "accept")
        typer.echo("Saved.")
    else:
        # Rejected, not left open: nobody decides on it later.
        workflows.decide(proposal, "reject")
        typer.echo("Nothing was changed.")
    return Exit.DONE


def follow_run(workflows: WorkflowClient, run_id: str, ask: Callable[[RunWait], str]) -> int:
    """Print each node of a run as it ends, and ask what the run waits for; return the exit code."""
    printed: set[str] = set()
    while True:
        run = workflows.run_state(run_id)
        for node_id, node in run.nodes.items():
            if node_id not in printed:
                printed.add(node_id)
                typer.echo(harmless(_describe(node_id, node)))
        if run.ended_at is not None:
            break
        if run.question is not None:
            workflows.answer(run_id, run.question, ask(run.question))
            # At once: what the answer sets free has often ended by now.
            continue
        if run.status == "waiting" and run.waits_for and run.waits_for not in printed:
            printed.add(run.waits_for)
            typer.echo(f"waiting for the study {run.waits_for}")
        time.sleep(_POLL_S)
    # The result of a run is the table of the last node that has one.
    last = next((node for node in reversed(run.nodes.values()) if node.columns), None)
    if last is not None:
        columns = [(str(column["name"]), str(column.get("type"))) for column in last.columns]
        show_rows(columns, last.preview, Console(highlight=False, soft_wrap=True))
    typer.echo(f"{run.outcome or run.status} ({run.id})")
    return Exit.DONE if run.outcome == "succeeded" else Exit.FAILED


def _describe(node_id: str, node: RunNode) -> str:
    facts = [
        f"{node.rows:,} rows" if node.rows is not None else "",
        f"figure {node.figure:g}" if node.figure is not None else "",
        {True: "passes", False: "does not pass", None: ""}[node.passes],
        " ".join((node.answer or "").split()),
        node.error or "",
        *node.notes,
    ]
    return f"{node_id}: {node.status}" + "".join(f", {fact}" for fact in facts if fact)
