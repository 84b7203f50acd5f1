"""Forks workers that are started again whenever they are killed; a module to run.

It imports once, so a worker's life takes a fraction of a second. Each line of its input is the environment of a
new worker as JSON; it answers with the pid of the worker's keeper, which leads a process group of its own.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import traceback
from dataclasses import replace
from pathlib import Path

from tests.integration.sessions.lab.duties import QUICK, open_duties

from app.worker.celery_app import make_celery
from app.worker.event_loop import OpenServices, WorkerLoop
from app.worker.process import consume


def live() -> None:
    loop = WorkerLoop(opening())
    consume(make_celery(os.environ["REDIS_URL"]), ("steps", "compute"), 16, loop)


def opening() -> OpenServices:
    """The parts of the lab's worker; with LAB_SETTINGS, of the real service's."""
    if "LAB_SETTINGS" in os.environ:
        from tests.integration.sessions.lab.service import open_service

        if "llm_model" in json.loads(os.environ["LAB_SETTINGS"]):
            importlib.import_module("langchain_openai")  # takes seconds, in each life otherwise
        return lambda: open_service(os.environ)
    config = replace(QUICK, slice_s=float(os.environ.get("LAB_SLICE_S", "1.0")))
    config = replace(config, stranded_grace_s=float(os.environ.get("LAB_STRANDED_S", "600")))
    config = replace(config, lease_s=float(os.environ.get("LAB_LEASE_S", config.lease_s)))
    if renew_s := os.environ.get("LAB_RENEW_S"):
        config = replace(config, renew_s=float(renew_s), lease_s=2 * float(renew_s))
    version, *also = map(int, os.environ.get("LAB_VERSION", "1").split(","))
    return lambda: open_duties(os.environ, config, version, tuple(also))


def keep() -> None:
    """Run a worker, and another one after each that was killed, until SIGTERM."""
    opening()  # imports once, for every life
    child, has_ended = 0, False

    def end(*_: object) -> None:
        # A worker that has no handler yet dies of the signal, which looks like a kill but has to be its last.
        nonlocal has_ended
        has_ended = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)

    while not has_ended:
        # A signal that arrives between the fork and the handler would end the keeper and leave the worker.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        child = os.fork()
        signal.signal(signal.SIGTERM, end if child else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        if child == 0:
            # Before it is given a lease: the time of the file tells its leases from those of the dead.
            Path(os.environ["LAB_PID"]).write_text(str(os.getpid()))
            live()
            return
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            return


def _become_keeper(environment: dict[str, str]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.environ.update(environment)
    log = os.open(environment["LAB_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        keep()
    except Exception:  # noqa: BLE001 - nobody else would say it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(0)


PRELOADED = ("celery.apps.worker", "celery.concurrency.thread", "celery.worker.consumer")
"""What Celery imports as a worker starts, which took two thirds of the processor time of each life."""


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for module in PRELOADED:
        importlib.import_module(module)
    gc.freeze()  # a collection in a fork would copy each page of the modules
    for line in sys.stdin:
        environment = json.loads(line)
        if "LAB_SETTINGS" in environment:
            importlib.import_module("tests.integration.sessions.lab.service")  # once, for all keepers
        keeper = os.fork()
        if keeper == 0:
            _become_keeper(environment)
        sys.stdout.write(f"{keeper}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
