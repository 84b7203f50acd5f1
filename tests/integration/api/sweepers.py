"""Sweepers of triggers; a module to run.

It imports once, and forks a sweeper for each line of its input. It answers with the pid. The sweepers end with
it.
"""

import asyncio
import os
import signal
import sys

from app.db.pool import Database
from app.jobs import Job
from app.servers.launch import die_with
from app.sessions.config import SessionsConfig
from app.workflows.triggers.sweep import TriggerSweep


def send_nothing(job: Job) -> None:
    """No worker takes up what begins here."""


async def sweep_for_ever(database_url: str) -> None:
    database = await Database.open(database_url, size=2)
    sweep = TriggerSweep(database, send_nothing, SessionsConfig())
    while True:
        # A sweep that found something looks again at once; the time of day stands still meanwhile.
        if not await sweep.sweep():
            await asyncio.sleep(0.005)


def main(database_url: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
    parent = os.getpid()
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            die_with(parent, signal.SIGKILL)
            asyncio.run(sweep_for_ever(database_url))
        print(pid, flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main(sys.argv[1])
