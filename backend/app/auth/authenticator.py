"""Is a credential still good? Asked of Postgres at most once in a few seconds for each credential."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import DBAPIError

from app.auth.keys import is_key, key_digest
from app.auth.principal import ALL_SCOPES, Credential, CredentialReference, Principal, Scope, UserRole
from app.auth.quotas import Quotas
from app.auth.repository import CredentialHolder, find_family_holder, find_key_holder, use_key
from app.auth.tokens import Claims, TokenSigner
from app.auth.ttl_cache import TtlCache
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import Unauthorized
from app.tasks import cancel_and_wait


@dataclass
class _EndWait:
    """Of those who wait for the end of one credential."""

    task: asyncio.Task[None]
    waiters: int = 0


class Authenticator:
    """Turns a bearer token or an API key into a Principal.

    An accepted credential is remembered by its digest for `standing_ttl_s`, never past its end: so long can a
    process go on accepting one that was revoked elsewhere, if it is not told. What it is told of (`forget`) it
    sees at once.
    """

    def __init__(
        self,
        signer: TokenSigner,
        open_uow: OpenUnitOfWork,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._signer = signer
        self._open_uow = open_uow
        self._ttl_s = signer.config.validity_ttl_s
        self._principals: TtlCache[Principal] = TtlCache(monotonic)
        self._validity: TtlCache[bool] = TtlCache(monotonic)
        self._wakeups: dict[UUID, set[asyncio.Event]] = {}
        self._end_waits: dict[Hashable, _EndWait] = {}

    async def authenticate(self, credential: str) -> Principal:
        """Raises Unauthorized."""
        digest = key_digest(credential)
        if known := self._principals.get(digest):
            return known
        generation = self._principals.generation
        if is_key(credential):
            who = await self._authenticate_key(digest)
        else:
            who = await self._authenticate_token(self._signer.verify("access", credential))
        return self._principals.store(
            digest, who.user_id, who, min(self._ttl_s, self._remaining_s(who)), generation
        )

    async def confirm(self, reference: CredentialReference) -> Principal:
        """The holder of the credential as Postgres knows it now: state, role, scopes and quotas.

        Nothing remembered is used, so it sees at once what any process revoked, with or without Redis. Raises
        Unauthorized when the credential has ended, and what `is_away` recognises while Postgres is away.
        """
        holder = None if reference.is_expired(self._signer.now()) else await self._find_holder(reference)
        if holder is None:
            raise Unauthorized(
                "credential_ended",
                "The credential behind this was revoked or has expired. Sign in, or use another key.",
            )
        if reference.credential is Credential.KEY:
            return self._key_principal(holder)
        return self._token_principal(holder, reference.expires_at)

    def peek(self, credential: str) -> tuple[UUID, Quotas] | None:
        """Who it seems to be, without asking anybody: to charge, never to admit."""
        if known := self._principals.get_stale(key_digest(credential)):
            return known.user_id, known.quotas
        if is_key(credential):
            return None
        with contextlib.suppress(Unauthorized):
            return self._signer.verify("access", credential).user_id, self._signer.config.quotas
        return None

    async def is_valid(self, who: Principal) -> bool:
        """Whether the credential of a caller who was admitted before still works."""
        if who.is_expired(self._signer.now()):
            return False
        key = (who.credential, who.origin)
        known = self._validity.get(key)
        if known is None:
            generation = self._validity.generation
            stands = await self._find_holder(who.reference) is not None
            known = self._validity.store(key, who.user_id, stands, self._ttl_s, generation)
        return known

    async def wait_until_ended(self, who: Principal) -> None:
        """Returns when the caller's credential has ended: expired, or revoked.

        All who wait for the same one share a task, which asks for all of them.
        """
        which = (who.credential, who.origin, who.expires_at)
        if which not in self._end_waits:
            self._end_waits[which] = _EndWait(asyncio.create_task(self._poll_until_ended(who)))
        stay = self._end_waits[which]
        stay.waiters += 1
        try:
            await asyncio.shield(stay.task)
        finally:
            stay.waiters -= 1
            if not stay.waiters:
                del self._end_waits[which]
                await cancel_and_wait(stay.task)

    async def _poll_until_ended(self, who: Principal) -> None:
        bell = asyncio.Event()
        self._wakeups.setdefault(who.user_id, set()).add(bell)
        try:
            while True:
                bell.clear()  # before asking: a bell during the question means to ask again
                if not await self._is_valid_or_unknown(who):
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(self._ttl_s, self._remaining_s(who))):
                        await bell.wait()
        finally:
            self._wakeups[who.user_id].discard(bell)
            if not self._wakeups[who.user_id]:
                del self._wakeups[who.user_id]

    async def _is_valid_or_unknown(self, who: Principal) -> bool:
        """`stands`, and while Postgres is away what it was: nobody is sent away by an outage."""
        try:
            return await self.is_valid(who)
        except (DBAPIError, OSError, TimeoutError):
            return not who.is_expired(self._signer.now())

    def invalidate_user(self, user_id: UUID) -> None:
        """After a revocation: ask anew about everything of this user."""
        self._principals.invalidate_user(user_id)
        self._validity.invalidate_user(user_id)
        for bell in self._wakeups.get(user_id, ()):
            bell.set()

    def _remaining_s(self, who: Principal) -> float:
        if who.expires_at is None:
            return float("inf")
        return max(0.0, (who.expires_at - self._signer.now()).total_seconds())

    async def _find_holder(self, reference: CredentialReference) -> CredentialHolder | None:
        """One statement; None when the credential no longer works, whatever the reason."""
        async with self._open_uow() as uow:
            if reference.credential is Credential.KEY:
                return await find_key_holder(uow.db, reference.user_id, reference.origin)
            return await find_family_holder(uow.db, reference.user_id, reference.origin)

    async def _authenticate_token(self, claims: Claims) -> Principal:
        async with self._open_uow() as uow:
            holder = await find_family_holder(uow.db, claims.user_id, claims.family)
        if holder is None:
            raise Unauthorized("token_revoked", "This access token no longer works. Sign in again.")
        return self._token_principal(holder, claims.expires_at)

    async def _authenticate_key(self, digest: str) -> Principal:
        async with self._open_uow() as uow:
            holder = await use_key(uow.db, digest)
        if holder is None:
            raise Unauthorized("key_invalid", "This API key is unknown, revoked or expired.")
        return self._key_principal(holder)

    def _token_principal(self, holder: CredentialHolder, expires_at: datetime | None) -> Principal:
        role, quotas = UserRole(holder.role), self._quotas(holder)
        return Principal(holder.user_id, role, Credential.TOKEN, holder.origin, expires_at, ALL_SCOPES, quotas)

    def _key_principal(self, holder: CredentialHolder) -> Principal:
        role, quotas = UserRole(holder.role), self._quotas(holder)
        scopes = frozenset(Scope(scope) for scope in holder.scopes if scope in ALL_SCOPES)
        return Principal(holder.user_id, role, Credential.KEY, holder.origin, holder.expires_at, scopes, quotas)

    def _quotas(self, holder: CredentialHolder) -> Quotas:
        return self._signer.config.quotas.with_overrides(holder.quotas)
