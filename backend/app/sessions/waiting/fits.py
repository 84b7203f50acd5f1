"""One fit: a computation with a lease of its own, on any worker of the fleet.

The statement that stores its result counts its round down and wakes the session at zero: of two fits that
finish at once, the row lock of the round makes one the last.
"""

import asyncio
import json
import logging
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import structlog

from app import jobs
from app.db.pool import Database, is_away
from app.errors import LabError
from app.jobs import SendJob
from app.observability.metrics.sessions import FIT_SECONDS, FITS, LEASE_LOSSES
from app.observability.tracing import span
from app.sandbox.computer import ComputationResult, Computer
from app.sandbox.contract import Computation, Limits
from app.sandbox.metering import Charge, charge_nobody, meter_usage
from app.sessions.background_tasks import renew_in_background
from app.sessions.config import SessionsConfig
from app.sessions.events.events import FitFinished, Progress
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.serialization import NotJson, dump_event, dumps, make_event_message
from app.sessions.statements import ROUNDS
from app.storage.blobs import StoreUnavailable
from app.tasks import consume_cancellation

log = logging.getLogger(__name__)


_MIN_S = 0.5
"""What a fit is given however late it starts: something may come of it."""


@dataclass(frozen=True)
class FitKey:
    session_id: UUID
    round_key: str
    candidate: int

    @property
    def key_columns(self) -> tuple[UUID, str, int]:
        return self.session_id, self.round_key, self.candidate


@dataclass(frozen=True)
class _Result:
    status: str
    body: dict[str, Any]
    summary: str = ""


@dataclass
class _RunningFit:
    """Why a running fit is stopped: `cancelled`, `lost` (nobody wants it any more) or `shutdown`."""

    task: "asyncio.Task[Any]"
    recheck: asyncio.Event = field(default_factory=asyncio.Event)
    stop: str = ""

    def halt(self, why: str) -> None:
        if not self.stop:
            self.stop = why
            self.task.cancel()


@dataclass
class Fits:
    """Runs fits on one event loop."""

    db: Database
    computer: Computer
    tail: EventPublisher
    send: SendJob
    config: SessionsConfig
    charge: Charge = charge_nobody
    draining: bool = False
    _running: dict[FitKey, _RunningFit] = field(default_factory=dict)

    async def run(self, key: FitKey) -> None:
        """Run a fit, if it is still wanted and nobody runs it."""
        if self.draining:
            return
        row = await self.db.row(ROUNDS.claim, *key.key_columns, self.config.lease_s)
        if row is None:
            return
        if row["runs"] > 1:
            LEASE_LOSSES.labels("fit").inc()
        clock = time.monotonic()
        spec = shorten_time_limit(json.loads(row["spec"]), row["left_s"])
        with meter_usage() as used, structlog.contextvars.bound_contextvars(session_id=str(key.session_id)):
            result = await self._result(key, row["fence"], row["name"], spec, row["runs"])
        await consume_cancellation(asyncio.current_task())
        await self.charge(row["owner_id"], used.cpu_s)
        if result is None:
            return
        if result.status == "queued":
            if await self.db.row(ROUNDS.give_back, *key.key_columns, row["fence"]):
                self.send(jobs.fit_job(*key.key_columns))
            return
        FITS.labels(result.status).inc()
        FIT_SECONDS.observe(time.monotonic() - clock)
        await self._finish(key, row["fence"], row["name"], result)

    def cancel(self, session_id: UUID) -> None:
        """Somebody says that a session was cancelled: look at its row now."""
        for key, hold in self._running.items():
            if key.session_id == session_id:
                hold.recheck.set()

    async def drain(self) -> None:
        """A fit may take minutes: kill it and let another worker run it."""
        self.draining = True
        holds = list(self._running.values())
        for hold in holds:
            hold.halt("shutdown")
        if holds:
            await asyncio.wait({hold.task for hold in holds}, timeout=self.config.drain_s)

    async def _result(
        self, key: FitKey, fence: int, name: str, spec: dict[str, Any], runs: int
    ) -> _Result | None:
        if runs > self.config.max_crashes:
            return _Result("failed", {"reason": f"The process that computed it died {runs - 1} times."})
        hold = _RunningFit(_this_task())
        renew = partial(self._renew, key, fence, hold)
        async with renew_in_background(self._running, key, hold, renew, self.config.renew_s):
            with meter_usage() as meter:
                result = await self._attempt(key, name, spec, hold)
        return replace(result, body={**result.body, "usage": meter.facts()}) if result else None

    async def _attempt(self, key: FitKey, name: str, spec: dict[str, Any], hold: _RunningFit) -> _Result | None:
        try:
            return _done(await self._compute(key, name, spec))
        except asyncio.CancelledError:
            if not hold.stop:
                raise
            return {"cancelled": _Result("cancelled", {}), "shutdown": _Result("queued", {})}.get(hold.stop)
        except StoreUnavailable:
            return _Result("queued", {})
        except LabError as error:
            return _Result("failed", {"reason": error.detail, "code": error.code}, error.detail)
        except Exception as error:
            if is_away(error):
                raise
            log.exception("fit %s failed", key)
            return _Result("failed", {"reason": f"{type(error).__name__}: {error}"}, str(error))

    async def _compute(self, key: FitKey, name: str, spec: dict[str, Any]) -> ComputationResult:
        step = int(key.round_key.split(".", 1)[0])

        def progress(fraction: float, text: str) -> None:
            event = Progress(step=step, attempt=0, text=f"{name}: {text}", fraction=fraction)
            self.tail.publish(
                key.session_id, make_event_message(None, datetime.now(UTC), event.kind, dump_event(event))
            )

        work = Computation(spec["function"], spec["params"])
        with span("fit", work.function, key.session_id, {"labcrew.step": step, "labcrew.round": key.round_key}):
            return await self.computer.run(work, spec["inputs"], Limits(**spec["limits"]), progress)

    async def _finish(self, key: FitKey, fence: int, name: str, result: _Result) -> None:
        try:
            raw = dumps(result.body, f"result of {name}")
        except NotJson as error:
            result = _Result("failed", {"reason": error.detail}, error.detail)
            raw = dumps(result.body)
        event = FitFinished(
            round=key.round_key,
            candidate=key.candidate,
            name=name,
            status=result.status,
            summary=result.summary,
        )
        at, body = datetime.now(UTC), dump_event(event)
        row = await self.db.row(ROUNDS.finish, *key.key_columns, fence, result.status, raw, body, at)
        if row:
            self.tail.publish(key.session_id, make_event_message(row["event_seq"], at, event.kind, body))
            if row["woken"]:
                self.send(jobs.advance_job(key.session_id))

    async def _renew(self, key: FitKey, fence: int, hold: _RunningFit) -> bool:
        row = await self.db.row(ROUNDS.renew, *key.key_columns, fence, self.config.lease_s)
        if row is None or row["cancel"]:
            hold.halt("cancelled" if row else "lost")
        return not hold.stop


def shorten_time_limit(spec: dict[str, Any], left_s: float) -> dict[str, Any]:
    """The spec of a fit for which so many seconds are left of its round, as `scope.Fit` says."""
    grace_s, limit_s = spec.get("grace_s"), spec["params"].get("time_limit_s")
    if grace_s is None or limit_s is None:
        return spec
    limit_s = min(limit_s, max(left_s - grace_s, _MIN_S))
    return {**spec, "params": {**spec["params"], "time_limit_s": round(limit_s, 2)}}


def _this_task() -> "asyncio.Task[Any]":
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a fit runs in a task")
    return task


def _done(computed: ComputationResult) -> _Result:
    files = {
        stored.name: {
            "digest": stored.digest,
            "size_bytes": stored.size_bytes,
            "media_type": stored.media_type,
        }
        for stored in computed.files
    }
    return _Result("done", {"value": computed.value, "files": files, "wall_s": computed.usage.wall_s})
