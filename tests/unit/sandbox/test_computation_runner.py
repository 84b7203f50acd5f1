from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from app.errors import InvalidInput
from app.sandbox.computation_runner import CellLost, ComputationFailed, ComputationRunner
from app.sandbox.exchange.contract import (
    CellRequest,
    Code,
    Computation,
    End,
    Fault,
    Isolation,
    Limits,
    Outcome,
    Progress,
    Usage,
)
from app.sandbox.provider.outcome import KILLED_FROM_OUTSIDE
from app.sandbox.provider.ready_zygote import ZYGOTE_DIED
from app.storage.folder import FolderBlobs
from app.tools.queries.program_execution import refuse_with_output

WHERE = 'File "/srv/app/computations/predict.py", line 9, in predict'
SAID = "could not convert string to float: 'ada@example.org'"
TRACE = f"Traceback (most recent call last):\n  {WHERE}\nValueError: {SAID}\n"


@dataclass(frozen=True)
class BreakingCells:
    """Every cell ends with an exception that nobody expected."""

    async def start(self) -> None: ...

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        fault = Fault("KeyError", "KeyError: 'x'")
        return Outcome(End.RAISED, Usage(0.0, 0.0, 0), fault=fault, stderr=TRACE)

    async def close(self) -> None: ...

    async def isolation(self) -> Isolation:
        return Isolation("none")


@pytest.fixture
def computer(tmp_path: Path) -> ComputationRunner:
    return ComputationRunner(BreakingCells(), FolderBlobs(tmp_path / "blobs"), tmp_path)


async def test_a_traceback_of_the_services_code_is_only_logged(computer: ComputationRunner) -> None:
    with capture_logs() as logged, pytest.raises(ComputationFailed) as failed:
        await computer.run(Computation("models.predict.predict"), {})

    assert TRACE not in str(failed.value.facts)
    assert [(line["function"], line["where"]) for line in logged] == [("models.predict.predict", [WHERE])]
    assert SAID not in str(logged)


async def test_the_output_of_a_failed_program_is_returned_to_its_author(computer: ComputationRunner) -> None:
    with pytest.raises(ComputationFailed) as failed:
        await computer.run(Code("result = 1"), {})

    assert failed.value.facts["stderr"] == TRACE


@dataclass(frozen=True)
class RefusingCells(BreakingCells):
    """Every cell refuses the result after some output."""

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        fault = Fault("result_not_convertible", "It is a list.", {"type": "list"})
        return Outcome(End.REFUSED, Usage(0.0, 0.0, 0), fault=fault, stdout="so far\n")


async def test_the_output_of_a_refused_program_is_returned_too_but_not_that_of_a_computation(
    tmp_path: Path,
) -> None:
    computer = ComputationRunner(RefusingCells(), FolderBlobs(tmp_path / "blobs"), tmp_path)
    with pytest.raises(InvalidInput) as refused:
        await computer.run(Code("result_df = [1]"), {})
    assert refused.value.facts == {"type": "list", "stdout": "so far\n", "stderr": ""}
    assert str(refuse_with_output(refused.value)) == "It is a list.\nso far"
    with pytest.raises(InvalidInput) as refused:
        await computer.run(Computation("queries.query.run_sql"), {})
    assert refused.value.facts == {"type": "list"}


@dataclass(frozen=True)
class NotingCells(BreakingCells):
    """Cells that only note the limits they were given."""

    given: list[Limits] = field(default_factory=list)

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        self.given.append(request.limits)
        return Outcome(End.RETURNED, Usage(0.0, 0.0, 0))


@pytest.mark.parametrize(
    ("asked", "time_s", "threads"),
    [
        (None, 60, 1),
        (Limits(time_s=910, threads=2), 60, 2),
        (Limits(time_s=5), 5, 1),
    ],  # clock: figures that are only passed on
)
async def test_no_computation_gets_more_than_the_operator_allows(
    tmp_path: Path, asked: Limits | None, time_s: float, threads: int
) -> None:
    cells = NotingCells()
    operators = Limits(time_s=60, memory_bytes=512 << 20)  # clock: as above
    computer = ComputationRunner(cells, FolderBlobs(tmp_path / "blobs"), tmp_path, operators)
    await computer.run(Computation("cell_fixtures.echo"), {}, asked)
    [given] = cells.given
    assert (given.time_s, given.memory_bytes, given.threads) == (time_s, 512 << 20, threads)


async def test_executions_of_conversations_have_the_limits_of_their_profile(tmp_path: Path) -> None:
    cells = NotingCells()
    own = Limits(
        time_s=7, memory_bytes=1 << 30, disk_bytes=32 << 20, max_threads=50, profile="interactive"
    )  # clock: as above
    operators = Limits(time_s=60, memory_bytes=512 << 20, disk_bytes=1 << 30)  # clock: as above
    blobs = FolderBlobs(tmp_path / "blobs")
    computer = ComputationRunner(cells, blobs, tmp_path, operators, interactive=own)
    await computer.run(Computation("cell_fixtures.echo"), {}, Limits(profile="interactive"))
    [given] = cells.given
    # No more than the operator allows to all.
    assert given == replace(own, memory_bytes=512 << 20)


@dataclass(frozen=True)
class WatchedCells(BreakingCells):
    """Cells that only note whether they were asked for trusted work."""

    trusted: list[bool] = field(default_factory=list)

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        self.trusted.append(request.trusted)
        return Outcome(End.RETURNED, Usage(0.0, 0.0, 0))


async def test_a_computation_with_custom_code_is_never_trusted(tmp_path: Path) -> None:
    cells = WatchedCells()
    computer = ComputationRunner(cells, FolderBlobs(tmp_path / "blobs"), tmp_path)
    recipe = [{"op": "python", "name": "x", "columns": ["a"], "source": "x = 1"}]
    asked: list[Any] = [{"recipe": []}, {"recipe": recipe}, {"fits": [{"recipe": recipe}]}]
    for params in (*asked, {"estimator": "Written"}):
        await computer.run(Computation("models.train.fit_candidate", params), {})
    assert cells.trusted == [True, False, False, False]


@dataclass(frozen=True)
class RestartedCells(BreakingCells):
    """Cells that are restarted `times` times under whoever computes; each has an empty folder."""

    times: int
    lost: Outcome = ZYGOTE_DIED
    runs: list[CellRequest] = field(default_factory=list)

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        assert list(request.output.iterdir()) == []
        (request.output / "left").write_bytes(b"0")
        self.runs.append(request)
        return (
            self.lost
            if len(self.runs) <= self.times
            else Outcome(End.RETURNED, Usage(0.0, 0.0, 0), files=("left",))
        )


@pytest.mark.parametrize("fault", [ZYGOTE_DIED.fault, KILLED_FROM_OUTSIDE])
async def test_a_computation_begins_again_when_its_cell_is_lost(tmp_path: Path, fault: Fault) -> None:
    lost = replace(ZYGOTE_DIED, fault=fault)
    computer = ComputationRunner(RestartedCells(times=2, lost=lost), FolderBlobs(tmp_path / "blobs"), tmp_path)
    assert (await computer.run(Computation("cell_fixtures.leave"), {})).file("left").size_bytes == 1


async def test_a_computation_whose_cells_are_restarted_each_time_is_given_up(tmp_path: Path) -> None:
    computer = ComputationRunner(RestartedCells(times=3), FolderBlobs(tmp_path / "blobs"), tmp_path)
    with pytest.raises(CellLost, match="try again"):
        await computer.run(Computation("cell_fixtures.leave"), {})


async def test_untrusted_work_is_not_read_while_it_computes(computer: ComputationRunner) -> None:
    work = Computation("models.predict.predict", trusted=False)
    with pytest.raises(ValueError, match="not trusted"):
        await computer.stream_file(work, {}, "rows.bin").__aenter__()
