"""What a process needs to know who is asking."""

from dataclasses import dataclass

from argon2 import PasswordHasher
from redis.asyncio import Redis

from app.auth.config import AuthConfig
from app.auth.passwords import Passwords
from app.auth.standing import Authenticator
from app.auth.throttle import Throttle
from app.auth.tickets import Tickets
from app.auth.tokens import TokenSigner
from app.db.unit_of_work import OpenUnitOfWork


@dataclass(frozen=True)
class AuthDesk:
    config: AuthConfig
    passwords: Passwords
    signer: TokenSigner
    authenticator: Authenticator
    throttle: Throttle
    tickets: Tickets

    def close(self) -> None:
        self.passwords.close()


def open_desk(
    config: AuthConfig,
    secret: str,
    open_uow: OpenUnitOfWork,
    redis: Redis,
    hasher: PasswordHasher | None = None,
) -> AuthDesk:
    signer = TokenSigner(secret, config)
    return AuthDesk(
        config=config,
        passwords=Passwords(hasher),
        signer=signer,
        authenticator=Authenticator(signer, open_uow),
        throttle=Throttle(redis, config.throttle_window_s),
        tickets=Tickets(redis),
    )
