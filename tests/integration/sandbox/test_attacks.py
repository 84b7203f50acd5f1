"""Attacks on the isolation: what agent-written code could do if the language policy let everything through."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.patience import HANG_GUARD_S

from app.sandbox.exchange.contract import Code, Computation, End, Limits

from .attacks import BOMBS, KERNEL, NETWORK, PROCESSES, READS, WRITES
from .conftest import Cells

pytestmark = pytest.mark.asyncio(loop_scope="session")

ESCAPES = {
    f"{kind}: {name}": source
    for kind, attacks in {
        "reads": READS,
        "writes": WRITES,
        "network": NETWORK,
        "processes": PROCESSES,
        "kernel": KERNEL,
    }.items()
    for name, source in attacks.items()
}
TIGHT = Limits(time_s=HANG_GUARD_S, memory_bytes=256 << 20, disk_bytes=32 << 20, stdout_bytes=10_000)
"""Whatever fills something is ended for that, on a slow machine too; what may run out of time has 4 s."""


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("a secret")
    return path


@pytest.mark.parametrize("name", sorted(ESCAPES))
async def test_the_isolation_alone_stops_an_attack(cells: Cells, secret: Path, name: str) -> None:
    source = ESCAPES[name].replace("@SECRET@", str(secret)).replace("@OUTSIDE@", str(secret.parent))
    outcome = await cells.run(Computation("cell_fixtures.unrestricted", {"source": source}, trusted=False))
    assert outcome.value != "PWNED"
    assert "a secret" not in outcome.stdout
    _assert_untouched(secret)
    assert (await cells.compute("echo", value=1)).value == 1


def _assert_untouched(secret: Path) -> None:
    assert secret.read_text() == "a secret"
    assert secret.stat().st_mtime > 1_000
    assert [path.name for path in secret.parent.iterdir()] == ["secret.txt"]


@pytest.mark.parametrize("name", sorted(BOMBS))
async def test_a_resource_bomb_ends_its_own_cell_only(cells: Cells, name: str) -> None:
    source, ends = BOMBS[name]
    limits = (
        replace(TIGHT, time_s=4) if "timed_out" in ends else TIGHT
    )  # clock: its expiry is one of the ends that are allowed
    outcome = await cells.run(
        Computation("cell_fixtures.unrestricted", {"source": source}, trusted=False), limits=limits
    )
    assert str(outcome.end) in ends.split(), outcome
    assert len(outcome.stdout) <= 10_001
    assert (await cells.compute("echo", value=1)).value == 1


async def test_a_program_does_not_read_through_a_library(cells: Cells, secret: Path) -> None:
    for read in (f"pd.read_csv('{secret}')", f"np.loadtxt('{secret}', dtype=str)", f"plt.imread('{secret}')"):
        source = f"import pandas as pd, numpy as np, matplotlib.pyplot as plt\nresult = str({read})"
        outcome = await cells.run(Code(source))
        assert outcome.end is End.RAISED
        assert "secret" not in outcome.stdout


async def test_a_profile_with_fewer_threads_ends_a_cell_that_has_more(cells: Cells) -> None:
    source = (
        "import threading\nthreading.stack_size(1 << 16)\nevent = threading.Event()\n"
        "for _ in range(60): threading.Thread(target=event.wait, daemon=True).start()\nevent.wait()"
    )
    work = Computation("cell_fixtures.unrestricted", {"source": source}, trusted=False)
    outcome = await cells.run(work, limits=Limits(time_s=HANG_GUARD_S, max_threads=20))
    assert outcome.end is End.DIED
