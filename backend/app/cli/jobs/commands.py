"""`labcrew jobs`: prompts as machines send them, and their answers."""

from typing import Annotated

import typer

from app.cli.sessions.run import Key, Url

app = typer.Typer(help="Jobs of machines: send, list, show, cancel.", no_args_is_help=True)

JobId = Annotated[str, typer.Argument(help="The id that its sender chose.")]


@app.command("send")
def send(
    prompt: Annotated[str, typer.Argument(help='Such as "show me the top 10 flights by price".')],
    job_id: Annotated[str | None, typer.Option("--id", help="By default a new one.")] = None,
    workflow: Annotated[str | None, typer.Option(help="Name or id of the workflow to change.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Save a change without asking.")] = False,
    url: Url = None,
    key: Key = None,
) -> None:
    """Send a job, wait for its answer and print it."""
    from app.cli.jobs import requests as job_requests  # noqa: PLC0415 - half a second that `--help` need not wait

    with job_requests.open_jobs(url, key) as jobs:
        raise typer.Exit(job_requests.send(jobs, prompt, job_id, workflow, save))


@app.command("list")
def list_jobs(url: Url = None, key: Key = None) -> None:
    """List your last jobs, newest first."""
    from app.cli.jobs import requests as job_requests  # noqa: PLC0415 - see above

    with job_requests.open_jobs(url, key) as jobs:
        job_requests.list_all(jobs)


@app.command("show")
def show(job_id: JobId, url: Url = None, key: Key = None) -> None:
    """Show the answer of a job as JSON."""
    from app.cli.jobs import requests as job_requests  # noqa: PLC0415 - see above

    with job_requests.open_jobs(url, key) as jobs:
        job_requests.show(jobs, job_id)


@app.command("cancel")
def cancel(job_id: JobId, url: Url = None, key: Key = None) -> None:
    """Cancel a job that has no answer yet."""
    from app.cli.jobs import requests as job_requests  # noqa: PLC0415 - see above

    with job_requests.open_jobs(url, key) as jobs:
        typer.echo(jobs.cancel(job_id).status)
