"""`labcrew workflow`: saved pipelines, their changes from words, their versions and runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.sessions.run import Key, Url

if TYPE_CHECKING:
    from app.cli.workflows.responses import RunWait

app = typer.Typer(
    help="Workflows: list, show, create, change, versions, restore, run, runs, retry, delete.",
    no_args_is_help=True,
)

Workflow = Annotated[str, typer.Argument(help="Name, or id or the beginning of one.")]


@app.command("list")
def list_workflows(url: Url = None, key: Key = None) -> None:
    """List your workflows, the last changed first."""
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - half a second that `--help` need not wait

    with workflow_requests.open_workflows(url, key) as workflows:
        workflow_requests.list_all(workflows)


@app.command("show")
def show(workflow: Workflow, url: Url = None, key: Key = None) -> None:
    """Show the nodes and edges of a workflow."""
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    with workflow_requests.open_workflows(url, key) as workflows:
        workflow_requests.show(workflows, workflow)


@app.command("create")
def create(
    file: Annotated[Path, typer.Argument(help="JSON of nodes and edges.")],
    url: Url = None,
    key: Key = None,
) -> None:
    """Save a workflow from a file; its name is that in the file, or the file's."""
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    with workflow_requests.open_workflows(url, key) as workflows:
        workflow_requests.create_from_file(workflows, file)


@app.command("change")
def change(
    workflow: Workflow,
    phrase: Annotated[str, typer.Argument(help='Such as "run it every weekday at 8".')],
    time_zone: Annotated[
        str | None, typer.Option(help="Time zone of schedules. By default that of the terminal.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Save without asking.")] = False,
    url: Url = None,
    key: Key = None,
) -> None:
    """Show what a phrase changes, and save it if you agree."""
    from app.cli.terminal import local_zone  # noqa: PLC0415 - see above
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    zone = time_zone or local_zone.find_local_zone()
    with workflow_requests.open_workflows(url, key) as workflows:
        raise typer.Exit(workflow_requests.change(workflows, workflow, phrase, zone, yes))


@app.command("versions")
def versions(workflow: Workflow, url: Url = None, key: Key = None) -> None:
    """List the versions of a workflow, newest first, with their authors."""
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    with workflow_requests.open_workflows(url, key) as workflows:
        workflow_requests.list_versions(workflows, workflow)


@app.command("restore")
def restore(workflow: Workflow, version: int, url: Url = None, key: Key = None) -> None:
    """Save the content of an earlier version as a new one."""
    from app.cli.terminal.sanitize import harmless  # noqa: PLC0415 - see above
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    with workflow_requests.open_workflows(url, key) as workflows:
        typer.echo(harmless(workflows.restore(workflow, version).text or "Nothing differs."))


@app.command("run")
def run(workflow: Workflow, url: Url = None, key: Key = None) -> None:
    """Run a workflow and print each node as it ends; approvals are asked here."""
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    with workflow_requests.open_workflows(url, key) as workflows:
        raise typer.Exit(workflow_requests.follow_run(workflows, workflows.run(workflow), _ask))


@app.command("runs")
def runs(workflow: Workflow, url: Url = None, key: Key = None) -> None:
    """List the last 50 runs of a workflow, newest first, with their ids for `retry`."""
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    with workflow_requests.open_workflows(url, key) as workflows:
        workflow_requests.list_runs(workflows, workflow)


@app.command("retry")
def retry(
    run_id: Annotated[str, typer.Argument(help="Id of a run that has ended.")],
    node: Annotated[
        str | None, typer.Option("--from", help="First node that runs again; by default the first that failed.")
    ] = None,
    url: Url = None,
    key: Key = None,
) -> None:
    """Run the nodes of a run again from one on; the results of the others are kept."""
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    with workflow_requests.open_workflows(url, key) as workflows:
        raise typer.Exit(workflow_requests.follow_run(workflows, workflows.retry(run_id, node), _ask))


@app.command("delete")
def delete(
    workflow: Workflow,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    url: Url = None,
    key: Key = None,
) -> None:
    """Delete a workflow with all of its versions. Its runs and their results stay."""
    from app.cli.terminal.sanitize import harmless  # noqa: PLC0415 - see above
    from app.cli.workflows import requests as workflow_requests  # noqa: PLC0415 - see above

    with workflow_requests.open_workflows(url, key) as workflows:
        flow = workflows.find(workflow)
        name = harmless(f"{flow.name} ({flow.id})")
        if yes or typer.confirm(f"Delete {name}?"):
            workflows.delete(flow.id)
            typer.echo(f"Deleted {name}.")


def _ask(question: "RunWait") -> str:
    from app.cli.terminal.sanitize import harmless  # noqa: PLC0415 - see above

    return str(typer.prompt(harmless(f"{question.text} ({' / '.join(map(str, question.options))})")))
