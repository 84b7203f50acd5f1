"""Workers of the real service that kill themselves, and are started again."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.integration.sessions.lab.duties import QUICK
from tests.patience import wait_until

from app.db.pool import Database
from app.settings import Settings

ROOT = Path(__file__).parents[3]
_IN_FLIGHT_S = 0.05
"""Seconds after the death of a worker in which a statement that it had sent may still take effect."""
_DEAD_LEASES = (
    "update sessions set lease_until = now() where lease_until > now() and lease_until < to_timestamp($1)",
    "update fits set lease_until = now() where status = 'running' and lease_until > now() "
    "and lease_until < to_timestamp($1)",
)


async def end_dead_leases(database: Database, folder: Path) -> None:
    """End the leases that workers before the living one of `folder` held, not when their time is over.

    Leases tell nobody's name, but all last equally long: those that were given before the living worker began
    are over before those that it was given itself.
    """
    began_at = (folder / "pid").stat().st_mtime
    for statement in _DEAD_LEASES:
        await database.rows(statement, began_at + QUICK.lease_s + _IN_FLIGHT_S)


@contextmanager
def start_nursery() -> Iterator["subprocess.Popen[str]"]:
    """Start the process that forks workers: it imports the service once."""
    command = [sys.executable, "-m", "tests.integration.sessions.lab.nursery"]
    with subprocess.Popen(
        command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


@contextmanager
def keeping(
    nursery: "subprocess.Popen[str]", settings: Settings, folder: Path, kills: str = "statements"
) -> Iterator[Path]:
    """Keep a worker alive, in a folder that has its `pid`, its log and the places of kills.

    `kills`: around which events it dies, `statements` or `answers` of a chat model.
    """
    names = ("database_url", "cells_socket", "llm_model", "llm_base_url", "llm_prices")
    changed_settings = {name: str(value) for name in names if (value := getattr(settings, name)) is not None}
    changed_settings |= {"redis_url": str(settings.redis_address), "labcrew_home": str(settings.home)}
    changed_settings |= {"http_allowed_hosts": ",".join(settings.http_allowed_hosts)}
    if settings.openai_api_key is not None:
        changed_settings["openai_api_key"] = "test"
    folder.mkdir()
    environment = {
        "LAB_SETTINGS": json.dumps(changed_settings),
        "LAB_KILLS": kills,
        "REDIS_URL": str(settings.redis_address),
        "LAB_FOLDER": str(folder),
        "LAB_PID": str(folder / "pid"),
        "LAB_LOG": str(folder / "worker.log"),
    }
    assert nursery.stdin
    assert nursery.stdout
    nursery.stdin.write(json.dumps(environment) + "\n")
    nursery.stdin.flush()
    keeper = int(nursery.stdout.readline())
    try:
        wait_until((folder / "pid").exists)
        yield folder
    finally:
        with suppress(ProcessLookupError):
            os.killpg(keeper, signal.SIGKILL)
