"""Is a credential still good? Asked of Postgres at most once in a few seconds for each credential."""

import time
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

from app.auth.keys import key_digest, looks_like_key
from app.auth.principal import Credential, Principal, Role
from app.auth.repository import RefreshTokenRepository, use_key
from app.auth.tokens import Claims, TokenSigner
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import Unauthorized

_REMEMBERED = 10_000


class Authenticator:
    """Turns a bearer token or an API key into a Principal.

    An accepted credential is remembered by its digest for `standing_ttl_s`, never past its end: so long can a
    process go on accepting one that another process revoked. Its own revocations it sees at once (`forget`).
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
        self._monotonic = monotonic
        self._known: OrderedDict[str, tuple[float, Principal]] = OrderedDict()

    async def authenticate(self, credential: str) -> Principal:
        """Raises Unauthorized."""
        digest = key_digest(credential)
        until, known = self._known.get(digest, (0.0, None))
        if known is not None and self._monotonic() < until:
            return known
        if looks_like_key(credential):
            return self._remember(digest, await self._of_key(digest), self._ttl_s)
        claims = self._signer.read("access", credential)
        left_s = (claims.expires_at - self._signer.now()).total_seconds()
        return self._remember(digest, await self._of_token(claims), min(self._ttl_s, left_s))

    def forget(self, user_id: UUID) -> None:
        """After a revocation: ask anew about everything of this user."""
        for known in [key for key, (_, who) in self._known.items() if who.user_id == user_id]:
            del self._known[known]

    async def _of_token(self, claims: Claims) -> Principal:
        async with self._open_uow() as uow:
            role = await RefreshTokenRepository(uow.db).stands(claims.user_id, claims.family)
        if role is None:
            raise Unauthorized("token_revoked", "This access token no longer works. Sign in again.")
        return Principal(claims.user_id, Role(role), Credential.TOKEN, claims.family)

    async def _of_key(self, digest: str) -> Principal:
        async with self._open_uow() as uow:
            holder = await use_key(uow.db, digest)
        if holder is None:
            raise Unauthorized("key_invalid", "This API key is unknown, revoked or expired.")
        return Principal(holder.user_id, Role(holder.role), Credential.KEY)

    def _remember(self, digest: str, who: Principal, for_s: float) -> Principal:
        self._known[digest] = (self._monotonic() + for_s, who)
        self._known.move_to_end(digest)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return who
