"""Cells that serve several requests of one key, and nobody else's."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.patience import HANG_GUARD_S, hang_guard, until

from app.json_types import JsonValue
from app.sandbox.exchange.contract import Computation, End, Limits, Outcome
from app.sandbox.outputs.scratch_folders import LOCK_NAME
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig

from .conftest import TIERS, Cells
from .test_lifetimes import running

NEVER_S = 10 * HANG_GUARD_S

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=TIERS, ids=str)
async def cells(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cells]:
    home = tmp_path_factory.mktemp("kept")
    provider = ProcessProvider(
        ProcessConfig(home, tier=str(request.param), max_warm_cells=2, max_idle_s=HANG_GUARD_S)
    )
    await provider.start()
    yield Cells(provider)
    await provider.close()
    assert running(str(home)) == []


async def remember(cells: Cells, owner: str, limits: Limits | None = None, **params: JsonValue) -> Outcome:
    work = Computation("cell_fixtures.remember", params, trusted=False, warm_for=owner)
    return await cells.run(work, limits=limits)


async def test_one_cell_serves_requests_of_one_key(cells: Cells) -> None:
    assert (await remember(cells, "one", value=1)).value == [1]
    assert (await remember(cells, "one", value=2)).value == [1, 2]


async def test_another_owner_gets_another_cell(cells: Cells) -> None:
    await remember(cells, "two", value="mine")
    assert (await remember(cells, "three", value="other")).value == ["other"]


async def test_other_inputs_get_another_cell(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"x")
    work = Computation("cell_fixtures.remember", {"value": 1}, trusted=False, warm_for="four")
    await cells.run(work)
    assert (await cells.run(work, {"model": tmp_path / "model"})).value == [1]


async def test_concurrent_requests_are_served_one_at_a_time(cells: Cells) -> None:
    outcomes = await asyncio.gather(*(remember(cells, "five", value=number) for number in range(8)))
    assert [len(outcome.value) for outcome in outcomes if isinstance(outcome.value, list)] == [*range(1, 9)]


async def test_large_requests_and_answers_pass(cells: Cells) -> None:
    for _ in range(3):
        outcome = await remember(cells, "six", value="x" * 500_000)
    assert isinstance(outcome.value, list)
    assert [len(str(value)) for value in outcome.value] == [500_000] * 3


async def test_a_cell_that_breaks_is_replaced_and_the_request_tried_again(cells: Cells) -> None:
    await remember(cells, "seven", value=1)
    outcome = await remember(cells, "seven", value=2, survive=False)
    assert outcome.end is End.DIED
    assert (await remember(cells, "seven", value=3)).value == [3]


async def test_the_time_limit_holds_for_each_request(cells: Cells) -> None:
    limits = Limits(time_s=2.0)  # clock: its expiry is what is tested

    async def two_that_together_take_longer(attempt: int) -> JsonValue:
        owner = f"eight {attempt}"
        await remember(cells, owner, limits, value=1, seconds=1.2)
        return (await remember(cells, owner, limits, value=2, seconds=1.2)).value

    async with hang_guard():  # where the machine stalls, one of them may be late by itself: try again
        attempt = 1
        while await two_that_together_take_longer(attempt) != [1, 2]:
            attempt += 1
    owner = f"eight {attempt}"
    assert (await remember(cells, owner, limits, value=3, seconds=NEVER_S)).end is End.TIMED_OUT
    assert (await remember(cells, owner, value=4)).value == [4]


async def test_cancelling_kills_a_warm_cell(cells: Cells) -> None:
    limits = Limits(time_s=NEVER_S)  # of one cell all requests have the same
    await remember(cells, "nine", limits, value=1)
    asking = asyncio.create_task(remember(cells, "nine", limits, value=2, seconds=NEVER_S))
    await asyncio.sleep(0.2)  # clock: it gets into its work; a cancel before that is no other outcome
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await remember(cells, "nine", limits, value=3)).value == [3]


async def test_the_isolation_holds_at_every_request(cells: Cells) -> None:
    work = Computation(
        "canary.escape", {"path": str(cells.provider.scratch / LOCK_NAME)}, trusted=False, warm_for="ten"
    )
    assert [(await cells.run(work)).value for _ in range(2)] == [[], []]


async def test_the_least_recently_used_cell_is_ended(cells: Cells) -> None:
    for owner in ("eleven", "twelve", "thirteen"):
        await remember(cells, owner, value=1)
    assert (await remember(cells, "thirteen", value=2)).value == [1, 2]
    assert (await remember(cells, "eleven", value=2)).value == [2]


@pytest.mark.parametrize("tier", TIERS, ids=str)
async def test_an_idle_cell_ends_without_leftovers(tier: str, tmp_path: Path) -> None:
    provider = ProcessProvider(ProcessConfig(tmp_path, tier=tier, max_idle_s=0.5))
    await provider.start()
    cells = Cells(provider)
    await remember(cells, "fourteen", value=1)
    await until(lambda: [path.name for path in provider.scratch.iterdir()] == [LOCK_NAME])
    assert (await remember(cells, "fourteen", value=2)).value == [2]
    await provider.close()


async def test_a_killed_zygote_is_no_failure_of_the_next_request(tmp_path: Path) -> None:
    provider = ProcessProvider(ProcessConfig(tmp_path))
    cells = Cells(provider)
    await remember(cells, "one", value=1)
    for pid in running(str(tmp_path)):
        os.kill(pid, signal.SIGKILL)
    await until(lambda: not running(str(tmp_path)))
    assert (await remember(cells, "one", value=2)).value == [2]
    await provider.close()
    assert running(str(tmp_path)) == []
