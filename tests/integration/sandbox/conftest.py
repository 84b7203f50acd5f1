import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import pytest_asyncio
from tests.patience import HANG_GUARD_S

from app.json_types import JsonValue
from app.sandbox.exchange.contract import CellRequest, Code, Computation, Limits, Outcome, Progress
from app.sandbox.kernel.isolation import Tier, survey_host
from app.sandbox.outputs.folders import remove
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.sandbox.provider.zygote_container import Container, engine_refusal

TIERS = [tier for tier in (Tier.NAMESPACES, Tier.LSM) if tier not in survey_host()[1]]


@dataclass(frozen=True)
class Cells:
    """A provider and short ways to ask it."""

    provider: ProcessProvider

    async def run(
        self,
        work: Computation | Code,
        inputs: Mapping[str, Path] | None = None,
        limits: Limits | None = None,
        on_progress: Progress | None = None,
    ) -> Outcome:
        output = Path(tempfile.mkdtemp(dir=self.provider.scratch))
        request = CellRequest(work, inputs or {}, output, limits or Limits(time_s=HANG_GUARD_S))
        try:
            return await self.provider.run(request, on_progress)
        finally:
            used_bytes = _disk_usage(output)
            remove(output)
            # Supervision may come some milliseconds late, not more.
            assert used_bytes <= 20 * request.limits.disk_bytes

    async def compute(self, function: str, limits: Limits | None = None, **params: JsonValue) -> Outcome:
        return await self.run(Computation(f"cell_fixtures.{function}", params), limits=limits)


def _disk_usage(folder: Path) -> int:
    """Bytes of the disk: what sparse files only claim to hold harms nobody, and is never taken over."""
    completed = subprocess.run(
        ["du", "-s", "--block-size=1", folder], capture_output=True, text=True, check=False
    )
    return int(completed.stdout.split()[0])


CONTAINER = "container"


def container_for(home: Path) -> Container:
    """Skips the test, saying why, where no engine answers or it lacks the image of this version."""
    image = os.environ.get("SANDBOX_IMAGE", "labcrew")
    if refusal := engine_refusal(image):
        pytest.skip(refusal)
    if not knows_lifelines(image):
        pytest.skip(f"The image {image} is of another version. Build it: docker build -t {image} .")
    return Container(image, home / "scratch", home / "blobs", memory_bytes=2 << 30, cells=16)


@cache
def knows_lifelines(image: str) -> bool:
    ask = ["docker", "run", "--rm", "--network=none", "--workdir=/", image, "labcrew", "cells", "--help"]
    completed = subprocess.run(ask, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    return "lifeline" in completed.stdout


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=[*TIERS, CONTAINER], ids=str)
async def cells(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cells]:
    """A warm provider of each tier that this host has, and one whose cells are in a container."""
    home = tmp_path_factory.mktemp("cells")
    if request.param == CONTAINER:
        config = ProcessConfig(home, container=container_for(home))
    else:
        config = ProcessConfig(home, tier=str(request.param))
    provider = ProcessProvider(config)
    await provider.start()
    yield Cells(provider)
    await provider.close()
