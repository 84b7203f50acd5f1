"""Deletion of an account with everything that it owns.

From the moment that it is asked for, nobody can sign in, and the account has no address and no password.
What it owns goes in batches, by whichever worker is alive.
"""

import json
from dataclasses import dataclass
from uuid import UUID

from redis.asyncio import Redis

from app.auth.passwords import Passwords
from app.db.pool import Database, Record
from app.errors import Conflict, NotFound, Unauthorized
from app.jobs import REDIS_AWAY
from app.observability.metrics.retention import DELETIONS_DONE
from app.retention.deletions import Deletions
from app.retention.schemas import DeletionView

_LEASE_S = 10

_ASK = """
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
), asked as (
  insert into deletions (id, kind, target_id, owner_id, asked_by)
  select gen_random_uuid(), 'user', id, id, $2 from account
  on conflict (kind, target_id) where done_at is null do nothing
  returning 1
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $1, $2, 'user_deletion_asked', jsonb_strip_nulls(jsonb_build_object('by', $3::uuid))
  from asked
)
select id from account
"""
_OPEN = "select * from deletions where kind = 'user' and target_id = $1 and done_at is null"
_PAGE = "select * from deletions order by asked_at desc, id limit $1 offset $2"
_ALL = "select count(*) as n from deletions"
_ACCOUNT = """
select password_hash, role, exists (
  select from users where role = 'admin' and disabled_at is null and id <> $1) as other_admins
from users where id = $1
"""

_CANCEL = """
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
"""What goes, in order, the most of it in one transaction, and how. $1 owner, $2 most."""

_COUNTED = """
with batch as ({batch}), counted as (select count(*) as n from batch)
update deletions set lease_until = now() + interval '1 second' * {lease_s},
  gone = gone || jsonb_build_object($3::text, coalesce((gone ->> $3)::bigint, 0) + n)
from counted where id = $4
returning n
"""

_END = """
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


@dataclass(frozen=True)
class AccountDeletions:
    db: Database
    redis: Redis
    sessions: Deletions

    async def by_owner(self, user_id: UUID, passwords: Passwords, password: str) -> DeletionView:
        """Raises Unauthorized for a wrong password, Conflict for the only admin."""
        account = await self._account(user_id)
        if not await passwords.matches(password, account["password_hash"]):
            raise Unauthorized("password_wrong", "The password is wrong: nothing was deleted.")
        if account["role"] == "admin" and not account["other_admins"]:
            raise Conflict(
                "only_admin", "You are the only admin. Make another first: labcrew user add --admin."
            )
        return await self.ask(user_id, "user")

    async def ask(self, user_id: UUID, asked_by: str, admin: UUID | None = None) -> DeletionView:
        """From now on nobody can sign in; the rest is done by workers. Asking again is asking once.

        Raises NotFound, and Conflict when admins delete themselves without their password.
        """
        if admin == user_id:
            raise Conflict("own_account", "Delete your own account with your password: POST /auth/me/deletion.")
        noted = await note_account(self.db, user_id, asked_by, admin)
        await self._cancel(user_id)
        return noted

    async def carry_on(self, deletion_id: UUID, user_id: UUID) -> bool:
        """Delete what can go now; True when all is gone. False: a session must end first."""
        await self._cancel(user_id)
        for name, most, batch in _STAGES:
            counted = _COUNTED.format(batch=batch, lease_s=_LEASE_S)
            while (row := await self.db.row(counted, user_id, most, name, deletion_id)) and row["n"]:
                pass
        if await self.db.row(_END, user_id, deletion_id) is None:
            return False
        DELETIONS_DONE.labels("user").inc()
        await self._forget(user_id)
        return True

    async def page(self, limit: int, offset: int) -> tuple[list[DeletionView], int]:
        """Of all users, sessions too; the newest first, and how many there are."""
        rows = await self.db.rows(_PAGE, limit, offset)
        total = await self.db.row(_ALL)
        return [view(row) for row in rows], int(total["n"]) if total else 0

    async def _account(self, user_id: UUID) -> Record:
        account = await self.db.row(_ACCOUNT, user_id)
        if account is None:
            raise NotFound("user_not_found", f"There is no user with the id {user_id}.")
        return account

    async def _cancel(self, user_id: UUID) -> None:
        while rows := await self.db.rows(_CANCEL, user_id, 100):
            self.sessions.stop([row["id"] for row in rows])

    async def _forget(self, user_id: UUID) -> None:
        """Meters and places of the user's; they name nobody but an id, and would expire by themselves."""
        try:
            async for key in self.redis.scan_iter(match=f"*{user_id}*", count=1000):
                await self.redis.delete(key)
        except REDIS_AWAY:
            return


async def note_account(db: Database, user_id: UUID, asked_by: str, admin: UUID | None = None) -> DeletionView:
    """Take the account's access, address and password away, and note that it is to go. Raises NotFound."""
    await db.row(_ASK, user_id, asked_by, admin)
    row = await db.row(_OPEN, user_id)
    if row is None:
        raise NotFound("user_not_found", f"There is no user with the id {user_id}.")
    return view(row)


def view(row: Record) -> DeletionView:
    return DeletionView.model_validate({**row, "gone": json.loads(row["gone"])})
