"""The suite's API and workers: `python -m tests.chaos.processes api FD` or `worker NAME QUEUES THREADS`.

They are the product's own, with one more graph, one more route that makes sessions of it, and a clock that can
be moved from outside. Their folder is CHAOS_FOLDER.
"""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel, ConfigDict
from tests.chaos import graph
from tests.chaos.clock import follow
from tests.chaos.work_log import WorkLog

from app import main as product
from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import session_service
from app.cli.supervisor import process_commands
from app.observability.logging import configure_logging
from app.resources import Resources
from app.sessions.graphs import Graphs, GraphSpec
from app.sessions.schemas import SessionCreated
from app.sessions.step_scope import StepScope
from app.settings import Settings, load_settings
from app.worker.graphs import pipeline_graphs
from app.worker.process import serve

LAB_SESSIONS = "/api/v1/chaos/sessions"
TASKS = "/api/v1/chaos/tasks"
COUNT = "faults"
WORK_LOG = "work_log"


class LabPreferences(BaseModel):
    model_config = ConfigDict(extra="allow")

    seed: int | None = None


class LabSession(BaseModel):
    goal: str
    dataset_ids: list[UUID] = []
    preferences: LabPreferences


router = APIRouter()


@router.post(LAB_SESSIONS, status_code=201)
async def create_lab_session(
    request: LabSession,
    principal: PrincipalDep,
    resources: ResourcesDep,
    idempotency_key: IdempotencyKey = None,
) -> SessionCreated:
    service = session_service(resources, "lab")
    return await service.create(principal.user_id, request, idempotency_key)


@router.get(TASKS)
async def list_tasks() -> list[str]:
    """List the waiting tasks of the API, to find out why a client waits."""
    return waiting_tasks()


def waiting_tasks() -> list[str]:
    """List each task of this loop with the functions and lines that wait for each other."""
    return sorted(f"{task.get_name()}: {' > '.join(_chain(task.get_coro()))}" for task in asyncio.all_tasks())


def _chain(waiting: Any) -> Iterator[str]:
    while frame := getattr(waiting, "cr_frame", None) or getattr(waiting, "ag_frame", None):
        yield f"{waiting.__qualname__}:{frame.f_lineno}"
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "ag_await", None)


def api(folder: Path, fd: str) -> None:
    create = product.create_app

    def create_with_lab(settings: Settings) -> FastAPI:
        app = create(settings)
        app.include_router(router, include_in_schema=False)
        return app

    product.create_app = create_with_lab  # type: ignore[assignment]  # it takes one argument here
    process_commands.api(int(fd))


def worker(folder: Path, name: str, queues: str, threads: str) -> None:
    follow(folder / "clocks" / name)
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    work_log = WorkLog(folder / WORK_LOG, name)
    serve(
        settings,
        queues.split(","),
        int(threads),
        lambda resources: all_graphs(resources, work_log, folder / COUNT),
        warm_cells=True,
    )


def all_graphs(resources: Resources, work_log: WorkLog, count: Path) -> Graphs:
    """The product's graphs and the light one; each step that a worker takes up is noted."""
    pipeline = pipeline_graphs(resources)
    specs = [pipeline.get(name, version) for name, version in pipeline.versions.items()]
    specs.append(graph.spec(resources.computer, work_log, count))
    return Graphs([_noting(graph_spec, work_log) for graph_spec in specs])


def _noting(spec: GraphSpec, work_log: WorkLog) -> GraphSpec:
    def make_context(step: StepScope) -> Any:
        work_log.write("step", step)
        return spec.make_context(step)

    return replace(spec, make_context=make_context)


def main(part: str, *arguments: str, environment: Mapping[str, str] = os.environ) -> None:
    folder = Path(environment["CHAOS_FOLDER"])
    (api if part == "api" else worker)(folder, *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
