"""Recorded steps and calls: do it once, replay it for ever.

What is returned live is read back from the JSON that was written, so live equals replay.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from app.db.pool import Record
from app.errors import InvalidInput, LabError
from app.json_types import JsonValue
from app.sessions.events.events import Durable
from app.sessions.events.serialization import dumps, request_digest
from app.sessions.fenced_writer import GUARD_STEP, FencedWriter, WriteResult, make_fenced_statement
from app.sessions.statements import JOURNAL
from app.sessions.step_scope import ArtifactDraft, Call, CallResult


class JournalDiverged(LabError):
    """The journal and the graph disagree: a replay would have to guess."""


@dataclass(frozen=True)
class StepOutputs:
    """What a step or call leaves beside its result. `messages` are (role, text), of steps only."""

    events: Sequence[Durable] = ()
    artifacts: Sequence[ArtifactDraft] = ()
    messages: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class CompletedStep:
    seq: int
    node: str
    update: Mapping[str, Any]
    started_at: datetime


@dataclass(frozen=True)
class CompletedCall:
    seq: int
    call: Call
    recorded: CallResult
    started_at: datetime
    duration_ms: float


@cache
def _step_sql(more: bool) -> str:
    """Most steps leave no messages and no artifacts, and those parts cost time even when empty."""
    if not more:
        return make_fenced_statement(JOURNAL.insert_step, GUARD_STEP)
    artifacts = JOURNAL.insert_artifacts.format(call_key="''", artifacts="$11")
    return make_fenced_statement(JOURNAL.insert_step + artifacts + JOURNAL.insert_messages, GUARD_STEP)


@cache
def _call_sql(more: bool) -> str:
    extra = JOURNAL.insert_artifacts.format(call_key="$8", artifacts="$12") if more else ""
    return make_fenced_statement(JOURNAL.insert_call + extra)


@dataclass
class Journal:
    """The journal of one session, as its driver reads and writes it.

    `continues_earlier_version`: an earlier version of the graph began the session.
    """

    writer: FencedWriter
    continues_earlier_version: bool = False
    last_seq: int = field(init=False)
    _steps: dict[int, Record] = field(default_factory=dict)
    _calls: dict[int, dict[str, Record]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.last_seq = self.writer.lease.last_seq

    async def step(self, seq: int, node: str) -> dict[str, Any] | None:
        """The recorded update of a step, None for one that was never committed; raises Diverged.

        Only the lease holder writes, so a step after the last one needs no query.
        """
        if seq > self.last_seq:
            return None
        if seq not in self._steps:
            rows = await self.writer.db.rows(JOURNAL.steps_from, self.writer.lease.facts.id, seq)
            self._steps = {row["seq"]: row for row in rows}
        recorded = self._steps[seq]
        if recorded["node"] != node:
            raise JournalDiverged(
                "journal_diverged",
                f"Step {seq} was recorded as {recorded['node']}, and the graph now takes it for {node}. "
                "The session cannot be continued with this version; start it again.",
            )
        update: dict[str, Any] = json.loads(recorded["update"])
        return update

    async def commit(self, done: CompletedStep, leavings: StepOutputs) -> tuple[dict[str, Any], WriteResult]:
        """Write a step; its update as replay would return it. Raises LeaseLost."""
        raw = dumps(done.update, f"update of {done.node}")
        more = bool(leavings.artifacts or leavings.messages)
        extra = (_artifacts(leavings), *_messages(leavings)) if more else ()
        written = await self.writer.write(
            _step_sql(more), done.seq, leavings.events, done.node, raw, done.started_at, *extra
        ) or await self.writer.confirm_own_write(JOURNAL.fence_of_step, done.seq)
        self.last_seq = done.seq
        self._calls.pop(done.seq, None)
        update: dict[str, Any] = json.loads(raw)
        return update, written

    async def call(self, seq: int, call: Call) -> tuple[JsonValue] | None:
        """The recorded result of a call, in a tuple of one; None for a new call. Raises Diverged."""
        if self.writer.lease.fence == 1:
            return None  # nobody drove the session before us
        if seq not in self._calls:
            rows = await self.writer.db.rows(JOURNAL.calls_of_step, self.writer.lease.facts.id, seq)
            self._calls[seq] = {row["key"]: row for row in rows}
        recorded = self._calls[seq].get(call.key)
        if recorded is None:
            return None
        # What is put to a chat model is prose that changes with every version; its recorded answer stays.
        is_reworded = call.kind == "chat" and self.continues_earlier_version
        if recorded["request_digest"] != request_digest(call.request) and not is_reworded:
            raise JournalDiverged(
                "journal_diverged",
                f"Call {call.key} of step {seq} ({call.name}) was recorded with another request than the one "
                "that the agent now makes. The session cannot be continued with this version; start it again.",
            )
        return (json.loads(recorded["result"]),)

    async def record(self, done: CompletedCall, leavings: StepOutputs) -> tuple[JsonValue, WriteResult]:
        """Write a call; its result as replay would return it. Raises LeaseLost."""
        raw = dumps(done.recorded.value, f"result of {done.call.name}")
        extra = (_about(done), *((_artifacts(leavings),) if leavings.artifacts else ()))
        written = await self.writer.write(
            _call_sql(bool(leavings.artifacts)),
            done.seq,
            leavings.events,
            done.call.key,
            raw,
            done.started_at,
            *extra,
        ) or await self.writer.confirm_own_write(JOURNAL.fence_of_call, done.seq, done.call.key)
        return json.loads(raw), written


def _about(done: CompletedCall) -> str:
    call, recorded = done.call, done.recorded
    about = {
        "kind": call.kind,
        "name": call.name,
        "agent": call.agent,
        "request_digest": request_digest(call.request),
        "request": call.request,
        "failed": recorded.failed,
        "duration_ms": done.duration_ms,
        "usage": dict(recorded.usage),
    }
    return dumps(about, f"request of {call.name}")


def _artifacts(leavings: StepOutputs) -> str:
    """Raises InvalidInput for a name that comes twice: in the database it would look like a repeated write."""
    for name, times in Counter(artifact.name for artifact in leavings.artifacts).items():
        if times > 1:
            raise InvalidInput("artifact_twice", f"{times} artifacts of one call are named {name!r}.")
    rows = [
        {
            "id": str(artifact.id),
            "kind": artifact.kind,
            "name": artifact.name,
            "media_type": artifact.media_type,
            "digest": artifact.digest,
            "size_bytes": artifact.size_bytes,
            "meta": dict(artifact.meta),
        }
        for artifact in leavings.artifacts
    ]
    return dumps(rows, "artifact")


def _messages(leavings: StepOutputs) -> tuple[list[str], list[str]]:
    clean = [(role, text.replace("\x00", "\ufffd")) for role, text in leavings.messages]
    return [role for role, _ in clean], [text for _, text in clean]
