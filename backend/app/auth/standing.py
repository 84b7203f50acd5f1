"""Is a credential still good? Asked of Postgres at most once in a few seconds for each credential."""

import time
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

from app.auth.keys import key_digest, looks_like_key
from app.auth.principal import Credential, Principal, Role
from app.auth.repository import RefreshTokenRepository, use_key
from app.auth.tokens import TokenSigner
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import Unauthorized

_REMEMBERED = 10_000


class Authenticator:
    """Turns a bearer token or an API key into a Principal.

    An accepted credential is remembered for `standing_ttl_s`: so long can a process go on accepting one that
    another process revoked. Its own revocations it sees at once (`forget`).
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
        self._known: OrderedDict[UUID | str, tuple[float, Principal]] = OrderedDict()

    async def authenticate(self, credential: str) -> Principal:
        """Raises Unauthorized."""
        if looks_like_key(credential):
            return await self._by_key(key_digest(credential))
        return await self._by_token(credential)

    def forget(self, user_id: UUID) -> None:
        """After a revocation: ask anew about everything of this user."""
        for known in [key for key, (_, who) in self._known.items() if who.user_id == user_id]:
            del self._known[known]

    async def _by_token(self, token: str) -> Principal:
        claims = self._signer.read("access", token)
        known = self._recall(claims.family)
        if known is not None:
            return known
        async with self._open_uow() as uow:
            role = await RefreshTokenRepository(uow.db).stands(claims.user_id, claims.family)
        if role is None:
            raise Unauthorized("token_revoked", "This access token no longer works. Sign in again.")
        who = Principal(claims.user_id, Role(role), Credential.TOKEN, claims.family)
        return self._remember(claims.family, who)

    async def _by_key(self, digest: str) -> Principal:
        known = self._recall(digest)
        if known is not None:
            return known
        async with self._open_uow() as uow:
            holder = await use_key(uow.db, digest)
        if holder is None:
            raise Unauthorized("key_invalid", "This API key is unknown, revoked or expired.")
        return self._remember(digest, Principal(holder.user_id, Role(holder.role), Credential.KEY))

    def _recall(self, key: UUID | str) -> Principal | None:
        at, who = self._known.get(key, (0.0, None))
        return who if who is not None and self._monotonic() - at < self._ttl_s else None

    def _remember(self, key: UUID | str, who: Principal) -> Principal:
        self._known[key] = (self._monotonic(), who)
        self._known.move_to_end(key)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return who
