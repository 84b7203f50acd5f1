"""The message of a job, as it comes from the queue or by HTTP."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from app.errors import InvalidInput
from app.plans.plan import count_parts
from app.sessions.schemas import MAX_DATASETS, require_storable
from app.workflows.document import WorkflowDocument

VERSION = "1.0"
"""Version of the messages; others of the same major version are read alike."""
MAX_MESSAGE_BYTES = 1 << 20
"""Size of a message: a workflow of 500 nodes has about a tenth of it."""
MAX_JOB_ID_CHARS = 128
"""Characters of the id of a job, which is a part of a key in Redis."""
MAX_RESULT_DEPTH = 60
"""Levels of JSON in earlier results, as in plans; serializers refuse more than 255."""
_MAX_SHOWN_FAULTS = 5
"""Faults that an answer names: a sender mends the first ones and sends again."""

JobId = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_JOB_ID_CHARS, pattern=r"^[A-Za-z0-9._:-]+$")
]
Label = Annotated[str, StringConstraints(max_length=200), AfterValidator(require_storable)]


class _MessagePart(BaseModel):
    """Base of the parts of a message: unknown fields are ignored, and errors show no content."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class PreviousResult(_MessagePart):
    """The table of an earlier node: its records, or `result_ref`, the table of an earlier job."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]
    records: list[dict[str, Any]] | None = None
    result_ref: Annotated[str, StringConstraints(pattern=r"^artifact://[0-9a-fA-F-]{36}$")] | None = None


def require_shallow(results: list[Any]) -> list[Any]:
    """Check the depth of earlier results; raises ValueError."""
    if any(depth > MAX_RESULT_DEPTH for depth, _ in enumerate(count_parts(results), 1)):
        raise ValueError(f"The results are nested more than {MAX_RESULT_DEPTH} levels deep.")
    return results


class JobMessageContext(_MessagePart):
    """`session_id`: jobs that share it remember each other. `datasets`: ids or names."""

    previous_results: Annotated[list[Any], AfterValidator(require_shallow)] = Field(
        default_factory=list, max_length=MAX_DATASETS
    )
    session_id: Label | None = None
    datasets: list[Label] | None = Field(default=None, max_length=MAX_DATASETS)


class JobMessage(_MessagePart):
    """A job. `workflow_tag`: name or id of a saved workflow, which a change is proposed for.

    `save`: accept the change of a saved workflow at once. `run_id` and `node_id` come back with the answer.
    """

    version: Annotated[str, StringConstraints(max_length=9, pattern=r"^\d{1,4}(\.\d{1,4})?$")] = Field(
        examples=[VERSION]
    )
    job_id: JobId
    prompt: Annotated[
        str, StringConstraints(min_length=1, max_length=20_000), AfterValidator(require_storable)
    ] = Field(examples=["show me the top 10 flights sorted by price"])
    run_id: Label | None = None
    node_id: Label | None = None
    workflow_tag: Label | None = None
    workflow_owner: Label | None = Field(
        default=None, description="In the queue, the account by AGENT_QUEUE_OWNERS; over HTTP it is the caller."
    )
    current_workflow: WorkflowDocument | None = None
    context: JobMessageContext = Field(default_factory=JobMessageContext)
    time_zone: Label = Field(default="UTC", description="Time zone of schedules.")
    save: bool = False


class JobRequest(JobMessage):
    """A job by HTTP, where unknown fields are refused as in every other request."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class InvalidJob(InvalidInput):
    """A message that is no job. `job_id`: None if it cannot be read, so that nobody can be told."""

    def __init__(self, code: str, detail: str, job_id: str | None = None, owner: str | None = None) -> None:
        super().__init__(code, detail)
        self.job_id = job_id
        self.owner = owner


def parse_message(payload: bytes) -> JobMessage:
    """Parse a message of the queue. Raises InvalidJob."""
    # Before it is parsed, which takes many times its bytes of memory.
    if len(payload) > MAX_MESSAGE_BYTES:
        raise InvalidJob("job_too_large", f"A job has at most {MAX_MESSAGE_BYTES:,} bytes.")
    try:
        content = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise InvalidJob("job_unreadable", "The message is no JSON.") from error
    if not isinstance(content, dict):
        raise InvalidJob("job_unreadable", "The message is no JSON object.")
    job_id, owner = _read_text(content, "job_id"), _read_text(content, "workflow_owner")
    try:
        message = JobMessage.model_validate(content)
    except ValidationError as error:
        # An id that is itself at fault must not become a part of a key in Redis.
        readable_id = job_id if job_id and not _is_at_fault(error, "job_id") else None
        raise InvalidJob("invalid_job", describe_faults(error), readable_id, owner) from None
    check_version(message)
    return message


def check_version(message: JobMessage) -> None:
    """Raises InvalidJob for a major version that is not spoken."""
    if message.version.partition(".")[0] != VERSION.partition(".")[0]:
        raise InvalidJob(
            "unknown_version",
            f"This service speaks version {VERSION} of jobs, not {message.version}.",
            message.job_id,
            message.workflow_owner,
        )


def describe_faults(error: ValidationError) -> str:
    """Name the first faults by their places, without the values."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    faults_text = [f"{'/'.join(map(str, fault['loc'])) or 'job'}: {fault['msg']}" for fault in faults]
    more = f" and {len(faults_text) - _MAX_SHOWN_FAULTS} more" if len(faults_text) > _MAX_SHOWN_FAULTS else ""
    return "; ".join(faults_text[:_MAX_SHOWN_FAULTS]) + more


def _read_text(content: dict[str, Any], field: str) -> str | None:
    value = content.get(field)
    return value if isinstance(value, str) else None


def _is_at_fault(error: ValidationError, field: Literal["job_id"]) -> bool:
    return any(fault["loc"][:1] == (field,) for fault in error.errors(include_input=False))
