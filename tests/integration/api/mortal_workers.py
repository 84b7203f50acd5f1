"""Workers of the real service that kill themselves, and are started again."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.patience import wait_until

from app.settings import Settings

ROOT = Path(__file__).parents[3]
LAPSED = (
    "update sessions set lease_until = now() where lease_until > now()",
    "update fits set lease_until = now() where status = 'running'",
)
"""Statements by which the leases of a killed worker end at once."""


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
    given = {name: str(value) for name in names if (value := getattr(settings, name)) is not None}
    given |= {"redis_url": str(settings.redis_address), "labcrew_home": str(settings.home)}
    given |= {"http_allowed_hosts": ",".join(settings.http_allowed_hosts)}
    if settings.openai_api_key is not None:
        given["openai_api_key"] = "test"
    folder.mkdir()
    environment = {
        "LAB_SETTINGS": json.dumps(given),
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
