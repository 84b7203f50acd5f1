"""Who ends with whom when cells are in a container. Skipped where no engine answers."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.patience import until

from app.errors import Unavailable
from app.sandbox.exchange.contract import CellRequest, Computation, End, Outcome
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.sandbox.provider.zygote_container import Container

from .conftest import container_for
from .test_lifetimes import computing

OWNER = """
import asyncio, sys
from pathlib import Path
from app.sandbox.provider.zygote_container import Container
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig

async def main():
    home, image = Path(sys.argv[1]), sys.argv[2]
    container = Container(image, home / "scratch", home / "blobs", 1 << 30, 4)
    provider = ProcessProvider(ProcessConfig(home, container=container))
    await provider.start()
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    made = container_for(tmp_path)
    yield made
    assert standing(made) == []


def standing(container: Container) -> list[str]:
    """Ids of the containers of this scratch folder."""
    return docker("ps", "--all", "--quiet", f"--filter=label=labcrew.scratch={container.scratch}").split()


def docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout


async def compute(provider: ProcessProvider, name: str, **params: int) -> Outcome:
    output = provider.scratch / f"cell-{name}"
    output.mkdir(exist_ok=True)
    return await provider.run(CellRequest(Computation(f"cell_fixtures.{name}", params), {}, output))


async def test_a_hardened_container_that_is_killed_is_an_outcome_and_is_replaced(
    tmp_path: Path, container: Container
) -> None:
    provider = ProcessProvider(ProcessConfig(tmp_path, container=container))
    await provider.start()
    spinning = await computing(provider)
    [first] = standing(container)
    assert_hardened(container, first)
    os.kill(int(docker("inspect", "--format={{.State.Pid}}", first)), signal.SIGKILL)
    outcome = await spinning
    assert outcome.fault is not None
    assert (outcome.end, outcome.fault.code) == (End.DIED, "cells_restarted")
    assert (await compute(provider, "echo", value=7)).value == 7
    assert first not in standing(container)
    await provider.close()
    await until(lambda: not standing(container))
    assert list(container.scratch.iterdir()) == []


async def test_a_killed_owner_leaves_no_container(tmp_path: Path, container: Container) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path), container.image]
    owner = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: ASYNC220
    assert owner.stdout
    assert await asyncio.to_thread(owner.stdout.readline) == b"ready\n"
    assert len(standing(container)) == 1
    owner.kill()
    owner.wait()
    owner.stdout.close()
    await until(lambda: not standing(container))


async def test_a_container_that_outlived_its_owner_is_swept(tmp_path: Path, container: Container) -> None:
    label = f"--label=labcrew.scratch={container.scratch}"
    gone = f"--label=labcrew.door={tmp_path / 'gone'}"
    docker("run", "--detach", "--rm", "--network=none", label, gone, container.image, "sleep", "infinity")
    provider = ProcessProvider(ProcessConfig(tmp_path, container=container))
    await provider.start()
    assert len(standing(container)) == 1
    await provider.close()
    await until(lambda: not standing(container))


def assert_hardened(container: Container, started: str) -> None:
    facts = json.loads(docker("inspect", started))[0]
    host, mounts = facts["HostConfig"], {each["Destination"]: each["RW"] for each in facts["Mounts"]}
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["Privileged"]) == ("none", True, False)
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["Memory"] > 0
    assert host["NanoCpus"] == min(container.cells, os.cpu_count() or 1) * 10**9
    assert host["PidsLimit"] > 0
    assert not facts["Config"]["User"].startswith("0")
    assert mounts == {str(container.scratch): True, str(container.blobs): False, "/run/labcrew": True}


async def test_a_missing_image_is_refused_with_what_to_do(tmp_path: Path, container: Container) -> None:
    missing = replace(container, image="labcrew-that-nobody-built")
    provider = ProcessProvider(ProcessConfig(tmp_path, container=missing))
    with pytest.raises(Unavailable, match="docker build -t labcrew-that-nobody-built"):
        await provider.start()
    await provider.close()
