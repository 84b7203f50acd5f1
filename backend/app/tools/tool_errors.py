"""Errors of tool calls as data, for agents and for readers of the journal."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from app.errors import LabError, ToolRefused
from app.json_types import JsonValue

ToolErrorType = Literal[
    "invalid_arguments",
    "unknown_tool",
    "refused_by_policy",
    "rejected_by_user",
    "not_found",
    "timed_out",
    "out_of_memory",
    "out_of_disk",
    "failed",
    "budget",
]
ERROR = "error"
FORMER_ERROR = "refused"
"""The only key of a refusal in journals of earlier versions; its value is the message."""

_FINAL: tuple[ToolErrorType, ...] = ("rejected_by_user", "budget")
"""Errors that no other arguments would avoid."""
_TYPES: Mapping[str, ToolErrorType] = {
    "computation_timed_out": "timed_out",
    "computation_out_of_memory": "out_of_memory",
    "computation_out_of_disk": "out_of_disk",
    "code_not_allowed": "refused_by_policy",
    "sql_not_admitted": "refused_by_policy",
    "code_needs_isolation": "refused_by_policy",
}
_KINDS: Mapping[str, ToolErrorType] = {"not_found": "not_found", "forbidden": "refused_by_policy"}


def make_error(
    kind: ToolErrorType,
    message: str,
    attempt: int = 1,
    field: str | None = None,
    nearest: Sequence[str] = (),
    action: str | None = None,
) -> dict[str, JsonValue]:
    """Make the recorded value of a call that failed. `attempt` counts the failed calls of the tool in a run."""
    error: dict[str, JsonValue] = {"type": kind, "message": message}
    error |= {"field": field} if field else {}
    error |= {"nearest": [*nearest]} if nearest else {}
    error |= {"action": action} if action else {}
    return {ERROR: {**error, "retryable": kind not in _FINAL, "attempt": attempt}}


def describe_refusal(refused: ToolRefused, attempt: int) -> dict[str, JsonValue]:
    cause = refused.__cause__
    kind: Any = refused.kind
    # The tool gave no kind of its own, but was stopped by an error that has one.
    if kind == "failed" and isinstance(cause, LabError):
        kind = error_type(cause)
    return make_error(kind, str(refused), attempt, refused.field, refused.nearest, refused.action)


def describe_lab_error(error: LabError, attempt: int) -> dict[str, JsonValue]:
    nearest: Any = error.facts.get("nearest") or ()
    field: Any = error.facts.get("field")
    return make_error(error_type(error), error.detail, attempt, field, [str(name) for name in nearest])


def error_type(error: LabError) -> ToolErrorType:
    return _TYPES.get(error.code) or _KINDS.get(error.kind, "failed")


def get_refusal(value: JsonValue) -> str | None:
    """Return the message of a recorded error, or None for a value of a call that succeeded."""
    if isinstance(value, dict) and list(value) == [FORMER_ERROR]:
        return str(value[FORMER_ERROR])
    error = _get_error(value)
    return str(error["message"]) if error else None


def get_rejected_action(value: JsonValue, tool: str) -> str | None:
    """Return what a call that its user did not approve would have done, in words; None for other values."""
    error = _get_error(value) or {}
    if error.get("type") != "rejected_by_user":
        return None
    # Journals of earlier versions have no words for it. Names of tools are verbs with their objects.
    return str(error.get("action") or tool.replace("_", " "))


def _get_error(value: JsonValue) -> Mapping[str, JsonValue] | None:
    # Exactly this shape: a result of a call may have a member `error` of its own.
    if not isinstance(value, dict) or list(value) != [ERROR]:
        return None
    error = value[ERROR]
    return error if isinstance(error, dict) and {"type", "message"} <= error.keys() else None
