"""Deletion of an account with everything that it owns.

From the request on, signing in fails, and the account has no address and no password. Workers delete its rows
in batches.
"""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from redis.asyncio import Redis

from app.auth.passwords import Passwords
from app.db.pool import Database
from app.deletion.deletions import Deletions
from app.deletion.schemas import DeletionView
from app.errors import Conflict, NotFound, Unauthorized
from app.jobs import REDIS_AWAY
from app.observability.metrics.deletion import DELETIONS_DONE

_LEASE_S = 10
"""Lease of a deletion, renewed by each batch; after a crash another worker resumes it so soon."""
_MAX_CANCELLED = 100
"""Sessions cancelled by one statement, so that it locks few rows."""

# The row stays until the last batch, since all others refer to it; what tells whose it is goes at once.
_REQUEST = """
with account as (
  update users set email = 'deleted-' || id || '@deleted.invalid', password_hash = '', role = 'user',
    quotas = '{}', disabled_at = coalesce(disabled_at, now())
  where id = $1
  returning id
), tokens as (
  update refresh_tokens set revoked_at = now()
  where user_id in (select id from account) and revoked_at is null
), keys as (
  delete from api_keys where user_id in (select id from account)
), requested as (
  insert into deletions (id, kind, target_id, owner_id, asked_by)
  select gen_random_uuid(), 'user', id, id, $2 from account
  on conflict (kind, target_id) where done_at is null do nothing
  returning 1
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $1, $2, 'user_deletion_asked', jsonb_strip_nulls(jsonb_build_object('by', $3::uuid))
  from requested
)
select id from account
"""
_FIND_OPEN = "select * from deletions where kind = 'user' and target_id = $1 and done_at is null"
_PAGE = "select * from deletions order by asked_at desc, id limit $1 offset $2"
_COUNT_ALL = "select count(*) from deletions"
_READ_ACCOUNT = """
select password_hash, role, exists (
  select from users where role = 'admin' and disabled_at is null and id <> $1) as other_admins
from users where id = $1
"""

_CANCEL_SESSIONS = """
select cancel_sessions(array(
  select id from sessions where owner_id = $1 and ended_at is null and not cancel limit $2
  for update skip locked)) as id
"""

_STAGES: tuple[tuple[str, int, str], ...] = (
    (
        "sessions",
        10,
        "select 1 from delete_sessions(array("
        "select id from sessions where owner_id = $1 and ended_at is not null limit $2))",
    ),
    (
        "artifacts",
        500,
        "delete from artifacts where id in ("
        "select id from artifacts where owner_id = $1 and session_id is null limit $2) returning 1",
    ),
    (
        "datasets",
        100,
        "delete from datasets where id in (select id from datasets where owner_id = $1 limit $2) returning 1",
    ),
    (
        "price_bars",
        20_000,
        "delete from price_bars where ctid = any(array(select ctid from price_bars where series_id in ("
        "select id from price_series where owner_id = $1) limit $2)) returning 1",
    ),
    (
        "price_series",
        10,
        "delete from price_series where id in ("
        "select id from price_series where owner_id = $1 limit $2) returning 1",
    ),
)
"""Kinds of rows in order of deletion, the maximum number in one transaction, and the statement.

$1 owner, $2 maximum: the larger the rows and what is deleted with them, the fewer."""

# One statement: whatever is killed, the counts are right, and each batch renews the lease.
_DELETE_AND_COUNT = """
with batch as ({batch}), counted as (select count(*) as n from batch)
update deletions set lease_until = now() + interval '1 second' * {lease_s},
  gone = gone || jsonb_build_object($3::text, coalesce((gone ->> $3)::bigint, 0) + n)
from counted where id = $4
returning n
"""

# Only without sessions: one that still ends writes rows of its owner.
_COMPLETE = """
with account as (
  delete from users where id = $1 and not exists (select from sessions where owner_id = $1) returning id
), done as (
  update deletions set done_at = now(), lease_until = null
  where id = $2 and done_at is null and (
    exists (select from account) or not exists (select from users where id = $1))
  returning asked_by, gone
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $1, asked_by, 'user_deleted', jsonb_build_object('gone', gone) from done
)
select gone from done
"""


class AccountRecord(NamedTuple):
    """A row of `_READ_ACCOUNT`. `other_admins`: another enabled admin exists."""

    password_hash: str
    role: str
    other_admins: bool


@dataclass(frozen=True)
class AccountDeletions:
    """Request and complete deletions of accounts."""

    db: Database
    redis: Redis
    sessions: Deletions

    async def request_by_owner(self, user_id: UUID, passwords: Passwords, password: str) -> DeletionView:
        """Request a deletion. Raises Unauthorized for a wrong password, Conflict for the only admin."""
        account = await self._read_account(user_id)
        if not await passwords.matches(password, account.password_hash):
            raise Unauthorized("password_wrong", "The password is wrong: nothing was deleted.")
        if account.role == "admin" and not account.other_admins:
            raise Conflict(
                "only_admin", "You are the only admin. Make another first: labcrew user add --admin."
            )
        return await self.request(user_id, "user")

    async def request(self, user_id: UUID, requested_by: str, admin: UUID | None = None) -> DeletionView:
        """Request a deletion, which workers complete; signing in fails from now on. Safe to repeat.

        Raises NotFound, and Conflict when admins delete themselves without their password.
        """
        if admin == user_id:
            raise Conflict("own_account", "Delete your own account with your password: POST /auth/me/deletion.")
        # The record first: from here on workers finish the deletion, whatever happens to this process.
        deletion = await request_account_deletion(self.db, user_id, requested_by, admin)
        await self._cancel_sessions(user_id)
        return deletion

    async def resume(self, deletion_id: UUID, user_id: UUID) -> bool:
        """Delete what can be deleted now; False when a session must end first."""
        # Again: a session may have begun while the account was being closed.
        await self._cancel_sessions(user_id)
        for kind, max_rows, batch in _STAGES:
            statement = _DELETE_AND_COUNT.format(batch=batch, lease_s=_LEASE_S)
            while await self.db.value(statement, user_id, max_rows, kind, deletion_id):
                pass
        if await self.db.row(_COMPLETE, user_id, deletion_id) is None:
            return False
        DELETIONS_DONE.labels("user").inc()
        await self._delete_redis_keys(user_id)
        return True

    async def page(self, limit: int, offset: int) -> tuple[list[DeletionView], int]:
        """Return deletions of all users, newest first, and their number."""
        rows = await self.db.rows(_PAGE, limit, offset)
        return [_make_view(**row) for row in rows], int(await self.db.value(_COUNT_ALL))

    async def _read_account(self, user_id: UUID) -> AccountRecord:
        row = await self.db.row(_READ_ACCOUNT, user_id)
        if row is None:
            raise NotFound("user_not_found", f"There is no user with the id {user_id}.")
        return AccountRecord(**row)

    async def _cancel_sessions(self, user_id: UUID) -> None:
        while cancelled := await self.db.column(_CANCEL_SESSIONS, user_id, _MAX_CANCELLED):
            self.sessions.notify_cancelled(cancelled)

    async def _delete_redis_keys(self, user_id: UUID) -> None:
        """Delete the user's rate meters and stream leases; without Redis they expire by themselves."""
        try:
            # By pattern: keys hold rates, of which a user may have had several.
            async for key in self.redis.scan_iter(match=f"*{user_id}*", count=1000):
                await self.redis.delete(key)
        except REDIS_AWAY:
            return


async def request_account_deletion(
    db: Database, user_id: UUID, requested_by: str, admin: UUID | None = None
) -> DeletionView:
    """Remove an account's access, address and password, and record the deletion. Raises NotFound."""
    await db.row(_REQUEST, user_id, requested_by, admin)
    row = await db.row(_FIND_OPEN, user_id)
    if row is None:
        raise NotFound("user_not_found", f"There is no user with the id {user_id}.")
    return _make_view(**row)


def _make_view(gone: str, **columns: Any) -> DeletionView:
    """Make the response from a row of `deletions`, whose counts are JSON text."""
    return DeletionView.model_validate({**columns, "gone": json.loads(gone)})
