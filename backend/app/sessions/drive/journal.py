"""The journal of a session: recorded steps and calls, which run once and are replayed afterwards.

A live result is read back from the JSON that was written, so that a live run equals its replay.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from app.errors import InvalidInput, LabError
from app.json_types import JsonValue
from app.sessions.events.events import Durable
from app.sessions.events.serialization import dumps, request_digest
from app.sessions.fenced_writer import GUARD_STEP, FencedWriter, WriteResult, make_fenced_statement
from app.sessions.statements import JOURNAL
from app.sessions.step_scope import ArtifactDraft, Call, CallResult


class JournalDiverged(LabError):
    """The journal does not match the graph, so a replay would have to guess."""


@dataclass(frozen=True)
class StepOutputs:
    """Rows that a step or call writes beside its result. `messages`: (role, text), of steps only."""

    events: Sequence[Durable] = ()
    artifacts: Sequence[ArtifactDraft] = ()
    messages: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class StepEntry:
    seq: int
    node: str
    update: Mapping[str, Any]
    started_at: datetime


@dataclass(frozen=True)
class CallEntry:
    seq: int
    call: Call
    recorded: CallResult
    started_at: datetime
    duration_ms: float


class StoredStep(NamedTuple):
    """`update`: JSON."""

    seq: int
    node: str
    update: str


class StoredCall(NamedTuple):
    """`result`: JSON."""

    key: str
    request_digest: str
    result: str


@cache
def _make_step_sql(has_outputs: bool) -> str:
    """Make the statement that commits a step, with or without messages and artifacts.

    Most steps have neither, and those parts cost time even when empty.
    """
    if not has_outputs:
        return make_fenced_statement(JOURNAL.insert_step, GUARD_STEP)
    artifacts = JOURNAL.insert_artifacts.format(call_key="''", artifacts="$11")
    return make_fenced_statement(JOURNAL.insert_step + artifacts + JOURNAL.insert_messages, GUARD_STEP)


@cache
def _make_call_sql(has_artifacts: bool) -> str:
    extra = JOURNAL.insert_artifacts.format(call_key="$8", artifacts="$12") if has_artifacts else ""
    return make_fenced_statement(JOURNAL.insert_call + extra)


@dataclass
class Journal:
    """The journal of one session, as its driver reads and writes it.

    `continues_earlier_version`: an earlier version of the graph began the session.
    """

    writer: FencedWriter
    continues_earlier_version: bool = False
    last_seq: int = field(init=False)
    _steps: dict[int, StoredStep] = field(default_factory=dict)
    _calls: dict[int, dict[str, StoredCall]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.last_seq = self.writer.lease.last_seq

    async def step(self, seq: int, node: str) -> dict[str, Any] | None:
        """Return the recorded update of a step, None if it was never committed. Raises JournalDiverged.

        In a fork with changed settings they lie over the update of the last copied step. Only the lease holder
        writes, so a step after the last one needs no query.
        """
        if seq > self.last_seq:
            return None
        if seq not in self._steps:
            # All later steps at once: a replay asks for each of them in turn.
            rows = await self.writer.db.rows(JOURNAL.steps_from, self.writer.lease.facts.id, seq)
            self._steps = {step.seq: step for step in (StoredStep(**row) for row in rows)}
        recorded = self._steps[seq]
        if recorded.node != node:
            raise JournalDiverged(
                "journal_diverged",
                f"Step {seq} was recorded as {recorded.node}, and the graph now runs {node} there. "
                "The session cannot be continued with this version; start it again.",
            )
        fork = self.writer.lease.fork
        overlay = fork.overlays.get(seq, {}) if fork else {}
        return {**json.loads(recorded.update), **overlay}

    async def commit(self, step: StepEntry, outputs: StepOutputs) -> tuple[dict[str, Any], WriteResult]:
        """Write a step and return its update as a replay reads it. Raises LeaseLost."""
        raw = dumps(step.update, f"update of {step.node}")
        has_outputs = bool(outputs.artifacts or outputs.messages)
        extra = (_dump_artifacts(outputs), *_split_messages(outputs)) if has_outputs else ()
        write = await self.writer.write(
            _make_step_sql(has_outputs), step.seq, outputs.events, step.node, raw, step.started_at, *extra
        ) or await self.writer.confirm_own_write(JOURNAL.fence_of_step, step.seq)
        self.last_seq = step.seq
        # A committed step is not run again by this drive: its calls need not stay in memory.
        self._calls.pop(step.seq, None)
        update: dict[str, Any] = json.loads(raw)
        return update, write

    async def call(self, seq: int, call: Call) -> tuple[JsonValue] | None:
        """Return the recorded result in a tuple of one, None for a new call. Raises JournalDiverged.

        The tuple tells a recorded null from a call that is not recorded.
        """
        # A fork is created with fence 1: its own first claim has 2, and reads what was copied.
        if self.writer.lease.fence == 1:
            return None  # the session's first claim: nothing is recorded yet
        if seq not in self._calls:
            rows = await self.writer.db.rows(JOURNAL.calls_of_step, self.writer.lease.facts.id, seq)
            self._calls[seq] = {row.key: row for row in (StoredCall(**row) for row in rows)}
        recorded = self._calls[seq].get(call.key)
        if recorded is None:
            return None
        # Prompts are reworded in every version; the recorded answer of the chat model still holds.
        is_reworded = call.kind == "chat" and self.continues_earlier_version
        if recorded.request_digest != request_digest(call.request) and not is_reworded:
            raise JournalDiverged(
                "journal_diverged",
                f"Call {call.key} of step {seq} ({call.name}) was recorded with another request than the one "
                "that the agent now makes. The session cannot be continued with this version; start it again.",
            )
        return (json.loads(recorded.result),)

    async def record(self, completed: CallEntry, outputs: StepOutputs) -> tuple[JsonValue, WriteResult]:
        """Write a call and return its result as a replay reads it. Raises LeaseLost."""
        raw = dumps(completed.recorded.value, f"result of {completed.call.name}")
        extra = (_dump_call(completed), *((_dump_artifacts(outputs),) if outputs.artifacts else ()))
        write = await self.writer.write(
            _make_call_sql(bool(outputs.artifacts)),
            completed.seq,
            outputs.events,
            completed.call.key,
            raw,
            completed.started_at,
            *extra,
        ) or await self.writer.confirm_own_write(JOURNAL.fence_of_call, completed.seq, completed.call.key)
        return json.loads(raw), write


def _dump_call(completed: CallEntry) -> str:
    """Return the columns of a call beside its result, as a JSON object."""
    call, recorded = completed.call, completed.recorded
    columns = {
        "kind": call.kind,
        "name": call.name,
        "agent": call.agent,
        "request_digest": request_digest(call.request),
        "request": call.request,
        "failed": recorded.failed,
        "duration_ms": completed.duration_ms,
        "usage": dict(recorded.usage),
    }
    return dumps(columns, f"request of {call.name}")


def _dump_artifacts(outputs: StepOutputs) -> str:
    """Return the rows of artifacts as a JSON array. Raises InvalidInput for a repeated name.

    The database could not tell a repeated name from a write that was sent twice.
    """
    for name, count in Counter(artifact.name for artifact in outputs.artifacts).items():
        if count > 1:
            raise InvalidInput("artifact_twice", f"{count} artifacts of one call are named {name!r}.")
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
        for artifact in outputs.artifacts
    ]
    return dumps(rows, "artifact")


def _split_messages(outputs: StepOutputs) -> tuple[list[str], list[str]]:
    """Return roles and texts. Postgres cannot hold a NUL, which becomes U+FFFD."""
    clean = [(role, text.replace("\x00", "\ufffd")) for role, text in outputs.messages]
    return [role for role, _ in clean], [text for _, text in clean]
