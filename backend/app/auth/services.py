"""What a process needs to know who is asking, and how much they may."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from argon2 import PasswordHasher
from redis.asyncio import Redis

from app.auth.authenticator import Authenticator
from app.auth.config import AuthConfig
from app.auth.passwords import Passwords
from app.auth.rate_limits import Meters
from app.auth.revocations import Revocations
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
    meters: Meters
    places: StreamSlots
    room: StorageQuota


@asynccontextmanager
async def open_desk(
    config: AuthConfig,
    secrets: Sequence[str],
    open_uow: OpenUnitOfWork,
    redis: Redis,
    db: Database,
    hasher: PasswordHasher | None = None,
) -> AsyncIterator[AuthServices]:
    """`secrets`: the first signs, all verify."""
    signer = TokenSigner(secrets, config)
    authenticator = Authenticator(signer, open_uow)
    desk = AuthServices(
        config=config,
        passwords=Passwords(hasher),
        signer=signer,
        authenticator=authenticator,
        revocations=Revocations(redis, authenticator),
        throttle=Throttle(redis, config.throttle_window_s),
        tickets=Tickets(redis),
        meters=Meters(redis),
        places=StreamSlots(redis),
        room=StorageQuota(db),
    )
    desk.revocations.start()
    desk.places.start()
    try:
        yield desk
    finally:
        await desk.places.close()
        await desk.revocations.close()
        desk.passwords.close()
