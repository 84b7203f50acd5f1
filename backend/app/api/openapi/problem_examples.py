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
    416: _Example("range_not_satisfiable", "The file has 2048 bytes."),
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
_SIGN_IN = _Example("sign_in_required", "This needs an access token of /auth/token, not an API key.")
_REFUSALS = {
    "create_key": _SIGN_IN,
    "delete_account": _SIGN_IN,
    "end_browser_session": _SIGN_IN,
    "list_keys": _SIGN_IN,
    "register": _Example("registration_closed", "Only an admin creates accounts here: labcrew user add."),
    "revoke_key": _SIGN_IN,
    "sign_out": _SIGN_IN,
    "start_browser_session": _Example(
        "cross_site_request",
        "A browser's cookie counts only for requests of this service's own page, with `X-Labcrew: 1`. "
        "Programs use an access token or an API key.",
    ),
}
"""Operation without a scope -> its commonest refusal."""


def _reused_key(noun: str) -> _Example:
    return _Example(
        "idempotency_key_reused",
        f"This Idempotency-Key was used for another request. Use a new key for a new {noun}.",
    )


def _derived(noun: str, kind: str, name: str) -> _Example:
    return _Example(
        "derived_exists",
        f'This {noun} was used: {kind} "{name}". Send `derived=true` to delete all of that too, or '
        f"`derived=false` to delete the {noun} alone.",
        {
            "derived": [{"kind": kind, "id": EXAMPLE_ID, "name": name, "ended": True}],
            "derived_count": 1,
        },
    )


_ENDED = _Example("session_ended", "This session has ended: there is nothing to cancel.")
_PAUSELESS = _Example("session_ended", "This session has ended: nothing of it runs.")
_READING = _Example(
    "reading_changed",
    "The reading of 'orders' was corrected after model was trained. Train again, or predict with "
    "as_trained=true: cells are then read as they were in training.",
    {"datasets": ["orders"]},
)
_WORKFLOW_CHANGED = _Example(
    "workflow_changed",
    "This workflow was changed meanwhile: its version is 3. Read it again, then change it.",
    {"workflow": EXAMPLE_ID, "version": 3},
)
_WORLDLINE_NAME = _Example(
    "worldline_name_taken", "This thread has a worldline 'branch 2' already.", {"name": "branch 2"}
)
_CONFLICTS = {
    "accept_workflow_proposal": _Example("proposal_decided", "This proposal has been rejected already."),
    "answer_workflow_run": _Example("question_answered", "This question has been answered already."),
    "call_webhook": _reused_key("session"),
    "cancel_job": _Example("job_answered", "This job has its answer: there is nothing to cancel."),
    "cancel_run": _ENDED,
    "cancel_session": _ENDED,
    "interrupt_turn": _ENDED,
    "cancel_workflow_run": _ENDED,
    "chat": _reused_key("message"),
    "chat_stream": _reused_key("message"),
    "compare_sessions": _Example(
        "not_a_study", "“Daily sums” is a run, which has no model to compare. Name sessions."
    ),
    "correct_dataset_schema": _Example(
        "reading_changed", "The reading was corrected meanwhile; look at it again."
    ),
    "create_key": _Example("too_many_keys", "You have 50 keys. Revoke one first.", {"limit": 50}),
    "create_run": _reused_key("session"),
    "create_session": _reused_key("session"),
    "create_workflow": _Example(
        "idempotency_key_reused",
        "This Idempotency-Key was used for another workflow. Use a new key for a new workflow.",
    ),
    "create_worldline": _WORLDLINE_NAME,
    "delete_account": _Example(
        "only_admin", "You are the only admin. Make another first: labcrew user add --admin."
    ),
    "delete_artifact": _Example(
        "session_not_ended", "Its session has not ended and may need it; cancel that first."
    ),
    "delete_dataset": _derived("dataset", "session", "Predict the amount."),
    "delete_run": _derived("session", "artifact", "predictions.csv"),
    "delete_session": _derived("session", "artifact", "predictions.csv"),
    "delete_user": _Example(
        "own_account", "Delete your own account with your password: POST /auth/me/deletion."
    ),
    "delete_worldline": _Example(
        "only_worldline", "This is the only worldline of its thread: DELETE /threads/{id} deletes both."
    ),
    "disable_user": _Example("own_account", "You cannot disable your own account. Ask another admin."),
    "fork_session": _reused_key("fork"),
    "get_session_bundle": _Example(
        "session_not_ended", "The session is running. Its bundle is available after its end."
    ),
    "import_prices": _Example(
        "other_grid",
        "The stored bars of BTC at 5m begin at 00:00:00; these are 60 s off that grid. Shift their times, or "
        "delete the stored bars.",
        {"coin": "BTC"},
    ),
    "move_workflow_tag": _Example(
        "tag_moved",
        "This tag was moved meanwhile: it stands at version 3. Read it again, then move it.",
        {"tag": "production", "version": 3},
    ),
    "patch_workflow": _WORKFLOW_CHANGED,
    "pause_session": _PAUSELESS,
    "predict": _READING,
    "predict_table": _READING,
    "propose_workflow_change": _WORKFLOW_CHANGED,
    "register": _Example("email_taken", "This address has an account already. Sign in instead."),
    "reject_workflow_proposal": _Example("proposal_decided", "This proposal has been accepted already."),
    "replace_workflow": _WORKFLOW_CHANGED,
    "respond_session": _Example("session_ended", "This session has ended and takes no answers."),
    "restore_workflow": _WORKFLOW_CHANGED,
    "resume_session": _PAUSELESS,
    "retry_workflow_run": _Example("run_not_ended", "This run has not ended. Wait for it, or cancel it."),
    "run_workflow": _reused_key("session"),
    "send_job": _Example("job_id_reused", "This job_id was used for another job. Use a new one for a new job."),
    "try_workflow_proposal": _Example(
        "no_earlier_run",
        "A dry run begins with the tables of the last run, and no run of all nodes has ended yet. Run the "
        "workflow first, with `by_node`.",
    ),
    "update_dataset": _Example("note_changed", "The note was changed meanwhile; look at it again."),
    "update_worldline": _WORLDLINE_NAME,
    "continue_upload": _Example("offset_differs", "The next byte is 8,388,608, not 0.", {"offset": 8388608}),
    "finish_upload": _Example("upload_incomplete", "46,550 bytes are missing.", {"offset": 8208}),
    "upload_dataset": _Example(
        "idempotency_key_reused",
        "This Idempotency-Key came before with another file; use a new key for a new upload.",
    ),
    "verify_session_report": _Example(
        "journal_forgotten",
        "The journal of this session has expired by the retention settings: its report cannot be verified any "
        "more.",
    ),
}
"""Operation -> its commonest conflict."""

_NOUNS = {"chart": "artifact", "run": "session"}
"""Parameters without their `_id` -> what is looked for, where it has another name."""
_DATASETS = _Example(
    "dataset_not_found",
    "At least one of `dataset_ids` is not a dataset of yours. GET /datasets lists those that are.",
)
_SECRET = _Example(
    "secret_not_found",
    "There is no secret mail_key. Write it in the page under Account, or by PUT /secrets/mail_key.",
)
_JOB_DATASET = _Example("dataset_not_found", "You have no dataset orders.")
_NOT_FOUND = {
    "call_webhook": _Example("hook_not_found", "There is no webhook at this address."),
    "compile_query_plan": _Example("dataset_not_found", f"There is no dataset {EXAMPLE_ID}."),
    "create_run": _DATASETS,
    "create_session": _DATASETS,
    "delete_prices": _Example("no_prices", "There are no bars of BTC to delete.", {"coin": "BTC"}),
    "delete_secret": _SECRET,
    "get_graph": _Example(
        "graph_not_found", "There is no graph train. There are: pipeline, chat, run, job, workflow."
    ),
    "get_secret": _SECRET,
    "send_job": _JOB_DATASET,
    "try_chat": _JOB_DATASET,
}
"""Operation -> what it looks for first and does not find, where that has no id in the path."""
_BODY_NOUNS = {
    "aggregate_table": "dataset",
    "chat": "thread",
    "chat_stream": "thread",
    "classify_intent": "workflow",
    "compare_sessions": "session",
    "create_worldline": "thread",
    "generate_diff": "worldline",
    "list_worldlines": "thread",
    "query_table": "dataset",
    "run_python_tool": "worldline",
    "run_sql_tool": "worldline",
    "export_table": "dataset",
    "summarize_table": "dataset",
}
"""Operations whose body or query holds the id of what may be missing."""


def add_examples(document: dict[str, Any], titles: Mapping[int, str], media_type: str) -> None:
    """Add to each failure of each operation an example that it really answers."""
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
            return _missing_scope(scopes[0]) if scopes else _REFUSALS.get(operation["operationId"], _ADMIN)
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
    """Make the example of what is not there. The first id of a path is looked for first."""
    if operation_id in _NOT_FOUND:
        return _NOT_FOUND[operation_id]
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
