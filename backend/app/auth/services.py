"""The services of authentication and limits that an API process owns."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from argon2 import PasswordHasher
from redis.asyncio import Redis

from app.auth.authenticator import Authenticator
from app.auth.config import AuthConfig
from app.auth.passwords import Passwords
from app.auth.rate_limits import RateLimiter
from app.auth.revocations import Revocations
from app.auth.sign_in_codes import SignInCodes
from app.auth.storage_quota import StorageQuota
from app.auth.stream_slots import StreamSlots
from app.auth.throttle import Throttle
from app.auth.tickets import Tickets
from app.auth.tokens import TokenSigner
from app.db.pool import Database
from app.db.unit_of_work import OpenUnitOfWork


@dataclass(frozen=True)
class AuthServices:
    config: AuthConfig
    passwords: Passwords
    signer: TokenSigner
    authenticator: Authenticator
    revocations: Revocations
    throttle: Throttle
    tickets: Tickets
    sign_in_codes: SignInCodes
    rate_limiter: RateLimiter
    stream_slots: StreamSlots
    storage_quota: StorageQuota


@asynccontextmanager
async def open_auth_services(
    config: AuthConfig,
    secrets: Sequence[str],
    open_uow: OpenUnitOfWork,
    redis: Redis,
    db: Database,
    hasher: PasswordHasher | None = None,
) -> AsyncIterator[AuthServices]:
    """Open the services. `secrets`: the first signs, all verify."""
    signer = TokenSigner(secrets, config)
    authenticator = Authenticator(signer, open_uow)
    services = AuthServices(
        config=config,
        passwords=Passwords(hasher),
        signer=signer,
        authenticator=authenticator,
        revocations=Revocations(redis, authenticator),
        throttle=Throttle(redis, config.throttle_window_s),
        tickets=Tickets(redis),
        sign_in_codes=SignInCodes(redis),
        rate_limiter=RateLimiter(redis),
        stream_slots=StreamSlots(redis),
        storage_quota=StorageQuota(db),
    )
    services.revocations.start()
    services.stream_slots.start()
    try:
        yield services
    finally:
        await services.stream_slots.close()
        await services.revocations.close()
        services.passwords.close()
