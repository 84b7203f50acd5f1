"""Accounts, sign-in and rotating refresh tokens."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.auth.passwords import Passwords
from app.auth.principal import UserRole
from app.auth.repository import RefreshTokenRepository, UserRepository, find_family_holder
from app.auth.schemas import TokenPair
from app.auth.tokens import Claims, TokenSigner
from app.db.tables import RefreshTokenRow, UserRow
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import Conflict, Unauthorized
from app.observability import audit


@dataclass(frozen=True)
class Accounts:
    """Registration of accounts in the caller's transaction."""

    db: AsyncSession
    passwords: Passwords

    async def register(self, email: str, password: str, role: UserRole = UserRole.USER) -> UserRow:
        """Register an account. `email`: in lower case. Raises Conflict `email_taken`."""
        user = UserRow(
            id=uuid4(), email=email, password_hash=await self.passwords.hash(password), role=role.value
        )
        self.db.add(user)
        try:
            await self.db.flush()
        # The unique index decides: two requests at once would both pass a look before.
        except IntegrityError as error:
            raise Conflict("email_taken", "This address has an account already. Sign in instead.") from error
        await self.db.refresh(user, ["created_at"])
        await audit.record(self.db, "user_registered", owner_id=user.id, role=role.value)
        return user


async def check_sign_in(open_uow: OpenUnitOfWork, passwords: Passwords, email: str, password: str) -> UserRow:
    """Return the user with this password; the slow check holds no database connection.

    Raises Unauthorized, the same for an unknown address, a wrong password and a disabled user.
    """
    async with open_uow() as uow:
        user = await UserRepository(uow.db).by_email(email)
    # Also for an unknown address: an answer without the slow check would tell that it is unknown.
    is_correct = await passwords.matches(password, user.password_hash if user else None)
    if user is None or not is_correct or user.disabled_at is not None:
        raise Unauthorized("sign_in_refused", "The address or the password is wrong.")
    if passwords.needs_rehash(user.password_hash):
        stronger = await passwords.hash(password)
        async with open_uow() as uow:
            (await UserRepository(uow.db).get(user.id)).password_hash = stronger
    return user


class ReusedToken(Unauthorized):
    """A refresh token was used twice: its family is revoked, and the revocation must be committed."""

    user_id: UUID | None = None


@dataclass(frozen=True)
class TokenChain:
    """Pairs of tokens. A refresh token works once; using it again revokes its family."""

    db: AsyncSession
    signer: TokenSigner

    async def start(self, user_id: UUID) -> TokenPair:
        await RefreshTokenRepository(self.db).delete_expired(user_id)
        return await self._next(user_id, family=uuid4())

    async def rotate(self, refresh_token: str) -> TokenPair | ReusedToken:
        """Return the next pair; a reused token is returned, not raised, so that its revocation is committed.

        Raises Unauthorized for an invalid or expired token.
        """
        claims = self.signer.verify("refresh", refresh_token)
        tokens = RefreshTokenRepository(self.db)
        used = await tokens.use(claims.id)
        holder = used and await find_family_holder(self.db, used.user_id, used.family)
        # As a rule it was copied: which of two holders is the owner cannot be told, so both lose the family.
        if used is None or holder is None:
            await tokens.revoke_family(claims.family)
            await audit.record(self.db, "refresh_token_reused", owner_id=claims.user_id, family=claims.family)
            reused = ReusedToken("token_revoked", "This refresh token no longer works. Sign in again.")
            reused.user_id = claims.user_id
            return reused
        return await self._next(used.user_id, used.family)

    async def end(self, user_id: UUID, family: UUID) -> None:
        await RefreshTokenRepository(self.db).revoke_family(family)
        await audit.record(self.db, "signed_out", owner_id=user_id, family=family)

    async def _next(self, user_id: UUID, family: UUID) -> TokenPair:
        refresh = Claims(uuid4(), user_id, family, self.signer.expires_at("refresh"))
        access = Claims(uuid4(), user_id, family, self.signer.expires_at("access"))
        self.db.add(
            RefreshTokenRow(id=refresh.id, user_id=user_id, family=family, expires_at=refresh.expires_at)
        )
        await self.db.flush()
        return TokenPair(
            access_token=self.signer.sign("access", access),
            refresh_token=self.signer.sign("refresh", refresh),
            expires_in=int(self.signer.config.access_ttl_s),
        )
