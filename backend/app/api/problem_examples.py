"""Examples of problem documents: for each failure in the OpenAPI document one that its operation answers."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

EXAMPLE_ID = "5f0c1c6e-8a52-4f0b-9d2e-0c3f4b1a7e21"
_REQUEST_ID = "0d6cb1f2a7e84c15"


class _Example(NamedTuple):
    code: str
    detail: str
    members: Mapping[str, Any] = {}


_BY_STATUS = {
    400: _Example("invalid_json", "The body is not valid JSON."),
    401: _Example("not_signed_in", "Send `Authorization: Bearer <access token or API key>` or `X-API-Key`."),
    408: _Example("too_slow", "The body arrived too slowly: nothing for 20 s, or under 4096 bytes a second."),
    413: _Example("body_too_large", "The body is over the limit of 1048576 bytes."),
    429: _Example(
        "rate_limited",
        "More than 600 requests of this user in 60 s. Try again in 2 s.",
        {"retry_after_s": 2, "limit": 600, "window_s": 60, "of": "requests"},
    ),
    500: _Example("internal_error", "The service failed. Its log has the details under the request id."),
    503: _Example("database_unavailable", "The database does not answer. Try again in a few seconds."),
}
"""Failures that are the same in all operations."""

_ADMIN = _Example("admin_required", "Only an admin may do this.")
_ENDED = _Example("session_ended", "This session has ended: there is nothing to cancel.")
_KEY = _Example(
    "idempotency_key_reused",
    "This Idempotency-Key was used for another request. Use a new key for a new session.",
)
_CONFLICTS = {
    "accept_workflow_proposal": _Example("proposal_decided", "This proposal has been rejected already."),
    "cancel_run": _ENDED,
    "cancel_session": _ENDED,
    "create_run": _KEY,
    "create_session": _KEY,
    "pause_session": _Example("session_ended", "This session has ended: nothing of it runs."),
    "register": _Example("email_taken", "This address has an account already. Sign in instead."),
    "reject_workflow_proposal": _Example("proposal_decided", "This proposal has been accepted already."),
    "respond_session": _Example("session_ended", "This session has ended and takes no answers."),
    "upload_dataset": _Example(
        "idempotency_key_reused",
        "This Idempotency-Key came before with another file; use a new key for a new upload.",
    ),
}
"""Operation -> its commonest conflict. Others differ too much for one example."""

_NOUNS = {"chart": "artifact", "run": "session"}
"""Parameters without their `_id` -> what is looked for, where it has another name."""
_BODY_NOUNS = {
    **dict.fromkeys(
        ("create_session", "create_run", "query_table", "summarize_table", "aggregate_table"), "dataset"
    ),
    "classify_intent": "workflow",
}
"""Operations whose body names what may be missing."""


def add_examples(document: dict[str, Any], titles: Mapping[int, str], media_type: str) -> None:
    """Add to each failure of each operation an example, where there is one that it really answers."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                content = response.get("content", {}).get(media_type)
                if content and (example := _find(path, operation, int(status))):
                    content["example"] = _fill(example, int(status), titles)


def _find(path: str, operation: Mapping[str, Any], status: int) -> _Example | None:
    match status:
        case 403:
            scopes = [scope for scheme in operation.get("security", ()) for scope in scheme.get("key", ())]
            return _missing_scope(scopes[0]) if scopes else _ADMIN if "/admin/" in path else None
        case 404:
            return _missing(path, operation["operationId"])
        case 409:
            return _CONFLICTS.get(operation["operationId"])
        case 422:
            return _invalid(operation.get("parameters", ()))
        case _:
            return _BY_STATUS.get(status)


def _missing_scope(scope: str) -> _Example:
    detail = f"This API key lacks the scope `{scope}`. Make one that has it, or sign in."
    return _Example("scope_missing", detail, {"scope": scope, "scopes": []})


def _missing(path: str, operation_id: str) -> _Example | None:
    """The first id of a path is looked for first."""
    if "{node_id}" in path:
        return _Example("trigger_not_found", f"This workflow has no webhook trigger {EXAMPLE_ID}.")
    if path.startswith("/api/v1/workflow-runs/"):
        return _Example("run_not_found", f"There is no run of a workflow with the id {EXAMPLE_ID}.")
    parameter = re.search(r"\{(\w+)_id\}", path)
    noun = parameter.group(1) if parameter else _BODY_NOUNS.get(operation_id)
    if noun is None:
        return None
    noun = _NOUNS.get(noun, noun)
    return _Example(f"{noun}_not_found", f"There is no {noun} with the id {EXAMPLE_ID}.")


def _invalid(parameters: Any) -> _Example:
    """A fault of the first id in the path, else of the body."""
    path = [field for field in parameters if field["in"] == "path"]
    is_id = bool(path) and path[0]["schema"].get("format") == "uuid"
    location = f"path.{path[0]['name']}" if is_id else "body"
    message, kind = ("Input should be a valid UUID", "uuid_parsing") if is_id else ("Field required", "missing")
    errors = [{"location": location, "message": message, "kind": kind}]
    return _Example("invalid_request", f"{location}: {message}.", {"errors": errors})


def _fill(example: _Example, status: int, titles: Mapping[int, str]) -> dict[str, Any]:
    return {
        "type": f"urn:labcrew:problem:{example.code}",
        "title": titles[status],
        "status": status,
        "code": example.code,
        "detail": example.detail,
        "request_id": _REQUEST_ID,
        **example.members,
    }
