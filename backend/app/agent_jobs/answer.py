"""The answer of a job, made of the outcome of its session."""

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from app.agent_jobs.message import VERSION, JobMessage
from app.errors import LabError
from app.tools.context.pipeline_steps import PipelineStep

MAX_PREVIEW_CHARS = 32_768
"""Characters of a preview as JSON; `result_ref` has all of it."""
MAX_TOOL_CALLS = 100
"""Calls that an answer lists; the journal has all."""
Status = Literal["completed", "failed", "needs_input"]


class JobError(BaseModel):
    type: str = Field(description="A stable code.", examples=["unknown_column"])
    message: str


class JobToolCall(BaseModel):
    name: str
    ok: bool
    duration_ms: float


class JobMetadata(BaseModel):
    """`cache_hit`: the provider of the chat model had cached a part of the prompt."""

    lane: Literal["execute", "patch", "unclear"] | None = None
    tool_calls: list[JobToolCall] = Field(default_factory=list)
    tokens_used: int = 0
    cache_hit: bool = False
    cached_tokens: int = 0
    execution_time_ms: float = 0.0
    run_id: str | None = None
    node_id: str | None = None


class JobAnswer(BaseModel):
    """The answer of a job: the same one, however often the job is sent.

    `result_ref`: `artifact://` and the id of an artifact (GET /artifacts/{id}). `result_preview`: text, first
    rows, query and charts (GET /charts/{id}) of an execution; patch, workflow and difference of a change;
    question and options of a job that needs input. `steps`: what made the table of an execution, for
    `POST /workflows`; none where a workflow cannot make it, as from tables that came with the job.
    """

    version: str = VERSION
    job_id: str
    status: Status
    result_ref: str | None = None
    result_preview: dict[str, Any] = Field(default_factory=dict)
    steps: list[PipelineStep] = Field(default_factory=list)
    error: JobError | None = None
    metadata: JobMetadata = Field(default_factory=JobMetadata)


class JobOutcome(NamedTuple):
    """The session of a job. JSON: `error`, `result`, `question`, `artifacts` and `tool_calls`."""

    status: str
    error: str | None
    result: str | None
    has_ended: bool
    duration_ms: float
    question: str | None
    artifacts: str
    tool_calls: str
    tokens_used: int
    cached_tokens: int


def make_refusal(job_id: str, error: LabError) -> JobAnswer:
    """Make the answer of a job that was not taken."""
    return JobAnswer(job_id=job_id, status="failed", error=JobError(type=error.code, message=error.detail))


def make_answer(message: JobMessage, outcome: JobOutcome) -> JobAnswer:
    """Make the answer of a job whose session has ended or waits for its user."""
    result: dict[str, Any] = json.loads(outcome.result) if outcome.result else {}
    metadata = JobMetadata(
        lane=result.get("lane"),
        tool_calls=json.loads(outcome.tool_calls)[:MAX_TOOL_CALLS],
        tokens_used=outcome.tokens_used,
        cache_hit=outcome.cached_tokens > 0,
        cached_tokens=outcome.cached_tokens,
        execution_time_ms=round(float(outcome.duration_ms), 3),
        run_id=message.run_id,
        node_id=message.node_id,
    )
    error = _read_error(outcome, result)
    status: Status = "failed" if error else "needs_input" if result.get("question") else "completed"
    artifacts: list[dict[str, Any]] = json.loads(outcome.artifacts)
    preview = _make_preview({**result, "charts": _name_charts(result, artifacts)})
    # It waits for a user, whom a job does not have: the question is the answer.
    if not outcome.has_ended:
        question = json.loads(outcome.question) if outcome.question else {}
        status, preview = "needs_input", _question_preview(question)
    return JobAnswer(
        job_id=message.job_id,
        status=status,
        result_ref=_find_reference(result, artifacts),
        result_preview=preview,
        steps=[] if error or not outcome.has_ended else _read_steps(result),
        error=error,
        metadata=metadata,
    )


def _read_error(outcome: JobOutcome, result: Mapping[str, Any]) -> JobError | None:
    if outcome.error:
        error = json.loads(outcome.error)
        return JobError(type=error["code"], message=error["detail"])
    if outcome.status == "cancelled":
        return JobError(type="cancelled", message="This job was cancelled.")
    failure = result.get("failure")
    return JobError(type=failure["code"], message=failure["message"]) if failure else None


def _read_steps(result: Mapping[str, Any]) -> list[PipelineStep]:
    steps = result.get("kept_steps") or []
    # A part of them would make another table.
    return [PipelineStep.model_validate(step) for step in steps] if _size(steps) <= MAX_PREVIEW_CHARS else []


def _find_reference(result: Mapping[str, Any], artifacts: list[dict[str, Any]]) -> str | None:
    digest = (result.get("table") or {}).get("digest") or result.get("digest")
    ids = (artifact["id"] for artifact in artifacts if digest and artifact["digest"] == digest)
    artifact_id = next(ids, None)
    return f"artifact://{artifact_id}" if artifact_id else None


def _name_charts(result: Mapping[str, Any], artifacts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Name the charts of an answer by the ids of their artifacts, for GET /charts/{id}."""
    ids = {artifact["digest"]: artifact["id"] for artifact in artifacts}
    return [
        {"id": ids[chart["digest"]], "title": chart.get("title"), "problem": chart.get("problem")}
        for chart in result.get("charts", ())
        if chart["digest"] in ids
    ]


def _question_preview(question: Mapping[str, Any]) -> dict[str, Any]:
    return {"question": question.get("text"), "options": question.get("options") or []}


_PREVIEW_PARTS = (
    *("text", "question", "options", "sql", "plan", "code", "stdout", "readings", "suggestions"),
    *("charts", "summary", "difference", "patch", "workflow", "proposal", "workflow_id", "saved", "faults"),
)
"""Parts of an outcome that a preview shows, beside the table."""


def _make_preview(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an outcome that fit: long ones are left out, and rows from the end."""
    preview = {name: result[name] for name in _PREVIEW_PARTS if result.get(name) not in (None, [], "")}
    # The longest first, so that few parts are lost.
    for name in sorted(preview, key=lambda part: -_size(preview[part])):
        if _size(preview) <= MAX_PREVIEW_CHARS:
            break
        del preview[name]
        preview["truncated"] = True
    table = result.get("table")
    if table:
        rows = list(table["rows"])
        facts = {"columns": table["columns"], "row_count": table["row_count"], "truncated": table["truncated"]}
        # By halves: each look encodes the whole preview again.
        while rows and _size({**preview, **facts, "rows": rows}) > MAX_PREVIEW_CHARS:
            rows, facts["truncated"] = rows[: len(rows) // 2], True
        preview |= {**facts, "rows": rows}
    return preview


def _size(part: Any) -> int:
    return len(json.dumps(part, default=str))
