"""Computations on blobs: fetch the inputs, run a cell, store the files that it left."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from app.errors import InvalidInput, LabError, NotFound, TooLarge, Unavailable
from app.json_types import JsonValue
from app.modeling.facts.code_in_facts import contains_code
from app.sandbox.exchange.contract import (
    INTERACTIVE,
    CellProvider,
    CellRequest,
    Code,
    Computation,
    End,
    Limits,
    Outcome,
    Progress,
    Usage,
)
from app.sandbox.metering import count_cell, count_cpu
from app.sandbox.outputs.folders import remove
from app.sandbox.outputs.pipe import OutputStream, stream_output
from app.sandbox.outputs.storage import StoredFile, StoringTimedOut, store_files
from app.sandbox.provider.outcome import KILLED_FROM_OUTSIDE
from app.sandbox.provider.ready_zygote import ZYGOTE_DIED
from app.storage.blobs import BlobStore, StoreUnavailable
from app.storage.disk_space import retry_while_disk_full

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ComputationResult:
    """Value of a computation, and the files that it left, as blobs."""

    value: JsonValue
    files: tuple[StoredFile, ...]
    usage: Usage
    stdout: str = ""
    stderr: str = ""

    def file(self, name: str) -> StoredFile:
        """Return the file of that name. Raises KeyError if the computation did not leave it."""
        for stored in self.files:
            if stored.name == name:
                return stored
        raise KeyError(name)


class ComputationFailed(LabError):
    """A cell ended without a value. `code` is `computation_<end>`; of a program `facts` hold its output."""


_ERRORS_BY_KIND: dict[str, type[LabError]] = {
    "not_found": NotFound,
    "too_large": TooLarge,
    "unavailable": Unavailable,
}

_END_SENTENCES = {
    End.TIMED_OUT: "It took longer than its limit of {limits.time_s:g} s.",
    End.OUT_OF_MEMORY: "It needed more than its memory limit of {limits.memory_bytes} bytes.",
    End.OUT_OF_DISK: "It wrote more than its limit of {limits.disk_bytes} bytes.",
    End.CANCELLED: "It was cancelled.",
    End.DIED: "Its process died.",
}


class CellLost(ComputationFailed):
    """A cell was killed from outside, or ended with its zygote: the computation itself did not fail."""


MAX_RESTARTS = 2
"""Restarts of a lost computation, each of which repeats all its work. It has no effects but files in its own
folder, which are removed with it."""


class ComputationRunner:
    """Runs computations in cells.

    `scratch`: private folder, on a disk with free space, for output folders. `python_exports`: programs may
    write files. `interactive`: limits of the profile of that name.
    """

    def __init__(
        self,
        cells: CellProvider,
        blobs: BlobStore,
        scratch: Path,
        limits: Limits | None = None,
        python_exports: bool = True,
        interactive: Limits = INTERACTIVE,
    ) -> None:
        self._cells = cells
        self._blobs = blobs
        self._scratch = scratch
        self._limits = limits or Limits()
        self._python_exports = python_exports
        self._interactive = interactive

    async def describe_cells(self) -> dict[str, str]:
        """Return the provider of the cells and their isolation."""
        return {"provider": self._cells.name, "isolation": (await self._cells.isolation()).tier}

    async def run(
        self,
        work: Computation | Code,
        inputs: Mapping[str, str | Path],
        limits: Limits | None = None,
        on_progress: Progress | None = None,
    ) -> ComputationResult:
        """Compute on `inputs` (digests of blobs, or local files).

        A computation whose parameters hold custom code is not trusted, whatever the caller says.
        `limits`: limits of the caller, cut to the operator's time and with the operator's memory.
        Raises the LabError that the computation raised, or ComputationFailed.
        """
        for _ in range(MAX_RESTARTS):
            # Only a lost cell is begun again; the last attempt, below, raises whatever it meets.
            with suppress(CellLost):
                return await self._run_once(work, inputs, limits, on_progress)
        return await self._run_once(work, inputs, limits, on_progress)

    async def _run_once(
        self,
        work: Computation | Code,
        inputs: Mapping[str, str | Path],
        limits: Limits | None,
        on_progress: Progress | None,
    ) -> ComputationResult:
        async with self._output() as output:
            outcome = await self._outcome(work, inputs, output, limits, on_progress)
            files, usage = await self._store(output, outcome, self._clip_limits(limits))
            return ComputationResult(outcome.value, files, usage, outcome.stdout, outcome.stderr)

    async def _store(
        self, output: Path, outcome: Outcome, limits: Limits
    ) -> tuple[tuple[StoredFile, ...], Usage]:
        try:
            files, usage = await store_files(self._blobs, output, outcome, limits)
        except StoringTimedOut:
            output_facts = {"stdout": outcome.stdout, "stderr": outcome.stderr}
            raise ComputationFailed(
                f"computation_{End.TIMED_OUT}",
                f"The computation did not finish. Storing its {len(outcome.files)} files took longer than its"
                f" limit of {limits.time_s:g} s left: write fewer files.",
                **output_facts,
            ) from None
        # The cell's own time is counted where it ran: this is what storing added.
        count_cpu(usage.cpu_s - outcome.usage.cpu_s)
        return files, usage

    @asynccontextmanager
    async def stream_file(
        self,
        work: Computation,
        inputs: Mapping[str, str | Path],
        name: str,
        limits: Limits | None = None,
        on_progress: Progress | None = None,
    ) -> AsyncIterator[OutputStream]:
        """Run a computation whose one file, `name`, is read while it is written, and never stored.

        Leaving the block before the computation has ended cancels it. Trusted work only: other work writes to a
        filesystem of its own.
        """
        if not work.trusted or contains_code(work.params):
            raise ValueError("Output of work that is not trusted cannot be read while it computes.")

        async def compute() -> JsonValue:
            return (await self._outcome(work, inputs, output, limits, on_progress)).value

        # `compute` begins inside, where `output` is bound.
        async with self._output() as output, stream_output(output / name, compute()) as stream:
            yield stream

    @asynccontextmanager
    async def _output(self) -> AsyncIterator[Path]:
        full = StoreUnavailable("scratch_full", "The disk that cells write to is full: free space on it.")
        output = await retry_while_disk_full(self._new_folder, full)
        try:
            yield output
        finally:
            await asyncio.to_thread(remove, output)

    async def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="cell-", dir=self._scratch))

    async def _outcome(
        self,
        work: Computation | Code,
        inputs: Mapping[str, str | Path],
        output: Path,
        limits: Limits | None,
        on_progress: Progress | None,
    ) -> Outcome:
        """Run one cell. Returns the outcome of a cell that returned a value; raises for any other."""
        limits = self._clip_limits(limits)
        if isinstance(work, Computation) and work.trusted and contains_code(work.params):
            work = replace(work, trusted=False)
        if isinstance(work, Code) and not self._python_exports:
            work = replace(work, exports=False)
        files = {
            name: source if isinstance(source, Path) else await self._blobs.local_path(source)
            for name, source in inputs.items()
        }
        outcome = await self._cells.run(CellRequest(work, files, output, limits), on_progress)
        # Before the outcome is judged: a cell that failed has used its time all the same.
        count_cell(outcome.usage, limits)
        _raise_unless_returned(outcome, work, limits)
        return outcome

    def _clip_limits(self, limits: Limits | None) -> Limits:
        operator = self._limits
        if limits is None:
            return operator
        if limits.profile == "interactive":
            own = self._interactive
            return replace(
                own,
                time_s=min(limits.time_s, own.time_s, operator.time_s),
                memory_bytes=min(own.memory_bytes, operator.memory_bytes),
                disk_bytes=min(own.disk_bytes, operator.disk_bytes),
            )
        return replace(limits, time_s=min(limits.time_s, operator.time_s), memory_bytes=operator.memory_bytes)


def _frames(stderr: str) -> list[str]:
    """Return the lines of a traceback that name places, without messages: these may quote a user's table."""
    return [line.strip() for line in stderr.splitlines() if line.lstrip().startswith('File "')]


def _raise_unless_returned(outcome: Outcome, work: Computation | Code, limits: Limits) -> None:
    """Raise the error of an outcome that is no value.

    Output of a program goes to its author. When the service's own code breaks, the operator's log gets the
    places, and the caller no text.
    """
    if outcome.end is End.RETURNED:
        return
    fault = outcome.fault
    output = {"stdout": outcome.stdout, "stderr": outcome.stderr}
    if outcome.end is End.REFUSED and fault:
        facts = {**fault.facts, **(output if isinstance(work, Code) else {})}
        raise _ERRORS_BY_KIND.get(fault.kind, InvalidInput)(fault.code, fault.detail, **facts)
    detail = fault.detail if fault else _END_SENTENCES.get(outcome.end, "It failed.").format(limits=limits)
    if isinstance(work, Computation):
        if outcome.end in (End.RAISED, End.DIED):
            where = _frames(outcome.stderr)
            log.error("computation_broke", function=work.function, end=outcome.end, where=where)
        output = {}
    error_type = CellLost if fault in (ZYGOTE_DIED.fault, KILLED_FROM_OUTSIDE) else ComputationFailed
    raise error_type(f"computation_{outcome.end}", f"The computation did not finish. {detail}", **output)
