"""Scopes of API keys by operation."""

from collections.abc import Sequence
from typing import Any

from app.auth.principal import Scope

CHANGES: dict[str, Scope] = {
    "datasets": Scope.DATA,
    "prices": Scope.DATA,
    "sessions": Scope.SESSIONS,
    "runs": Scope.RUNS,
    "workflows": Scope.RUNS,
    "jobs": Scope.RUNS,
    "chat": Scope.CHAT,
    "models": Scope.PREDICT,
    "artifacts": Scope.DATA,
    "admin": Scope.ADMIN,
}
"""Scope by tag, for operations that change or compute something; other tags need ADMIN."""

SIGNED_IN = frozenset(
    {"create_key", "list_keys", "revoke_key", "sign_out", "end_browser_session", "delete_account"}
)
"""Not for API keys: a leaked key could otherwise create further keys, or delete the account."""

_EXCEPTIONS: dict[str, Scope] = dict.fromkeys(
    ("create_ticket", "query_table", "summarize_table", "aggregate_table", "compile_query_plan"), Scope.READ
)


def scope_of(operation_id: str | None, method: str, tags: Sequence[str]) -> Scope | None:
    """Return the scope of an operation: READ for reading, except accounts. None: no key permits it."""
    if operation_id in _EXCEPTIONS:
        return _EXCEPTIONS[operation_id]
    if operation_id in SIGNED_IN:
        return None
    if method in ("GET", "HEAD") and "admin" not in tags:
        return Scope.READ
    # A tag that nobody has thought of is closed to keys, and not open to all of them.
    return next((CHANGES[tag] for tag in tags if tag in CHANGES), Scope.ADMIN)


def scope_needed(scope: Any) -> Scope | None:
    """Return the scope that the matched route of this ASGI scope needs."""
    route = scope.get("route")
    tags = [str(tag) for tag in getattr(route, "tags", None) or ()]
    return scope_of(getattr(route, "operation_id", None), scope.get("method", "GET"), tags)
