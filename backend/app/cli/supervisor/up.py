"""`labcrew up`: the whole service in one terminal."""

import asyncio
import signal
from types import FrameType
from typing import Annotated

import typer

from app.cli.connection.service_file import ServiceAddresses
from app.cli.connection.web_sign_in import sign_in_address
from app.cli.supervisor.service import Service
from app.llm.config import OFFLINE
from app.llm.provider_catalog import describe_use
from app.settings import Settings, load_settings

Port = Annotated[
    int | None, typer.Option(help="Port of the API instead of API_PORT; 0 takes a free one.", min=0, max=65535)
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but what goes wrong.")]

_FAULTS_S = 5.0
"""Seconds that the greeting waits for a provider to confirm key and model."""


Verbose = Annotated[bool, typer.Option("--verbose", help="Show the seconds of each stage of the start.")]


def up(port: Port = None, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Run the service: Postgres, Valkey, the API and the workers. Ctrl-C stops it."""
    settings = load_settings(**({} if port is None else {"api_port": port}))
    service = Service(settings, typer.echo, (lambda stage: None) if quiet else typer.echo)
    _stop_on_signals(service)
    addresses = service.start()
    if addresses is None:
        return
    try:
        if not quiet:
            typer.echo(_greeting(service, addresses, settings, verbose))
        service.watch(addresses.api)
    finally:
        if not quiet:
            typer.echo("Stopping; Ctrl-C again does not wait for what is running.")
        service.stop()


def _stop_on_signals(service: Service) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        # The second signal: the user does not want to wait for what is running.
        if service.stopping.is_set():
            service.hurry()
        service.stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def _greeting(service: Service, addresses: ServiceAddresses, settings: Settings, verbose: bool) -> str:
    ready = service.stages.describe() if verbose else f"{service.stages.total_s:.1f} s"
    embedded = "embedded" if settings.database_url is None else "yours"
    return "\n".join(
        (
            "Labcrew is up.",
            *_page_lines(addresses, settings),
            f"  API        {addresses.api}/api/v1",
            f"  Reference  {addresses.api}/docs",
            f"  Data       {settings.home} (Postgres: {embedded})",
            f"  Logs       {settings.home / 'logs'}",
            f"  Chat model {describe_use(settings.chat)}",
            *(f"             {note}" for note in (*_model_faults(settings), settings.short_turns) if note),
            f"  Ready in   {ready}",
            'Next: labcrew run data.csv "What to predict", or the API. Ctrl-C stops everything.',
        )
    )


def _model_faults(settings: Settings) -> tuple[str, ...]:
    if set(settings.chat.all_models) == {OFFLINE}:
        return ()
    from app.llm.model_probe import find_faults  # noqa: PLC0415 - httpx, which no offline service waits for

    return asyncio.run(find_faults(settings.chat, _FAULTS_S))


def _page_lines(addresses: ServiceAddresses, settings: Settings) -> list[str]:
    address = sign_in_address(settings, addresses)
    if address is None:
        return [f"  Page       {addresses.api}/"]
    return [
        f"  Page       {address}",
        "             (signs you in once, within 5 minutes; later: labcrew sign-in)",
    ]
