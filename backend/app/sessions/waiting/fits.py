"""Fits: computations with leases of their own, on any worker.

The statement that stores a result counts its round down and wakes the session at zero. If two fits finish at
once, the row lock of the round decides which is the last.
"""

import asyncio
import json
import logging
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

import structlog

from app import jobs
from app.db.pool import Database, is_away
from app.errors import LabError
from app.jobs import SendJob
from app.observability.metrics.sessions import FIT_SECONDS, FITS, LEASE_LOSSES
from app.observability.tracing import span
from app.sandbox.computation_runner import ComputationResult, ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits
from app.sandbox.metering import Charge, charge_nobody, meter_usage
from app.sessions.config import SessionsConfig
from app.sessions.events.events import FitFinished, Progress
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.serialization import NotJson, dump_event, dumps, make_event_message
from app.sessions.lease_renewal import Rechecks, renew_in_background
from app.sessions.statements import ROUNDS
from app.sessions.step_scope import Fit
from app.storage.blobs import StoreUnavailable
from app.tasks import consume_cancellation

log = logging.getLogger(__name__)


MIN_TIME_LIMIT_S = 0.5
"""Time limit of a fit that starts after its round should have ended, in seconds: small models still fit."""


_FORMER_FUNCTIONS = {"train.fit_candidate": "models.train.fit_candidate"}
"""Computations by the names that fits of earlier versions were stored with: rows are not rewritten."""


@dataclass(frozen=True)
class FitKey:
    """Primary key of a fit. `candidate`: index in its round."""

    session_id: UUID
    round_key: str
    candidate: int

    @property
    def key_columns(self) -> tuple[UUID, str, int]:
        return self.session_id, self.round_key, self.candidate


class FitClaimRow(NamedTuple):
    """A claimed fit. `spec`: a `Fit` as JSON; `left_s`: seconds until the deadline of its round."""

    fence: int
    name: str
    spec: str
    runs: int
    owner_id: UUID
    left_s: float


class FitRenewalRow(NamedTuple):
    """`cancel`: the session was cancelled."""

    cancel: bool


class FitEndRow(NamedTuple):
    """`woken`: the session has to be driven, since the round is complete or the session was cancelled."""

    event_seq: int
    woken: bool


@dataclass(frozen=True)
class _FitLease:
    """The right to compute one fit. `runs`: how often it was started, this time included."""

    key: FitKey
    fence: int
    runs: int
    fit: Fit


@dataclass(frozen=True)
class _Result:
    """`status`: `done`, `failed` or `cancelled`; `queued` for a fit that is given back."""

    status: str
    body: dict[str, Any]
    summary: str = ""


@dataclass
class _RunningFit:
    """`stop`: why a running fit is stopped: `cancelled`, `lost` (its lease or its session) or `shutdown`."""

    task: "asyncio.Task[Any]"
    recheck: asyncio.Event
    stop: str = ""

    def halt(self, reason: str) -> None:
        """Cancel the task. Later reasons are ignored."""
        if not self.stop:
            self.stop = reason
            self.task.cancel()


@dataclass
class Fits:
    """Runs fits on one event loop."""

    db: Database
    computer: ComputationRunner
    publisher: EventPublisher
    send_job: SendJob
    config: SessionsConfig
    charge: Charge = charge_nobody
    draining: bool = False
    rechecks: Rechecks = field(default_factory=Rechecks)
    _running: dict[FitKey, _RunningFit] = field(default_factory=dict)

    async def run(self, key: FitKey) -> None:
        """Run a fit, unless another worker runs it or its session no longer needs it."""
        if not self.draining:
            with self.rechecks.listen(key.session_id) as recheck:
                await self._claim_and_compute(key, recheck)

    async def _claim_and_compute(self, key: FitKey, recheck: asyncio.Event) -> None:
        row = await self.db.row(ROUNDS.claim, *key.key_columns, self.config.lease_s)
        if row is None:
            return
        claim = FitClaimRow(**row)
        # A fit that was given back does not count as started, so a second start means that a lease ran out.
        if claim.runs > 1:
            LEASE_LOSSES.labels("fit").inc()
        clock = time.monotonic()
        lease = _FitLease(key, claim.fence, claim.runs, shorten_time_limit(read_fit(claim.spec), claim.left_s))
        with meter_usage() as usage, structlog.contextvars.bound_contextvars(session_id=str(key.session_id)):
            result = await self._result(lease, recheck)
        # A halt cancelled this task, and the statements below must not be cut by it.
        await consume_cancellation(asyncio.current_task())
        # Also where the lease was lost: the processor time was used.
        await self.charge(claim.owner_id, usage.cpu_s)
        if result is None:
            return
        if result.status == "queued":
            # The row first: a job that comes before it finds the fit still claimed.
            if await self.db.row(ROUNDS.give_back, *key.key_columns, lease.fence):
                self.send_job(jobs.fit_job(*key.key_columns))
            return
        FITS.labels(result.status).inc()
        FIT_SECONDS.observe(time.monotonic() - clock)
        await self._finish(lease, result)

    async def drain(self) -> None:
        """Claim no more and stop running fits, for another worker to run: they may take minutes."""
        self.draining = True
        running_fits = list(self._running.values())
        for running_fit in running_fits:
            running_fit.halt("shutdown")
        if running_fits:
            await asyncio.wait({running.task for running in running_fits}, timeout=self.config.drain_s)

    async def _result(self, lease: _FitLease, recheck: asyncio.Event) -> _Result | None:
        """Compute a fit under its lease. None if the lease was lost."""
        # A drain that began while the claim was under way knows nothing of this fit, and would not stop it.
        if self.draining:
            return _Result("queued", {})
        # Before it runs once more: it may be what kills the process.
        if lease.runs > self.config.max_crashes:
            return _Result("failed", {"reason": f"The process that computed it died {lease.runs - 1} times."})
        running_fit = _RunningFit(_current_task(), recheck)
        renew = partial(self._renew, lease, running_fit)
        async with renew_in_background(self._running, lease.key, running_fit, renew, self.config.renew_s):
            with meter_usage() as meter:
                result = await self._attempt(lease, running_fit)
        return replace(result, body={**result.body, "usage": meter.facts()}) if result else None

    async def _attempt(self, lease: _FitLease, running_fit: _RunningFit) -> _Result | None:
        try:
            return _make_result(await self._compute(lease))
        except asyncio.CancelledError:
            # Nobody halted the fit: the worker itself ends this task.
            if not running_fit.stop:
                raise
            results = {"cancelled": _Result("cancelled", {}), "shutdown": _Result("queued", {})}
            # None for a lost lease: its new holder writes the result.
            return results.get(running_fit.stop)
        except StoreUnavailable:
            # Until the store is back; past the deadline of the round nobody claims the fit.
            return _Result("queued", {})
        except LabError as error:
            return _Result("failed", {"reason": error.detail, "code": error.code}, error.detail)
        except Exception as error:
            # No result can be written now: the lease runs out, and the sweeper queues the fit again.
            if is_away(error):
                raise
            log.exception("fit %s failed", lease.key)
            return _Result("failed", {"reason": f"{type(error).__name__}: {error}"}, str(error))

    async def _compute(self, lease: _FitLease) -> ComputationResult:
        key, fit = lease.key, lease.fit
        # A round's key begins with the number of the step that opened it.
        step = int(key.round_key.split(".", 1)[0])

        def publish_progress(fraction: float, text: str) -> None:
            event = Progress(step=step, attempt=0, text=f"{fit.name}: {text}", fraction=fraction)
            message = make_event_message(None, datetime.now(UTC), event.kind, dump_event(event))
            self.publisher.publish(key.session_id, message)

        work = Computation(fit.function, fit.params)
        with span("fit", work.function, key.session_id, {"labcrew.step": step, "labcrew.round": key.round_key}):
            return await self.computer.run(work, fit.inputs, fit.limits, publish_progress)

    async def _finish(self, lease: _FitLease, result: _Result) -> None:
        """Store the result and publish its event; queue the session if this was the last fit of its round."""
        key = lease.key
        try:
            raw = dumps(result.body, f"result of {lease.fit.name}")
        # A result with a NaN fails this candidate, and not the whole round.
        except NotJson as error:
            result = _Result("failed", {"reason": error.detail}, error.detail)
            raw = dumps(result.body)
        event = FitFinished(
            round=key.round_key,
            candidate=key.candidate,
            name=lease.fit.name,
            status=result.status,
            summary=result.summary,
        )
        at, body = datetime.now(UTC), dump_event(event)
        row = await self.db.row(ROUNDS.finish, *key.key_columns, lease.fence, result.status, raw, body, at)
        if row:
            finish = FitEndRow(**row)
            message = make_event_message(finish.event_seq, at, event.kind, body)
            self.publisher.publish(key.session_id, message)
            if finish.woken:
                self.send_job(jobs.advance_job(key.session_id))

    async def _renew(self, lease: _FitLease, running_fit: _RunningFit) -> bool:
        row = await self.db.row(ROUNDS.renew, *lease.key.key_columns, lease.fence, self.config.lease_s)
        if row is None or FitRenewalRow(**row).cancel:
            running_fit.halt("cancelled" if row else "lost")
        return not running_fit.stop


def read_fit(spec: str) -> Fit:
    """Read a `Fit` from the JSON of its row."""
    fields = json.loads(spec)
    function = _FORMER_FUNCTIONS.get(fields["function"], fields["function"])
    return Fit(**{**fields, "function": function, "limits": Limits(**fields["limits"])})


def shorten_time_limit(fit: Fit, left_s: float) -> Fit:
    """Return the fit with a time limit that ends `grace_s` before its round does, in `left_s` seconds."""
    time_limit_s = fit.params.get("time_limit_s")
    if fit.grace_s is None or not isinstance(time_limit_s, int | float):
        return fit
    time_limit_s = min(time_limit_s, max(left_s - fit.grace_s, MIN_TIME_LIMIT_S))
    return replace(fit, params={**fit.params, "time_limit_s": round(time_limit_s, 2)})


def _current_task() -> "asyncio.Task[Any]":
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a fit runs in a task")
    return task


def _make_result(computed: ComputationResult) -> _Result:
    files = {
        stored.name: {
            "digest": stored.digest,
            "size_bytes": stored.size_bytes,
            "media_type": stored.media_type,
        }
        for stored in computed.files
    }
    return _Result("done", {"value": computed.value, "files": files, "wall_s": computed.usage.wall_s})
