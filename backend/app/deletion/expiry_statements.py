"""Kinds of rows with a retention period: statements that count due rows and delete a batch of them.

`$1`: age in seconds. `$2` of a batch: maximum number of rows. Each batch is a short transaction of its own and
safe in many processes at once (`SKIP LOCKED`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from app.deletion.retention_periods import RetentionPeriods

RETENTION = "retention"
"""Who asked for the deletion of what is past its period, in `deletions` and in the audit."""
_MAX_ROWS = 1_000
"""Rows of one batch, so few that its transaction and its locks stay short."""
_MAX_SESSIONS = 10
"""Sessions of one batch: each is deleted with all rows of its journal and its events."""
_MAX_THREADS = 10
"""Conversations of one batch, each of which is then deleted as its owner would delete it."""
_MAX_SESSION_PARTS = 20
"""Sessions of one batch that lose their journal or their events, about half of a session's rows."""


@dataclass(frozen=True)
class ExpiryKind:
    """`count` counts the due rows, `batch` deletes at most `max_batch` of them and returns their number."""

    name: str
    keep_days: Callable[[RetentionPeriods], float]
    count: str
    batch: str
    max_batch: int


def _row_kind(
    name: str, keep_days: Callable[[RetentionPeriods], float], table: str, key: str, due: str
) -> ExpiryKind:
    """Rows of a table that no other table refers to."""
    return ExpiryKind(
        name,
        keep_days,
        f"SELECT count(*) AS due FROM {table} WHERE {due}",  # noqa: S608 - constants
        # Through a subquery: Postgres knows no LIMIT of a DELETE.
        f"WITH gone AS (DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE {due} "  # noqa: S608
        "LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) SELECT count(*) AS gone FROM gone",
        _MAX_ROWS,
    )


def _session_kind(name: str, keep_days: Callable[[RetentionPeriods], float], condition: str) -> ExpiryKind:
    due = f"{condition} AND ended_at < {_AGO}"
    return ExpiryKind(
        name,
        keep_days,
        f"SELECT count(*) AS due FROM sessions WHERE {due}",  # noqa: S608
        "SELECT count(*) AS gone FROM delete_sessions(ARRAY("  # noqa: S608
        f"SELECT id FROM sessions WHERE {due} ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        _MAX_SESSIONS,
    )


def _session_part_kind(name: str, keep_days: Callable[[RetentionPeriods], float], part: str) -> ExpiryKind:
    due = f"ended_at < {_AGO} AND NOT '{part}' = ANY(forgotten)"
    return ExpiryKind(
        name,
        keep_days,
        f"SELECT count(*) AS due FROM sessions WHERE {due}",  # noqa: S608
        f"WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE {due} "  # noqa: S608
        "ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED) "
        f"SELECT count(*) AS gone FROM due, LATERAL forget_part(due.id, '{part}')",
        _MAX_SESSION_PARTS,
    )


def _idempotency_key_kind(name: str, table: str) -> ExpiryKind:
    due = f"idempotency_key IS NOT NULL AND created_at < {_AGO}"
    return ExpiryKind(
        name,
        lambda periods: periods.idempotency_days,
        f"SELECT count(*) AS due FROM {table} WHERE {due}",  # noqa: S608
        f"WITH gone AS (UPDATE {table} SET idempotency_key = NULL WHERE id IN (SELECT id FROM {table} "  # noqa: S608
        f"WHERE {due} LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) SELECT count(*) AS gone FROM gone",
        _MAX_ROWS,
    )


# A turn that goes on keeps its conversation. No index: rows of threads are small, and read once an hour.
_THREADS_DUE = """
FROM threads t WHERE t.deleted_at IS NULL AND t.updated_at < now() - make_interval(secs => $1)
  AND NOT EXISTS (SELECT FROM turns u JOIN sessions s ON s.id = u.session_id
    WHERE u.thread_id = t.id AND (s.ended_at IS NULL OR s.ended_at > now() - make_interval(secs => $1)))
"""
# Hidden with the record by which workers complete the deletion, as at the request of its owner.
_EXPIRE_THREADS = f"""
WITH due AS MATERIALIZED (
  SELECT t.id, t.owner_id {_THREADS_DUE} ORDER BY t.updated_at LIMIT $2 FOR UPDATE OF t SKIP LOCKED
), hidden AS (
  UPDATE threads SET deleted_at = now() WHERE id IN (SELECT id FROM due) RETURNING id
), requested AS (
  INSERT INTO deletions (id, kind, target_id, owner_id, asked_by)
  SELECT gen_random_uuid(), 'thread', id, owner_id, '{RETENTION}' FROM due
  ON CONFLICT (kind, target_id) WHERE done_at IS NULL DO NOTHING
)
SELECT count(*) AS gone FROM hidden
"""  # noqa: S608 - constants

_AGO = "now() - make_interval(secs => $1)"
# The audit of a session is kept for as long as the session, whatever its age.
_AUDIT_DUE = (
    f"FROM audit a WHERE at < {_AGO} "
    "AND (session_id IS NULL OR NOT EXISTS (SELECT FROM sessions WHERE id = a.session_id))"
)

KINDS: tuple[ExpiryKind, ...] = (
    _session_kind("sessions", lambda periods: periods.sessions_days, "class = 'study'"),
    ExpiryKind(
        "threads",
        lambda periods: periods.threads_days,
        f"SELECT count(*) AS due {_THREADS_DUE}",
        _EXPIRE_THREADS,
        _MAX_THREADS,
    ),
    _session_kind("runs", lambda periods: periods.runs_days, "class = 'run'"),
    _session_kind("job_sessions", lambda periods: periods.runs_days, "class = 'job'"),
    _row_kind("jobs", lambda periods: periods.runs_days, "agent_jobs", "id", f"answered_at < {_AGO}"),
    _session_part_kind("journals", lambda periods: periods.journals_days, "journal"),
    _session_part_kind("events", lambda periods: periods.events_days, "events"),
    ExpiryKind(
        "audit",
        lambda periods: periods.audit_days,
        f"SELECT count(*) AS due {_AUDIT_DUE}",
        f"SELECT forget_audit({_AGO}, $2) AS gone",
        _MAX_ROWS,
    ),
    _row_kind("tokens", lambda periods: periods.tokens_days, "refresh_tokens", "id", f"expires_at < {_AGO}"),
    _row_kind(
        "keys", lambda periods: periods.keys_days, "api_keys", "id", f"least(revoked_at, expires_at) < {_AGO}"
    ),
    _idempotency_key_kind("session_keys", "sessions"),
    _idempotency_key_kind("upload_keys", "datasets"),
    _row_kind("deletions", lambda periods: periods.deletions_days, "deletions", "id", f"done_at < {_AGO}"),
    _row_kind("workers", lambda periods: periods.deletions_days, "workers", "id", f"seen_at < {_AGO}"),
)
