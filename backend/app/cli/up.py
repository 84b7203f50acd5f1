"""`labcrew up`: the whole service in one terminal."""

import signal
from types import FrameType
from typing import Annotated

import typer

from app.cli.service import Service
from app.cli.service_file import ServiceCard
from app.settings import Settings, load_settings

Port = Annotated[
    int | None, typer.Option(help="Port of the API instead of API_PORT; 0 takes a free one.", min=0, max=65535)
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but what goes wrong.")]


def up(port: Port = None, quiet: Quiet = False) -> None:
    """Run the service: Postgres, Valkey, the API and the workers. Ctrl-C stops it."""
    settings = load_settings(**({} if port is None else {"api_port": port}))
    service = Service(settings, typer.echo)
    _stop_on_signals(service)
    card = service.start()
    try:
        if not quiet:
            typer.echo(_greeting(card, settings))
        service.watch(card.api)
    finally:
        if not quiet:
            typer.echo("Stopping; Ctrl-C again does not wait for what is running.")
        service.stop()


def _stop_on_signals(service: Service) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        if service.stopping.is_set():
            service.hurry()
        service.stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def _greeting(card: ServiceCard, settings: Settings) -> str:
    embedded = "embedded" if settings.database_url is None else "yours"
    return "\n".join(
        (
            "Labcrew is up.",
            f"  API        {card.api}/api/v1",
            f"  Reference  {card.api}/docs",
            f"  Data       {settings.home} (Postgres: {embedded})",
            f"  Logs       {settings.home / 'logs'}",
            f"  Chat model {settings.chat.model}",
            'Next: labcrew run data.csv "What to predict", or the API. Ctrl-C stops everything.',
        )
    )
