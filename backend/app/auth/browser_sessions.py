"""Sign-ins of browsers: a random secret in a cookie, revocable at once.

A browser session is a family of one row in `refresh_tokens`, whose id is the digest of the secret. Whatever
revokes families (signing out, a disabled or deleted user, expiry) therefore ends it too.
"""

import hashlib
import secrets
from uuid import UUID, uuid4

from sqlalchemy import func, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.auth.repository import CredentialHolder, RefreshTokenRepository
from app.auth.tokens import TokenSigner
from app.db.tables import RefreshTokenRow, UserRow
from app.observability import audit

SECRET_PREFIX = "web_"  # noqa: S105 - marks the kind of a credential
SECRET_BYTES = 32
"""256 random bits: the digest needs no slow hash, as with API keys."""


def is_browser_secret(credential: str) -> bool:
    return credential.startswith(SECRET_PREFIX)


async def start_browser_session(db: AsyncSession, signer: TokenSigner, user_id: UUID) -> str:
    """Start a session in the caller's transaction; return the secret for the cookie."""
    await RefreshTokenRepository(db).delete_expired(user_id)
    secret = SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    family = uuid4()
    expires_at = signer.expires_at("refresh")
    db.add(RefreshTokenRow(id=_row_id(secret), user_id=user_id, family=family, expires_at=expires_at))
    await audit.record(db, "browser_signed_in", owner_id=user_id, family=family)
    return secret


async def use_browser_session(db: AsyncSession, signer: TokenSigner, secret: str) -> CredentialHolder | None:
    """Find the holder of a valid session and prolong it; None when it has ended."""
    # One statement checks and prolongs: a sign-out at the same moment falls before or after it.
    statement = (
        update(RefreshTokenRow)
        .where(
            RefreshTokenRow.id == _row_id(secret),
            RefreshTokenRow.revoked_at.is_(None),
            RefreshTokenRow.expires_at > func.now(),
            RefreshTokenRow.user_id == UserRow.id,
            UserRow.disabled_at.is_(None),
        )
        .values(expires_at=signer.expires_at("refresh"))
        .returning(UserRow.id, UserRow.role, UserRow.quotas, RefreshTokenRow.family, RefreshTokenRow.expires_at)
    )
    row = (await db.execute(statement)).one_or_none()
    if row is None:
        return None
    user_id, role, quotas, family, expires_at = row
    return CredentialHolder(user_id, role, quotas, origin=family, expires_at=expires_at)


def _row_id(secret: str) -> UUID:
    """Derive the id of the session's row; 128 bits of the digest cannot be guessed, nor turned back."""
    return UUID(bytes=hashlib.sha256(secret.encode()).digest()[:16])
