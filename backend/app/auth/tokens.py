"""Signed tokens: short-lived access tokens, and refresh tokens for the next pair."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import jwt

from app.auth.config import AuthConfig
from app.errors import Unauthorized

ISSUER = "labcrew"
_ALGORITHM = "HS256"
Purpose = Literal["access", "refresh"]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Claims:
    """Claims of a token. `id`: the row of a refresh token; access tokens have no row."""

    id: UUID
    user_id: UUID
    family: UUID
    expires_at: datetime


class TokenSigner:
    """Sign and verify tokens; each purpose has a derived key, so that one kind never passes for the other.

    `secrets`: the first signs, all verify, so that a secret can be replaced without signing users out. A token
    names its key by an id that does not reveal the secret.
    """

    def __init__(
        self, secrets: Sequence[str], config: AuthConfig, now: Callable[[], datetime] = utc_now
    ) -> None:
        self.config = config
        self.now = now
        self._signing = key_id(secrets[0])
        self._keys = {
            (key_id(secret), purpose): _derive_key(secret, purpose)
            for secret in secrets
            for purpose in ("access", "refresh")
        }

    def expires_at(self, purpose: Purpose) -> datetime:
        ttl_s = self.config.access_ttl_s if purpose == "access" else self.config.refresh_ttl_s
        return self.now() + timedelta(seconds=ttl_s)

    def sign(self, purpose: Purpose, claims: Claims) -> str:
        payload = {
            "iss": ISSUER,
            "sub": str(claims.user_id),
            "jti": str(claims.id),
            "fam": str(claims.family),
            "iat": self.now(),
            "exp": claims.expires_at,
        }
        key = self._keys[self._signing, purpose]
        return jwt.encode(payload, key, _ALGORITHM, headers={"kid": self._signing})

    def verify(self, purpose: Purpose, token: str) -> Claims:
        """Verify a token. Raises Unauthorized: `token_expired`, or `token_invalid` for anything else."""
        try:
            # Not verified yet, and used for nothing but the choice of the key that verifies it.
            header_key_id = jwt.get_unverified_header(token)["kid"]
            return _parse_claims(
                jwt.decode(
                    token,
                    self._keys[header_key_id, purpose],
                    # One algorithm, so that a token cannot choose a weaker one, or none.
                    algorithms=[_ALGORITHM],
                    issuer=ISSUER,
                    options={"require": ["exp", "sub", "jti"]},
                )
            )
        except jwt.ExpiredSignatureError as error:
            raise Unauthorized(
                "token_expired", f"The {purpose} token has expired. {_REMEDY[purpose]}"
            ) from error
        except (jwt.InvalidTokenError, KeyError, TypeError, ValueError) as error:
            raise Unauthorized("token_invalid", f"This is not a valid {purpose} token.") from error


_REMEDY: dict[Purpose, str] = {"access": "Refresh it, or sign in again.", "refresh": "Sign in again."}


def _parse_claims(payload: dict[str, Any]) -> Claims:
    return Claims(
        id=UUID(payload["jti"]),
        user_id=UUID(payload["sub"]),
        family=UUID(payload["fam"]),
        expires_at=datetime.fromtimestamp(payload["exp"], UTC),
    )


def key_id(secret: str) -> str:
    """Derive a public id of a secret."""
    return hmac.digest(secret.encode(), b"labcrew key id", hashlib.sha256).hex()[:12]


def _derive_key(secret: str, purpose: str) -> bytes:
    return hmac.digest(secret.encode(), f"labcrew {purpose} token".encode(), hashlib.sha256)
