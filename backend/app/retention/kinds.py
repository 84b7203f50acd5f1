"""What goes in time: of each kind, how many are due and the statement that lets some of them go.

`$1` is the age in seconds; in a batch `$2` is the most that may go. Every batch is a transaction of its own,
short, and safe in many processes at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from app.retention.config import Retention


@dataclass(frozen=True)
class Kind:
    """`count` gives `due`; `batch` gives `gone`. `most`: of one batch. `keep_days`: 0 is for ever."""

    name: str
    keep_days: Callable[[Retention], float]
    count: str
    batch: str
    most: int


def _rows(name: str, keep_days: Callable[[Retention], float], table: str, key: str, due: str) -> Kind:
    """Rows of a table that nothing else hangs on."""
    return Kind(
        name,
        keep_days,
        f"SELECT count(*) AS due FROM {table} WHERE {due}",  # noqa: S608 - names of ours
        f"WITH gone AS (DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE {due} "  # noqa: S608
        "LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) SELECT count(*) AS gone FROM gone",
        1000,
    )


def _sessions(name: str, keep_days: Callable[[Retention], float], which: str) -> Kind:
    due = f"{which} AND ended_at < {_AGO}"
    return Kind(
        name,
        keep_days,
        f"SELECT count(*) AS due FROM sessions WHERE {due}",  # noqa: S608
        "SELECT count(*) AS gone FROM delete_sessions(ARRAY("  # noqa: S608
        f"SELECT id FROM sessions WHERE {due} ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        10,
    )


def _part(name: str, keep_days: Callable[[Retention], float], part: str) -> Kind:
    due = f"ended_at < {_AGO} AND NOT '{part}' = ANY(forgotten)"
    return Kind(
        name,
        keep_days,
        f"SELECT count(*) AS due FROM sessions WHERE {due}",  # noqa: S608
        f"WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE {due} "  # noqa: S608
        "ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED) "
        f"SELECT count(*) AS gone FROM due, LATERAL forget_part(due.id, '{part}')",
        20,
    )


def _used_keys(name: str, table: str) -> Kind:
    due = f"idempotency_key IS NOT NULL AND created_at < {_AGO}"
    return Kind(
        name,
        lambda keep: keep.idempotency_days,
        f"SELECT count(*) AS due FROM {table} WHERE {due}",  # noqa: S608
        f"WITH gone AS (UPDATE {table} SET idempotency_key = NULL WHERE id IN (SELECT id FROM {table} "  # noqa: S608
        f"WHERE {due} LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) SELECT count(*) AS gone FROM gone",
        1000,
    )


_AGO = "now() - make_interval(secs => $1)"
_AUDIT_DUE = (
    f"FROM audit a WHERE at < {_AGO} "
    "AND (session_id IS NULL OR NOT EXISTS (SELECT FROM sessions WHERE id = a.session_id))"
)

KINDS: tuple[Kind, ...] = (
    _sessions("sessions", lambda keep: keep.sessions_days, "graph <> 'run'"),
    _sessions("runs", lambda keep: keep.runs_days, "graph = 'run'"),
    _part("journals", lambda keep: keep.journals_days, "journal"),
    _part("events", lambda keep: keep.events_days, "events"),
    Kind(
        "audit",
        lambda keep: keep.audit_days,
        f"SELECT count(*) AS due {_AUDIT_DUE}",
        f"SELECT forget_audit({_AGO}, $2) AS gone",
        1000,
    ),
    _rows("tokens", lambda keep: keep.tokens_days, "refresh_tokens", "id", f"expires_at < {_AGO}"),
    _rows("keys", lambda keep: keep.keys_days, "api_keys", "id", f"least(revoked_at, expires_at) < {_AGO}"),
    _used_keys("session_keys", "sessions"),
    _used_keys("upload_keys", "datasets"),
    _rows("deletions", lambda keep: keep.deletions_days, "deletions", "id", f"done_at < {_AGO}"),
    _rows("workers", lambda keep: keep.deletions_days, "workers", "id", f"seen_at < {_AGO}"),
)
