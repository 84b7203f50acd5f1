"""Which scope of an API key each operation needs."""

from collections.abc import Sequence
from typing import Any

from app.auth.principal import Scope

CHANGES: dict[str, Scope] = {
    "datasets": Scope.DATA,
    "prices": Scope.DATA,
    "sessions": Scope.SESSIONS,
    "runs": Scope.RUNS,
    "models": Scope.PREDICT,
    "artifacts": Scope.DATA,
    "admin": Scope.ADMIN,
}
"""By tag, for operations that change or compute something; those of another tag are for an admin's key only."""

SIGNED_IN = frozenset({"create_key", "list_keys", "revoke_key", "sign_out", "delete_account"})
"""A key must not make or revoke keys, nor end its account: who finds one could otherwise stay for ever."""

_EXCEPTIONS: dict[str, Scope] = {"create_ticket": Scope.READ}


def scope_of(operation_id: str | None, method: str, tags: Sequence[str]) -> Scope | None:
    """READ for what only looks, but not at others' accounts. None: no key can do it, only who signed in."""
    if operation_id in _EXCEPTIONS:
        return _EXCEPTIONS[operation_id]
    if operation_id in SIGNED_IN:
        return None
    if method in ("GET", "HEAD") and "admin" not in tags:
        return Scope.READ
    return next((CHANGES[tag] for tag in tags if tag in CHANGES), Scope.ADMIN)


def scope_needed(scope: Any) -> Scope | None:
    """By the route that was matched for this ASGI scope."""
    route = scope.get("route")
    tags = [str(tag) for tag in getattr(route, "tags", None) or ()]
    return scope_of(getattr(route, "operation_id", None), scope.get("method", "GET"), tags)
