"""The command that starts a zygote's container, where no engine is at hand."""

import os
from pathlib import Path

import pytest

from app.sandbox.provider.zygote_container import Container

HOST_PROCESSORS = os.cpu_count() or 1


@pytest.mark.parametrize(
    ("cells", "cpus", "granted"),
    [
        (HOST_PROCESSORS, 0.5, 0.5),
        (1, None, 1),
        (HOST_PROCESSORS + 7, None, HOST_PROCESSORS),
        (1, HOST_PROCESSORS + 7.0, HOST_PROCESSORS),
    ],
    ids=["as the setting says", "one for each cell", "at most those of the host", "also of the setting"],
)
def test_the_processors_of_a_container_are_bounded(
    tmp_path: Path, cells: int, cpus: float | None, granted: float
) -> None:
    container = Container("labcrew", tmp_path / "scratch", tmp_path / "blobs", 1 << 30, cells, cpus)
    [bound] = [part for part in container.command(tmp_path) if part.startswith("--cpus=")]
    assert float(bound.removeprefix("--cpus=")) == granted
