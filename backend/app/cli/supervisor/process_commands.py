"""`labcrew api`, `worker` and `migrate`: one process of the service each, for containers and larger set-ups.

Their imports take seconds and a hundred megabytes, so each is made by the one command that needs it.
"""

import asyncio
import gc
import importlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from app.cli.connection.addresses import with_addresses
from app.cli.quick_imports import hidden, postpone, quick_imports
from app.errors import InvalidInput
from app.settings import load_settings

QUEUES = ("steps", "compute")

Fd = Annotated[int | None, typer.Option(hidden=True, help="A listening socket that `labcrew up` made.")]
Queues = Annotated[str, typer.Option(help="Queues to serve, with commas between.")]


def load_shared(on_module: Callable[[], object] = lambda: None) -> None:
    """Import what `api` and `worker` both need, so that forks of this process share it.

    `on_module` is called after each module, and may raise to end this.
    """
    with hidden("rich"):  # structlog draws tracebacks with it, which are written as text here
        _load(on_module, "structlog")
    _load(on_module, *_SHARED_MODULES)


def load_worker(on_module: Callable[[], object] = lambda: None) -> None:
    """Import what `worker` needs, so that a fork of this process starts at once. `on_module`: see above."""
    postpone("langsmith.types")  # pydantic models of a service that is not used: 80 ms of processor time
    _load(on_module, *_WORKER_MODULES)


_SHARED_MODULES = (
    "uvloop",
    "anyio",
    "pydantic.v1",
    "app.resources",
    "app.deletion.accounts",
    "app.threads.service",
    "app.plans.compiler",
    "app.agent_jobs.queue",
    "app.artifacts.predictions",
    "app.auth.cpu_charges",
    "app.charts.specification",
    "app.datasets.service",
    "app.pipeline.fork_comparison",
    "app.reporting.claims",
    "app.reporting.document.blocks",
    "app.sessions.forks.comparison",
    "app.sessions.forks.service",
    "app.workflows.intent.classification",
    "app.workflows.proposals",
    "app.workflows.runs.schemas",
)
"""Modules that a new API and a new worker both import. After the fork each would take its time twice."""
_WORKER_MODULES = (
    "celery.apps.worker",
    "celery.concurrency.thread",
    "celery.worker.consumer",
    "billiard.pool",
    "kombu.matcher",
    "app.observability.logging",
    "app.sessions.graphs",
    "app.worker.event_loop",
    "app.worker.graphs",
    "app.worker.process",
)


def _load(on_module: Callable[[], object], *modules: str) -> None:
    with quick_imports():
        for module in modules:
            importlib.import_module(module)
            on_module()


def api(fd: Fd = None) -> None:
    """Run the API alone."""
    # Imports make many objects and little garbage; looking for it between them costs more than it frees.
    gc.disable()
    import uvicorn  # noqa: PLC0415 - see above

    from app.api.server.protocols import EdgeProtocol, EdgeSocketProtocol  # noqa: PLC0415 - see above
    from app.api.server.shutdown import EdgeServer  # noqa: PLC0415 - see above
    from app.main import create_app  # noqa: PLC0415 - see above
    from app.observability.logging import configure_logging  # noqa: PLC0415 - see above

    settings = with_addresses(load_settings())
    configure_logging(settings.log_level, settings.log_format)
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.api_host,
        port=settings.api_port,
        loop="uvloop",
        http=EdgeProtocol,
        ws=EdgeSocketProtocol,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        # Requests are logged by the application, with their ids; uvicorn's lines would repeat them.
        access_log=False,
        # uvicorn would otherwise replace the configuration made above by its own.
        log_config=None,
        server_header=False,
        ws_max_size=1 << 20,
        ws_per_message_deflate=False,  # it costs 300 KB and time on every socket
        timeout_graceful_shutdown=10,
    )
    # The supervisor's socket: while this process is started again, connections wait in its backlog.
    sockets = None if fd is None else [socket.socket(fileno=fd)]
    gc.freeze()  # what was imported stays: it need not be looked through for garbage again
    gc.enable()
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(EdgeServer(config, app.state.leaving).serve(sockets))


def worker(queues: Queues = "steps,compute", metrics_fd: Fd = None) -> None:
    """Run a worker: it drives sessions and fits models."""
    from app.observability.logging import configure_logging  # noqa: PLC0415 - see above
    from app.observability.metrics.metrics_server import open_socket  # noqa: PLC0415 - see above
    from app.worker.process import run  # noqa: PLC0415 - see above

    settings = with_addresses(load_settings())
    configure_logging(settings.log_level, settings.log_format)
    figures_at = socket.socket(fileno=metrics_fd) if metrics_fd is not None else None
    if figures_at is None and settings.metrics_port is not None:
        figures_at = open_socket(settings.metrics_host, settings.metrics_port)
    run(settings, _parse_queues(queues), figures_at=figures_at)


def cells(
    socket_path: Annotated[
        Path, typer.Option("--socket", help="Where to listen: a private folder's `socket`.")
    ],
    lifeline: Annotated[bool, typer.Option("--lifeline", help="End when the standard input does.")] = False,
) -> None:
    """Run the process that every computation of this host is forked from."""
    from app.sandbox.provider.zygote_container import become_container  # noqa: PLC0415 - see above
    from app.sandbox.provider.zygote_launch import become_server  # noqa: PLC0415 - see above

    settings = load_settings()
    if settings.cells.container:
        become_container(settings.cells.container, socket_path.parent)
    become_server(socket_path, settings.home / "cells" / "cache", lifeline=lifeline)


def charts(
    socket_path: Annotated[
        Path, typer.Option("--socket", help="Where to listen: a private folder's `socket`.")
    ],
) -> None:
    """Run the process that draws the charts of this host."""
    from app.charts.drawing_launch import become_server  # noqa: PLC0415 - see above

    become_server(socket_path)


def migrate(
    down_to: Annotated[
        str | None,
        typer.Option(help="Take the schema back to this revision, before an older version is started."),
    ] = None,
) -> None:
    """Bring the database to this version's schema."""
    from app.db.migrations import downgrade, upgrade  # noqa: PLC0415 - see above

    url = with_addresses(load_settings()).database_url or ""
    if down_to is None:
        upgrade(url)
        typer.echo("The database has this version's schema.")
    else:
        downgrade(url, down_to)
        typer.echo(f"The database has the schema {down_to}.")


def _parse_queues(queues: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in queues.split(",") if name.strip())
    if not names or not set(names) <= set(QUEUES):
        raise InvalidInput("unknown_queue", f"--queues={queues} must name some of: {', '.join(QUEUES)}.")
    return names
