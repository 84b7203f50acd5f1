"""The evidence behind a number: one recorded call of a session."""

from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.db.pool import Database
from app.errors import NotFound
from app.sessions.queries import make_not_found_error
from app.sessions.recorded_facts import CallRecord, make_recorded_call
from app.sessions.statements import VIEWS

MAX_EVIDENCE_BYTES = 1 << 20
"""A page draws no more than this of one result; the bundle has it whole."""


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
    record = CallRecord(**row)
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
    )
