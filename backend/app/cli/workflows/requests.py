"""Work of `labcrew workflow`: workflows, their changes from words, and their runs, over the API."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from app.cli.connection.service_connection import connected
from app.cli.terminal.exit_codes import Exit
from app.cli.terminal.local_zone import local_minute
from app.cli.terminal.result_table import show_rows
from app.cli.terminal.sanitize import harmless
from app.cli.workflows.client import WorkflowClient, is_id
from app.cli.workflows.responses import RunNode, RunWait, WorkflowRunAnswer
from app.errors import InvalidInput, LabError, NotFound
from app.settings import load_settings

_POLL_S = 0.5
"""Seconds between two looks at a run."""


@contextmanager
def open_workflows(url: str | None, key: str | None) -> Iterator[WorkflowClient]:
    with connected(load_settings(), url, key, lambda text: typer.echo(text, err=True)) as client:
        yield WorkflowClient(client)


def list_all(workflows: WorkflowClient) -> None:
    flows = workflows.list_workflows()
    if not flows:
        typer.echo(
            "No workflow yet. `labcrew workflow create FILE.json` saves one, and so does a conversation.",
            err=True,
        )
    for flow in flows:
        name, changed = harmless(flow.name), local_minute(flow.updated_at)
        typer.echo(f"{flow.id[:8]}  {name}  version {flow.version}  {changed}")


def show(workflows: WorkflowClient, name: str) -> None:
    """Print when a workflow runs, its nodes with their settings, then the edges."""
    workflow = workflows.read(name)
    typer.echo(f"{harmless(workflow.name)}, version {workflow.version} ({workflow.id})")
    for trigger in workflows.triggers(workflow):
        typer.echo(harmless(f"  runs {trigger.text} ({trigger.node})"))
        times = ", ".join(f"{tick.astimezone():%a} {local_minute(tick)}" for tick in trigger.next_ticks)
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
        minute = local_minute(version.created_at)
        typer.echo(harmless(f"{version.version:>4}  {minute}  {version.message}{author}"))


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
        began_text = local_minute(run.created_at)
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
        if isinstance(config, dict) and isinstance(name, str) and not is_id(name):
            config["dataset_id"] = workflows.find_dataset(name)


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
        waiting = _describe_wait(run)
        if waiting and waiting not in printed:
            printed.add(waiting)
            typer.echo(waiting)
        time.sleep(_POLL_S)
    # The result of a run is the table of the last node that has one.
    last = next((node for node in reversed(run.nodes.values()) if node.columns), None)
    if last is not None:
        columns = [(str(column["name"]), str(column.get("type"))) for column in last.columns]
        show_rows(columns, last.preview, Console(highlight=False, soft_wrap=True))
    typer.echo(f"{run.outcome or run.status} ({run.id})")
    workflows.mark_seen(run_id)
    return Exit.DONE if run.outcome == "succeeded" else Exit.FAILED


def _describe_wait(run: WorkflowRunAnswer) -> str:
    """Return what a run waits for; empty where it does not wait."""
    if run.status != "waiting":
        return ""
    if run.waits_until is not None:
        return f"trying again at {run.waits_until.astimezone():%Y-%m-%d %H:%M:%S}"
    return f"waiting for the study {run.waits_for}" if run.waits_for else ""


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
