"""Work of `labcrew jobs`: jobs and their answers, over the API."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console

from app.cli.api_client.client import LabClient
from app.cli.connection.service_connection import connected
from app.cli.terminal.exit_codes import Exit
from app.cli.terminal.local_zone import find_local_zone, local_minute
from app.cli.terminal.result_table import show_row_count, show_rows
from app.cli.terminal.sanitize import harmless
from app.settings import load_settings

_POLL_S = 0.5
"""Seconds between two looks at a job."""


class ListedJob(BaseModel):
    """A job of a list; fields that are not shown are ignored."""

    model_config = ConfigDict(extra="ignore")

    job_id: str
    status: str
    prompt: str
    created_at: datetime


class AnsweredJob(ListedJob):
    answer: dict[str, Any] | None


class JobClient:
    """Jobs of the user."""

    def __init__(self, client: LabClient) -> None:
        self._client = client

    def send(self, message: dict[str, Any]) -> AnsweredJob:
        return AnsweredJob.model_validate(self._client.call("POST", "/agent/jobs", message))

    def list_jobs(self) -> list[ListedJob]:
        return [ListedJob.model_validate(job) for job in self._client.call("GET", "/agent/jobs?limit=50")]

    def read(self, job_id: str) -> AnsweredJob:
        # The sender chose the id, which may hold a slash.
        return AnsweredJob.model_validate(self._client.call("GET", f"/agent/jobs/{quote(job_id, safe='')}"))

    def cancel(self, job_id: str) -> AnsweredJob:
        path = f"/agent/jobs/{quote(job_id, safe='')}/cancel"
        return AnsweredJob.model_validate(self._client.call("POST", path))


@contextmanager
def open_jobs(url: str | None, key: str | None) -> Iterator[JobClient]:
    with connected(load_settings(), url, key, lambda text: typer.echo(text, err=True)) as client:
        yield JobClient(client)


def send(jobs: JobClient, prompt: str, job_id: str | None, workflow: str | None, save: bool) -> int:
    """Send a job, wait for its answer and print it; return the exit code."""
    message = {"version": "1.0", "job_id": job_id or str(uuid4()), "prompt": prompt, "save": save}
    # `every day at 8` means the sender's clock, not that of the service.
    message["time_zone"] = find_local_zone()
    job = jobs.send(message | ({"workflow_tag": workflow} if workflow else {}))
    while job.answer is None:
        time.sleep(_POLL_S)
        job = jobs.read(job.job_id)
    _print_answer(job.job_id, job.answer)
    return Exit.FAILED if job.status == "failed" else Exit.DONE


def list_all(jobs: JobClient) -> None:
    newest_jobs = jobs.list_jobs()
    if not newest_jobs:
        typer.echo('No job yet. Send one: labcrew jobs send "total amount by region"', err=True)
    for job in newest_jobs:
        minute = local_minute(job.created_at)
        typer.echo(harmless(f"{job.job_id}  {job.status}  {minute}  {job.prompt[:80]}"))


def show(jobs: JobClient, job_id: str) -> None:
    job = jobs.read(job_id)
    typer.echo(harmless(json.dumps(job.answer or {"status": job.status}, indent=2, ensure_ascii=False)))


def _print_answer(job_id: str, answer: dict[str, Any]) -> None:
    """Print words, then the difference of a change or the first rows of a table."""
    preview, error = answer["result_preview"], answer["error"]
    for text in (preview.get("text"), preview.get("difference"), preview.get("question")):
        if text:
            typer.echo(harmless(str(text)))
    if preview.get("columns"):
        columns = [(str(column["name"]), str(column.get("type"))) for column in preview["columns"]]
        console = Console(highlight=False, soft_wrap=True)
        show_rows(columns, preview.get("rows", ()), console)
        show_row_count(preview.get("row_count", 0), console)
    if error:
        typer.echo(harmless(error["message"]), err=True)
    typer.echo(harmless(f"{answer['status']} ({job_id})"))
