"""The evidence behind a number: one recorded call of a session."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.db.pool import Database
from app.errors import NotFound
from app.sessions.queries import make_not_found_error
from app.sessions.recorded_facts import CallRecord, make_recorded_call
from app.sessions.statements import VIEWS

_RECORDED = ("usage", "started_at", "inherited", "request_digest", "result_digest")
"""Columns of the statement beside those of a recorded call."""

MAX_EVIDENCE_BYTES = 1 << 20
"""A page draws no more than this of one result; the bundle has it whole."""


class CallUsage(BaseModel):
    """Resources that one call took. Of a tool: those of its cells; of a chat model: its tokens."""

    model_config = ConfigDict(frozen=True)

    cells: int = 0
    cpu_s: float = Field(default=0.0, description="CPU seconds of its cells.")
    peak_memory_bytes: int = Field(default=0, description="Of its largest cell.")
    memory_limit_bytes: int = Field(default=0, description="Limit of that cell.")
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = Field(default=None, description="Null without a price.")


class EvidenceView(BaseModel):
    """One recorded call with what went in and what came out: the evidence behind a number."""

    model_config = ConfigDict(frozen=True)

    step: int
    node: str = Field(description="Name of the step; empty while it runs.")
    call: str = Field(examples=["tool:0.0"])
    kind: str = Field(description="`tool`, `chat` or `choice`.", examples=["tool"])
    name: str = Field(description="The called tool or model.", examples=["final_evaluation"])
    agent: str
    failed: bool
    duration_ms: float
    arguments: JsonValue
    result: JsonValue = Field(description="Claims of the report point into it. Null where it is too large.")
    result_bytes: int = Field(description="Size of the result as JSON.")
    started_at: datetime
    usage: CallUsage
    inherited: bool = Field(description="Copied by a fork from its source.")
    request_digest: str = Field(description="SHA-256 of the request, as a replay compares it.")
    result_digest: str = Field(description="SHA-256 of the result as JSON, as the audit lists it.")


async def read_evidence(database: Database, owner: UUID, session_id: UUID, step: int, key: str) -> EvidenceView:
    """Read one recorded call. Raises NotFound."""
    row = await database.row(VIEWS.call_evidence, session_id, owner, step, key)
    if row is None:
        # Tells a missing call from a session that is not the user's.
        if await database.row(VIEWS.last_step, session_id, owner) is None:
            raise make_not_found_error(session_id)
        raise NotFound(
            "call_not_found",
            f"Step {step} has no recorded call {key}: `steps` of the session lists them.",
        )
    fields = dict(row)
    recorded = {name: fields.pop(name) for name in _RECORDED}
    record = CallRecord(**fields)
    call, size_bytes = make_recorded_call(record), len((record.result or "").encode())
    return EvidenceView(
        step=call.seq,
        node=call.node,
        call=call.key,
        kind=call.kind,
        name=call.tool,
        agent=call.agent,
        failed=call.failed,
        duration_ms=call.duration_ms,
        arguments=call.request,
        result=call.result if size_bytes <= MAX_EVIDENCE_BYTES else None,
        result_bytes=size_bytes,
        usage=CallUsage.model_validate_json(recorded.pop("usage")),
        **recorded,
    )
