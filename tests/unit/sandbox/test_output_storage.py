"""Files of a computation are stored at its expense, and within its time."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.errors import Unavailable
from app.sandbox.computation_runner import ComputationFailed, ComputationRunner
from app.sandbox.exchange.contract import CellRequest, Code, End, Isolation, Limits, Outcome, Progress, Usage
from app.sandbox.metering import meter_usage
from app.sandbox.outputs import storage as output_storage
from app.storage.blobs import Blob, StoreUnavailable
from app.storage.folder import FolderBlobs

NAMES = tuple(f"file-{number}.csv" for number in range(40))


@dataclass(frozen=True)
class LeavingCells:
    """Cells that leave NAMES, having used 2 s of processor time."""

    async def start(self) -> None: ...

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        for name in NAMES:
            (request.output / name).write_text(name)
        return Outcome(End.RETURNED, Usage(1.0, 2.0, 0), files=NAMES, stdout="wrote\n")

    def glance(self) -> Isolation | None:
        return None

    async def close(self) -> None: ...

    async def isolation(self) -> Isolation:
        return Isolation("none")


@dataclass
class BusyBlobs(FolderBlobs):
    """A store that computes over each file, never answers or fails, as `how` says."""

    folder: Path
    how: str
    stored: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.folder)

    async def put_file(self, path: Path) -> Blob:
        if self.how == "stuck" and len(self.stored) >= 5:
            await asyncio.Event().wait()
        if self.how == "away" and len(self.stored) >= 5:
            raise StoreUnavailable("store_away", "The store does not answer.")
        if self.how == "busy":
            sum(range(200_000))
        blob = await super().put_file(path)
        self.stored.append(path.name)
        return blob


def computer(tmp_path: Path, how: str) -> tuple[ComputationRunner, BusyBlobs]:
    blobs = BusyBlobs(tmp_path / "blobs", how)
    return ComputationRunner(LeavingCells(), blobs, tmp_path), blobs


def output_folders(folder: Path) -> list[Path]:
    return list(folder.glob("cell-*"))


async def test_storing_counts_as_time_and_processor_time_of_the_computation(tmp_path: Path) -> None:
    computes, _ = computer(tmp_path, "busy")
    with meter_usage() as used:
        computed = await computes.run(Code("x = 1"), {})
    assert [file.name for file in computed.files] == list(NAMES)
    assert computed.usage.wall_s > 1.0
    assert computed.usage.cpu_s > 2.0
    assert used.cpu_s == pytest.approx(computed.usage.cpu_s)
    assert used.cells == 1


async def test_a_store_that_does_not_answer_ends_with_the_computations_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_storage, "MIN_STORING_S", 0.2)
    computes, _ = computer(tmp_path, "stuck")
    with pytest.raises(ComputationFailed, match="write fewer files") as failed:
        # clock: the store never answers, and the computation is a recorded one: only the limit can end it
        await computes.run(Code("x = 1"), {}, Limits(time_s=1.2))
    assert failed.value.code == "computation_timed_out"
    assert failed.value.facts["stdout"] == "wrote\n"
    assert output_folders(tmp_path) == []


async def test_a_store_that_is_away_is_named_as_that(tmp_path: Path) -> None:
    computes, blobs = computer(tmp_path, "away")
    with pytest.raises(Unavailable, match="The store does not answer"):
        await computes.run(Code("x = 1"), {})
    assert len(blobs.stored) < len(NAMES)
    assert output_folders(tmp_path) == []
