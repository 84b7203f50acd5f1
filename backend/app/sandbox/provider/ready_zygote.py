"""A zygote that is ready: its isolation has been tested, and it takes requests."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from app.errors import Unavailable
from app.sandbox.exchange.contract import (
    CellRequest,
    Computation,
    End,
    Fault,
    Isolation,
    Limits,
    Outcome,
    Progress,
    Usage,
)
from app.sandbox.exchange.request_format import write_request
from app.sandbox.kernel.isolation import Tier
from app.sandbox.outputs.folders import Content, copy_out, remove, survey
from app.sandbox.outputs.scratch_folders import LOCK_NAME
from app.sandbox.provider.cell_pipes import CellPipes, ProgressLines
from app.sandbox.provider.outcome import KILLED_FROM_OUTSIDE, judge
from app.sandbox.provider.zygote_connection import ZygoteLink
from app.sandbox.provider.zygote_container import Container

T = TypeVar("T")


@dataclass(frozen=True)
class ReadyZygote:
    """A zygote that serves requests. `container`: the container that it runs in, or None."""

    link: ZygoteLink
    scratch: Path
    container: Container | None
    isolation: Isolation = field(default_factory=lambda: Isolation("none"))

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        async with self.localized(request) as local_request:
            return await _run(self.link, local_request, on_progress)

    @asynccontextmanager
    async def localized(self, request: CellRequest) -> AsyncIterator[CellRequest]:
        """Yield the request with paths that this zygote's cells see; copied inputs last for the block."""
        if self.container is None:
            yield request
            return
        copies = Path(tempfile.mkdtemp(prefix="lent-", dir=self.scratch))
        try:
            yield await await_thread(asyncio.to_thread(self.container.localize, request, copies))
        finally:
            await await_thread(asyncio.to_thread(remove, copies))


NO_ISOLATION = "This host's kernel lacks the isolation that untrusted work needs (Landlock and seccomp)."
HALT = "Nothing computes without this isolation here: run on Linux 5.13 or newer, or set ALLOW_UNISOLATED=true."


async def start_zygote(
    link: ZygoteLink, scratch: Path, container: Container | None, allow_unisolated: bool
) -> ReadyZygote:
    """Start a zygote, and let a canary cell test the isolation before untrusted work runs.

    Raises Unavailable when the zygote ends meanwhile.
    """
    facts = await link.start()
    tier, missing = facts["tier"], facts["missing"]
    zygote = ReadyZygote(link, scratch, container)
    if tier == Tier.NONE:
        halt = None if allow_unisolated else f"{NO_ISOLATION} {HALT}"
        return replace(zygote, isolation=Isolation(tier, NO_ISOLATION, missing, halt))
    return replace(zygote, isolation=Isolation(tier, await _run_canary(zygote), missing))


_MAX_CANARY_S = 120.0
"""Seconds for the canary, which takes milliseconds: a machine that is busy at start-up must not be taken for
one without isolation."""


async def _run_canary(zygote: ReadyZygote) -> str | None:
    """Run the canary. Returns why untrusted work must not run here; None if all its attempts were refused."""
    output = Path(tempfile.mkdtemp(prefix="canary-", dir=zygote.scratch))
    work = Computation("canary.escape", {"path": str(zygote.scratch / LOCK_NAME)}, trusted=False)
    outcome = await zygote.run(CellRequest(work, {}, output, Limits(time_s=_MAX_CANARY_S)))
    await asyncio.to_thread(remove, output)
    # This says nothing of the isolation: whoever waits starts another zygote.
    if outcome.fault in (ZYGOTE_DIED.fault, KILLED_FROM_OUTSIDE):
        raise Unavailable("cells_unavailable", "The zygote ended while its isolation was tested.")
    if outcome.end is not End.RETURNED:
        return f"The isolation could not be tested: {outcome.fault.detail if outcome.fault else outcome.end}"
    return f"The isolation fails: a cell could {outcome.value}." if outcome.value else None


async def _run(link: ZygoteLink, request: CellRequest, on_progress: Progress | None) -> Outcome:
    follow = ProgressLines(on_progress) if on_progress else None
    pipes = CellPipes(write_request(request), request.limits, follow)
    try:
        ending = await link.run(request, pipes)
    finally:
        pipes.finish()
    if ending is None:
        return replace(ZYGOTE_DIED, stdout=pipes.stdout.text, stderr=pipes.stderr.text)
    report = bytes(pipes.report.data)
    outcome = judge(ending, report, request.limits, request.trusted, request.answer_limits)
    content = await await_thread(asyncio.to_thread(_collect_output, ending.folder, request))
    # Also of a cell that answered: it may have written its last bytes between two surveys.
    if content.exceeds(request.limits.disk_bytes):
        outcome = Outcome(End.OUT_OF_DISK, outcome.usage)
    return replace(outcome, stdout=pipes.stdout.text, stderr=pipes.stderr.text, files=content.files)


ZYGOTE_DIED = Outcome(
    End.DIED,
    Usage(0.0, 0.0, 0),
    fault=Fault("cells_restarted", "The process that computes was restarted: try again."),
)


async def await_thread(work: Coroutine[None, None, T]) -> T:
    """Await a thread. A cancellation is raised after the thread has ended, since its folder is removed next."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _collect_output(folder: int | None, request: CellRequest) -> Content:
    """List the cell's files in `request.output`, copied there from its own filesystem if it had one."""
    if folder is None:
        return survey(request.output)
    source = Path(f"/proc/self/fd/{folder}")
    try:
        content = survey(source)
        if not content.exceeds(request.limits.disk_bytes):
            copy_out(source, request.output, content.files)
        return content
    finally:
        os.close(folder)
