"""Is a credential still good? Asked of Postgres at most once in a few seconds for each credential."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import DBAPIError

from app.auth.keys import key_digest, looks_like_key
from app.auth.principal import EVERY_SCOPE, Credential, CredentialReference, Principal, Role, Scope
from app.auth.quotas import Quotas
from app.auth.repository import Holder, holder_of_family, holder_of_key, use_key
from app.auth.tokens import Claims, TokenSigner
from app.auth.ttl_cache import TtlCache
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import Unauthorized
from app.tasks import cancel_and_wait


@dataclass
class _Stay:
    """Of those who wait for the end of one credential."""

    end: asyncio.Task[None]
    waiting: int = 0


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
        self._ttl_s = signer.config.standing_ttl_s
        self._callers: TtlCache[Principal] = TtlCache(monotonic)
        self._standing: TtlCache[bool] = TtlCache(monotonic)
        self._bells: dict[UUID, set[asyncio.Event]] = {}
        self._stays: dict[Hashable, _Stay] = {}

    async def authenticate(self, credential: str) -> Principal:
        """Raises Unauthorized."""
        digest = key_digest(credential)
        if known := self._callers.fresh(digest):
            return known
        generation = self._callers.generation
        if looks_like_key(credential):
            who = await self._of_key(digest)
        else:
            who = await self._of_token(self._signer.read("access", credential))
        return self._callers.keep(digest, who.user_id, who, min(self._ttl_s, self._left_s(who)), generation)

    async def confirm(self, reference: CredentialReference) -> Principal:
        """The holder of the credential as Postgres knows it now: state, role, scopes and quotas.

        Nothing remembered is used, so it sees at once what any process revoked, with or without Redis. Raises
        Unauthorized when the credential has ended, and what `is_away` recognises while Postgres is away.
        """
        holder = None if reference.expired(self._signer.now()) else await self._holder(reference)
        if holder is None:
            raise Unauthorized(
                "credential_ended",
                "The credential behind this was revoked or has expired. Sign in, or use another key.",
            )
        if reference.credential is Credential.KEY:
            return self._key_principal(holder)
        return self._token_principal(holder, reference.expires_at)

    def glance(self, credential: str) -> tuple[UUID, Quotas] | None:
        """Who it seems to be, without asking anybody: to charge, never to admit."""
        if known := self._callers.stale(key_digest(credential)):
            return known.user_id, known.quotas
        if looks_like_key(credential):
            return None
        with contextlib.suppress(Unauthorized):
            return self._signer.read("access", credential).user_id, self._signer.config.quotas
        return None

    async def stands(self, who: Principal) -> bool:
        """Whether the credential of a caller who was admitted before still works."""
        if who.expired(self._signer.now()):
            return False
        key = (who.credential, who.origin)
        known = self._standing.fresh(key)
        if known is None:
            generation = self._standing.generation
            stands = await self._holder(who.reference) is not None
            known = self._standing.keep(key, who.user_id, stands, self._ttl_s, generation)
        return known

    async def left(self, who: Principal) -> None:
        """Returns when the caller's credential has ended: expired, or revoked.

        All who wait for the same one share a task, which asks for all of them.
        """
        which = (who.credential, who.origin, who.expires_at)
        if which not in self._stays:
            self._stays[which] = _Stay(asyncio.create_task(self._ends(who)))
        stay = self._stays[which]
        stay.waiting += 1
        try:
            await asyncio.shield(stay.end)
        finally:
            stay.waiting -= 1
            if not stay.waiting:
                del self._stays[which]
                await cancel_and_wait(stay.end)

    async def _ends(self, who: Principal) -> None:
        bell = asyncio.Event()
        self._bells.setdefault(who.user_id, set()).add(bell)
        try:
            while True:
                bell.clear()  # before asking: a bell during the question means to ask again
                if not await self._seems_to_stand(who):
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(self._ttl_s, self._left_s(who))):
                        await bell.wait()
        finally:
            self._bells[who.user_id].discard(bell)
            if not self._bells[who.user_id]:
                del self._bells[who.user_id]

    async def _seems_to_stand(self, who: Principal) -> bool:
        """`stands`, and while Postgres is away what it was: nobody is sent away by an outage."""
        try:
            return await self.stands(who)
        except (DBAPIError, OSError, TimeoutError):
            return not who.expired(self._signer.now())

    def forget(self, user_id: UUID) -> None:
        """After a revocation: ask anew about everything of this user."""
        self._callers.forget(user_id)
        self._standing.forget(user_id)
        for bell in self._bells.get(user_id, ()):
            bell.set()

    def _left_s(self, who: Principal) -> float:
        if who.expires_at is None:
            return float("inf")
        return max(0.0, (who.expires_at - self._signer.now()).total_seconds())

    async def _holder(self, reference: CredentialReference) -> Holder | None:
        """One statement; None when the credential no longer works, whatever the reason."""
        async with self._open_uow() as uow:
            if reference.credential is Credential.KEY:
                return await holder_of_key(uow.db, reference.user_id, reference.origin)
            return await holder_of_family(uow.db, reference.user_id, reference.origin)

    async def _of_token(self, claims: Claims) -> Principal:
        async with self._open_uow() as uow:
            holder = await holder_of_family(uow.db, claims.user_id, claims.family)
        if holder is None:
            raise Unauthorized("token_revoked", "This access token no longer works. Sign in again.")
        return self._token_principal(holder, claims.expires_at)

    async def _of_key(self, digest: str) -> Principal:
        async with self._open_uow() as uow:
            holder = await use_key(uow.db, digest)
        if holder is None:
            raise Unauthorized("key_invalid", "This API key is unknown, revoked or expired.")
        return self._key_principal(holder)

    def _token_principal(self, holder: Holder, expires_at: datetime | None) -> Principal:
        role, quotas = Role(holder.role), self._quotas(holder)
        return Principal(holder.user_id, role, Credential.TOKEN, holder.origin, expires_at, EVERY_SCOPE, quotas)

    def _key_principal(self, holder: Holder) -> Principal:
        role, quotas = Role(holder.role), self._quotas(holder)
        scopes = frozenset(Scope(scope) for scope in holder.scopes if scope in EVERY_SCOPE)
        return Principal(holder.user_id, role, Credential.KEY, holder.origin, holder.expires_at, scopes, quotas)

    def _quotas(self, holder: Holder) -> Quotas:
        return self._signer.config.quotas.but(holder.quotas)
