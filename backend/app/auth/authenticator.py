"""Checks of credentials, which query Postgres at most once in a few seconds for each credential."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import DBAPIError

from app.auth.api_keys import is_key, key_digest
from app.auth.browser_sessions import is_browser_secret, use_browser_session
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
    """The task that ends with a credential, and the number of callers that await it."""

    task: asyncio.Task[None]
    waiters: int = 0


class Authenticator:
    """Turns a bearer token, an API key or the secret of a browser's cookie into a Principal.

    An accepted credential is cached by its digest for `validity_ttl_s`, never past its expiry: for so long a
    process may accept one that was revoked elsewhere, if no announcement arrives. `invalidate_user` ends
    that at once.
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
        """Authenticate a request. Raises Unauthorized."""
        digest = key_digest(credential)
        if cached := self._principals.get(digest):
            return cached
        generation = self._principals.generation
        if is_key(credential):
            principal = await self._authenticate_key(digest)
        elif is_browser_secret(credential):
            principal = await self._authenticate_browser(credential)
        else:
            principal = await self._authenticate_token(self._signer.verify("access", credential))
        return self._principals.store(
            digest, principal.user_id, principal, min(self._ttl_s, self._remaining_s(principal)), generation
        )

    async def confirm(self, reference: CredentialReference) -> Principal:
        """Read the credential's holder from Postgres: state, role, scopes and quotas.

        No cache is used, so revocations by any process count at once, with or without Redis. Raises
        Unauthorized when the credential has ended, and connection errors (`is_away`) while Postgres is away.
        """
        holder = None if reference.is_expired(self._signer.now()) else await self._find_holder(reference)
        if holder is None:
            raise Unauthorized(
                "credential_ended",
                "The credential behind this was revoked or has expired. Sign in, or use another key.",
            )
        if reference.credential is Credential.KEY:
            return self._key_principal(holder)
        return self._principal(holder, reference.credential, reference.expires_at)

    def peek(self, credential: str) -> tuple[UUID, Quotas] | None:
        """Guess a credential's user and quotas without a query: for rate limits, never for access."""
        if cached := self._principals.get_stale(key_digest(credential)):
            return cached.user_id, cached.quotas
        # Only Postgres knows whose these are.
        if is_key(credential) or is_browser_secret(credential):
            return None
        with contextlib.suppress(Unauthorized):
            return self._signer.verify("access", credential).user_id, self._signer.config.quotas
        return None

    async def is_valid(self, principal: Principal) -> bool:
        """Check whether the credential of an admitted caller still works."""
        if principal.is_expired(self._signer.now()):
            return False
        key = (principal.credential, principal.origin)
        cached = self._validity.get(key)
        if cached is None:
            generation = self._validity.generation
            is_valid = await self._find_holder(principal.reference) is not None
            cached = self._validity.store(key, principal.user_id, is_valid, self._ttl_s, generation)
        return cached

    async def wait_until_ended(self, principal: Principal) -> None:
        """Return when the credential has expired or was revoked.

        All callers with the same credential share one polling task.
        """
        credential_key = (principal.credential, principal.origin, principal.expires_at)
        if credential_key not in self._end_waits:
            self._end_waits[credential_key] = _EndWait(asyncio.create_task(self._poll_until_ended(principal)))
        end_wait = self._end_waits[credential_key]
        end_wait.waiters += 1
        try:
            # Shielded: one caller that leaves must not end the task of the others.
            await asyncio.shield(end_wait.task)
        finally:
            end_wait.waiters -= 1
            if not end_wait.waiters:
                del self._end_waits[credential_key]
                await cancel_and_wait(end_wait.task)

    async def _poll_until_ended(self, principal: Principal) -> None:
        wakeup = asyncio.Event()
        self._wakeups.setdefault(principal.user_id, set()).add(wakeup)
        try:
            while True:
                wakeup.clear()  # before the query: a wakeup during it means that its answer may be outdated
                if not await self._is_valid_or_unknown(principal):
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(self._ttl_s, self._remaining_s(principal))):
                        await wakeup.wait()
        finally:
            self._wakeups[principal.user_id].discard(wakeup)
            if not self._wakeups[principal.user_id]:
                del self._wakeups[principal.user_id]

    async def _is_valid_or_unknown(self, principal: Principal) -> bool:
        """Check `is_valid`; while Postgres is away only the expiry, so that an outage closes no stream."""
        try:
            return await self.is_valid(principal)
        except (DBAPIError, OSError, TimeoutError):
            return not principal.is_expired(self._signer.now())

    def invalidate_user(self, user_id: UUID) -> None:
        """Query again about all credentials of a user, after a revocation."""
        self._principals.invalidate_user(user_id)
        self._validity.invalidate_user(user_id)
        for wakeup in self._wakeups.get(user_id, ()):
            wakeup.set()

    def _remaining_s(self, principal: Principal) -> float:
        if principal.expires_at is None:
            return float("inf")
        return max(0.0, (principal.expires_at - self._signer.now()).total_seconds())

    async def _find_holder(self, reference: CredentialReference) -> CredentialHolder | None:
        """Find the holder in one statement; None when the credential no longer works."""
        async with self._open_uow() as uow:
            if reference.credential is Credential.KEY:
                return await find_key_holder(uow.db, reference.user_id, reference.origin)
            return await find_family_holder(uow.db, reference.user_id, reference.origin)

    async def _authenticate_token(self, claims: Claims) -> Principal:
        async with self._open_uow() as uow:
            holder = await find_family_holder(uow.db, claims.user_id, claims.family)
        if holder is None:
            raise Unauthorized("token_revoked", "This access token no longer works. Sign in again.")
        return self._principal(holder, Credential.TOKEN, claims.expires_at)

    async def _authenticate_key(self, digest: str) -> Principal:
        async with self._open_uow() as uow:
            holder = await use_key(uow.db, digest)
        if holder is None:
            raise Unauthorized("key_invalid", "This API key is unknown, revoked or expired.")
        return self._key_principal(holder)

    async def _authenticate_browser(self, secret: str) -> Principal:
        async with self._open_uow() as uow:
            holder = await use_browser_session(uow.db, self._signer, secret)
        if holder is None:
            raise Unauthorized("browser_signed_out", "This browser is no longer signed in. Sign in again.")
        return self._principal(holder, Credential.BROWSER, holder.expires_at)

    def _principal(
        self, holder: CredentialHolder, credential: Credential, expires_at: datetime | None
    ) -> Principal:
        """Build the principal of a credential without scopes of its own."""
        role, quotas = UserRole(holder.role), self._quotas(holder)
        return Principal(holder.user_id, role, credential, holder.origin, expires_at, ALL_SCOPES, quotas)

    def _key_principal(self, holder: CredentialHolder) -> Principal:
        role, quotas = UserRole(holder.role), self._quotas(holder)
        # A scope of another version of the service grants nothing here, and is no error.
        scopes = frozenset(Scope(scope) for scope in holder.scopes if scope in ALL_SCOPES)
        return Principal(holder.user_id, role, Credential.KEY, holder.origin, holder.expires_at, scopes, quotas)

    def _quotas(self, holder: CredentialHolder) -> Quotas:
        return self._signer.config.quotas.with_overrides(holder.quotas)
