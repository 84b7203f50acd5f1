"""Code of a cell, the process that computes. It serves one request, or those of one key, and ends."""

import importlib
import io
import json
import os
import select
import socket
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow
from threadpoolctl import ThreadpoolController

from app.computations.cell_files.workspace import CellWorkspace
from app.errors import LabError, Unavailable
from app.json_types import JsonValue
from app.modeling.custom_code.functions import allow_code
from app.sandbox.exchange.contract import CellRequest, Code, End, Limits
from app.sandbox.exchange.request_format import (
    MAX_PROGRESS_CHARACTERS,
    REPORT,
    REQUEST,
    STDERR,
    STDOUT,
    await_request,
    clear_descriptors,
    finish,
    read_requests,
)
from app.sandbox.kernel import limits as bounds
from app.sandbox.kernel.calls import die_with_parent
from app.sandbox.kernel.isolation import CellView, Confinement, Tier
from app.sandbox.programs import answer_conversion
from app.sandbox.programs.errors import ProgramRaised
from app.sandbox.zygote import preloaded_libraries

Report = dict[str, JsonValue]

MAX_DETAIL_CHARACTERS = 2_000
"""Characters of an exception's text: a message may quote a whole table."""


@dataclass(frozen=True)
class CellSetup:
    """Values that a cell inherits from its zygote. `parent`: the zygote's pid as the cell sees it.

    `base`: memory of the zygote. `pools`: thread pools of the libraries that are imported.
    """

    parent: int
    tier: Tier
    interpreter: tuple[Path, ...]
    base: bounds.Footprint
    pools: ThreadpoolController


def serve_requests(setup: CellSetup, cell_socket: socket.socket) -> NoReturn:
    """Prepare, wait for a request on `cell_socket`, serve it and end. Runs after the fork; never returns.

    Further requests come on the same descriptor as the first; most cells find none there.
    """
    # A process group of its own, so that the zygote can kill the cell with all that it may have started.
    os.setsid()
    die_with_parent(setup.parent)
    cell_socket = clear_descriptors(cell_socket)
    confinement: Confinement | OSError | None = _prepare(setup)
    if not select.select([cell_socket], [], [], 0)[0]:  # no request waits yet
        preloaded_libraries.touch_common_pages()
    folder = await_request(cell_socket)
    for request in read_requests(REQUEST):
        try:
            # Before the first request only: further ones are of the same owner, inputs and limits.
            if confinement:
                _confine(request, setup, confinement, folder)
                confinement = None
            report = _answer(request)
        except LabError as error:
            report = {"end": End.REFUSED, "fault": _refusal_fault(error)}
        except BaseException as error:  # noqa: BLE001 (a cell's outermost edge: SystemExit is an answer, too)
            report = _exception_report(error)
        # Before the report, after which the zygote stops the cell: what is still buffered would be lost.
        _flush()
        _write_report(report)
        if confinement:
            break  # they did not go up: no further request is read
    finish()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # its reader has closed the pipe at the limit


def _prepare(setup: CellSetup) -> Confinement | OSError:
    """Do the work that needs no request. An error is returned, to be reported as the answer to the request."""
    # Every fork has the zygote's random state: without a new seed all cells would draw the same numbers.
    np.random.seed()
    try:
        return Confinement(setup.tier, setup.interpreter)
    except OSError as error:
        return error


def _confine(
    request: CellRequest, setup: CellSetup, confinement: Confinement | OSError, folder: int | None
) -> None:
    """Apply the limits and the isolation of a request, and enter its output folder."""
    sys.stdout = _open_capped(STDOUT, request.limits)
    sys.stderr = _open_capped(STDERR, request.limits)
    # The limits first: the isolation forbids to set any.
    bounds.apply(request.limits, setup.base)
    _isolate(request, setup.tier, confinement, folder)
    # Only now: the new root has other folders under the same paths.
    os.chdir(request.output)
    if request.limits.threads > 1:
        os.environ["OMP_NUM_THREADS"] = str(request.limits.threads)
        # The zygote runs with one thread: pools that read the variable at import have to be told again.
        setup.pools.limit(limits=request.limits.threads)
        pyarrow.set_cpu_count(request.limits.threads)


def _isolate(request: CellRequest, tier: Tier, confinement: Confinement | OSError, folder: int | None) -> None:
    if tier is Tier.NONE and not request.trusted:
        raise Unavailable("cells_not_isolated", "This host lacks the isolation that untrusted work needs.")
    links = request.inputs if isinstance(request.work, Code) else {}
    try:
        if isinstance(confinement, OSError):
            raise confinement
        # On a filesystem of its own the kernel counts every byte; elsewhere surveys must find each by a name.
        names_stay = not request.trusted and folder is None
        confinement.confine(CellView(tuple(request.inputs.values()), request.output, links, folder, names_stay))
    except OSError as error:
        raise Unavailable("cells_not_isolated", f"The cell could not be isolated: {error}") from error


def _answer(request: CellRequest) -> Report:
    return {
        "end": End.RETURNED,
        "value": answer_conversion.encode(_compute(request), request.answer_limits),
    }


def _compute(request: CellRequest) -> object:
    work = request.work
    if isinstance(work, Code):
        # The zygote has imported it before a program comes.
        from app.sandbox.programs import execution  # noqa: PLC0415

        return execution.run(work, request.inputs, request.output)
    module, _, function = work.function.rpartition(".")
    workspace = CellWorkspace(request.inputs, request.output, request.limits.threads, _write_progress)
    compute = getattr(importlib.import_module(f"app.computations.{module}"), function)
    if request.trusted:
        return compute(workspace, **work.params)
    with allow_code(_define):  # the isolation that such code needs is in place
        return compute(workspace, **work.params)


def _define(source: str) -> Mapping[str, Any]:
    from app.sandbox.policy.custom_functions import define  # noqa: PLC0415 - as `program` above

    return define(source)


def _exception_report(error: BaseException) -> Report:
    """Build the report of an uncaught exception. The traceback goes to the cell's stderr."""
    if limit := bounds.exhausted_limit(error):
        return {"end": limit}
    if isinstance(error, ProgramRaised):
        return {"end": End.RAISED, "fault": {"code": error.kind, "detail": str(error)[:MAX_DETAIL_CHARACTERS]}}
    try:
        traceback.print_exception(error)
        detail = f"{type(error).__name__}: {error}"[:MAX_DETAIL_CHARACTERS]
    except Exception:  # noqa: BLE001 (an exception may lie about itself)
        detail = type(error).__name__
    return {"end": End.RAISED, "fault": {"code": type(error).__name__, "detail": detail}}


def _refusal_fault(error: LabError) -> JsonValue:
    return {
        "kind": error.kind,
        "code": error.code,
        "detail": error.detail,
        "facts": answer_conversion.to_json(error.facts),
    }


def _write_progress(fraction: float, text: str) -> None:
    _write_report({"progress": [float(fraction), str(text)[:MAX_PROGRESS_CHARACTERS]]})


def _write_report(report: Report) -> None:
    """Write one line of JSON to the worker."""
    line = json.dumps(report).encode() + b"\n"
    while line:
        line = line[os.write(REPORT, line) :]


class _CappedWriter(io.RawIOBase):
    """Stream to a descriptor that drops bytes beyond `max_bytes`: long output is no failure."""

    def __init__(self, descriptor: int, max_bytes: int) -> None:
        self._descriptor = descriptor
        self._remaining_bytes = max_bytes

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        view = memoryview(data).cast("B")  # type: ignore[arg-type]  # io passes any buffer
        accepted = view[: self._remaining_bytes]
        self._remaining_bytes -= len(accepted)
        while accepted:
            accepted = accepted[os.write(self._descriptor, accepted) :]
        return len(view)


def _open_capped(descriptor: int, limits: Limits) -> io.TextIOWrapper:
    buffer = io.BufferedWriter(_CappedWriter(descriptor, limits.stdout_bytes))
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True)
