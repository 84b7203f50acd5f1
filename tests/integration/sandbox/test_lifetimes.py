"""Who ends with whom: workers, zygotes, cells and their folders, SIGKILL included."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.patience import HANG_GUARD_S, hang_guard, until

from app.errors import Unavailable
from app.sandbox.exchange.contract import CellRequest, Computation, End, Limits, Outcome, Progress
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig

WORKER = """
import asyncio, sys
from pathlib import Path
from app.errors import Unavailable
from app.sandbox.exchange.contract import CellRequest, Computation, Limits
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig

async def main():
    provider = ProcessProvider(ProcessConfig(Path(sys.argv[1])))
    await provider.start()
    output = provider.scratch / "cell-1"
    output.mkdir()
    request = CellRequest(Computation("cell_fixtures.steps", {"count": 1_000_000_000}), {}, output)
    await provider.run(request, lambda share, text: print(text, flush=True))

asyncio.run(main())
"""

SERVER = """
import sys
from pathlib import Path
from app.sandbox.provider.zygote_launch import become_server
become_server(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def running(marker: str) -> list[int]:
    """Processes whose command line names `marker`: a zygote and its cells name their cache folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if marker in command and "app.sandbox.zygote.process" in command:
            found.append(int(entry.name))
    return found


async def compute(
    provider: ProcessProvider, name: str, on_progress: Progress | None = None, **params: int
) -> Outcome:
    output = provider.scratch / f"cell-{name}-{len(list(provider.scratch.iterdir()))}"
    output.mkdir()
    work, limits = Computation(f"cell_fixtures.{name}", params), Limits(time_s=10 * HANG_GUARD_S)
    return await provider.run(CellRequest(work, {}, output, limits), on_progress)


async def computing(provider: ProcessProvider) -> "asyncio.Task[Outcome]":
    """A computation that does not end by itself, once it has begun."""
    begun = asyncio.Event()
    task = asyncio.create_task(compute(provider, "steps", lambda share, text: begun.set(), count=1_000_000_000))
    async with hang_guard():
        await begun.wait()
    return task


async def test_cells_end_with_a_killed_worker_and_its_folders_are_swept(tmp_path: Path) -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER, tmp_path], stdout=subprocess.PIPE)  # noqa: ASYNC220
    assert worker.stdout
    assert await asyncio.to_thread(worker.stdout.readline) == b"step 1\n"
    assert running(str(tmp_path))
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    await until(lambda: not running(str(tmp_path)))
    left = list((tmp_path / "scratch").glob("run-*/cell-1"))
    assert len(left) == 1
    provider = ProcessProvider(ProcessConfig(tmp_path))
    await provider.start()
    assert not left[0].exists()
    await provider.close()
    assert running(str(tmp_path)) == []
    assert list((tmp_path / "scratch").iterdir()) == []


async def test_a_killed_zygote_is_replaced(tmp_path: Path) -> None:
    provider = ProcessProvider(ProcessConfig(tmp_path))
    await provider.start()
    spinning = await computing(provider)
    for pid in running(str(tmp_path)):
        os.kill(pid, signal.SIGKILL)
    outcome = await spinning
    assert outcome.fault is not None
    assert (outcome.end, outcome.fault.code) == (End.DIED, "cells_restarted")
    assert (await compute(provider, "echo", value=7)).value == 7
    await provider.close()
    assert running(str(tmp_path)) == []


async def test_a_cancelled_caller_does_not_stop_the_launch(tmp_path: Path) -> None:
    provider = ProcessProvider(ProcessConfig(tmp_path))
    impatient = asyncio.create_task(compute(provider, "echo", value=1))
    patient = asyncio.create_task(compute(provider, "echo", value=2))
    await asyncio.sleep(0.1)  # clock: one leaves while both wait; the other is served all the same
    impatient.cancel()
    assert (await patient).value == 2
    await provider.close()


async def test_closing_does_not_wait_for_a_start(tmp_path: Path) -> None:
    provider = ProcessProvider(ProcessConfig(tmp_path))
    starting = asyncio.create_task(provider.start())
    await asyncio.sleep(0.3)  # clock: it is starting, or about to
    async with hang_guard():
        await provider.close()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await until(lambda: not running(str(tmp_path)))


async def test_without_isolation_trusted_work_runs_and_untrusted_is_refused(tmp_path: Path) -> None:
    provider = ProcessProvider(ProcessConfig(tmp_path, tier="none"))
    assert (await compute(provider, "echo", value=1)).value == 1
    with pytest.raises(Unavailable, match="isolation"):
        await provider.run(CellRequest(Computation("cell_fixtures.who", trusted=False), {}, provider.scratch))
    await provider.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Callable[[], "subprocess.Popen[bytes]"]]:
    started = []

    def start() -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen([sys.executable, "-c", SERVER, tmp_path / "s", tmp_path / "cache"]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


async def test_a_shared_zygote_serves_several_clients_and_outlives_each(
    tmp_path: Path, server: Callable[[], "subprocess.Popen[bytes]"]
) -> None:
    first_server = server()
    config = ProcessConfig(tmp_path, socket=tmp_path / "s")
    one, other = ProcessProvider(config), ProcessProvider(config)
    await asyncio.gather(one.start(), other.start())
    spinning = await computing(other)
    await compute(one, "echo", value=1)
    await one.close()
    assert (await compute(other, "echo", value=2)).value == 2
    assert not spinning.done()
    first_server.kill()
    assert (await spinning).end is End.DIED
    server()
    assert (await compute(other, "echo", value=3)).value == 3
    await other.close()
