"""Sealing of secrets: AES-GCM by one data key, which is wrapped by a key derived from SECRET_KEY. Pure."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.errors import InvalidInput

KEY_BYTES = 32
"""Keys of AES-256."""
_NONCE_BYTES = 12
"""Nonces of AES-GCM, drawn at random: far fewer than 2^32 texts are sealed by one key."""
_WRAPPED = b"labcrew data key"
_PURPOSE = b"labcrew secrets"


@dataclass(frozen=True)
class WrappingKey:
    """A key derived from a SECRET_KEY. `kid` names it and tells nothing of it."""

    kid: str
    key: bytes


@dataclass(frozen=True)
class WrappedKey:
    kid: str
    wrapped: bytes


def derive_wrapping_key(secret_key: str) -> WrappingKey:
    # With a purpose of its own: the same SECRET_KEY also signs tokens.
    key = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=_PURPOSE).derive(secret_key.encode())
    return WrappingKey(sha256(b"kid" + key).hexdigest()[:16], key)


def make_data_key() -> bytes:
    return os.urandom(KEY_BYTES)


def wrap(data_key: bytes, by: WrappingKey) -> WrappedKey:
    # Wrapped, so that a new SECRET_KEY re-seals one key instead of every secret.
    return WrappedKey(by.kid, _encrypt(by.key, data_key, _WRAPPED))


def unwrap(wrapped: WrappedKey, keys: Sequence[WrappingKey]) -> bytes:
    """Raises InvalidInput if none of the keys opens it."""
    for key in keys:
        if key.kid == wrapped.kid:
            try:
                return _decrypt(key.key, wrapped.wrapped, _WRAPPED)
            except InvalidTag:
                break
    raise InvalidInput(
        "secrets_locked",
        "The stored secrets cannot be opened: none of SECRET_KEY and SECRET_KEY_OTHERS is the key that "
        "sealed them. Set the "
        "former key in SECRET_KEY_OTHERS, or delete the secrets (`labcrew secret forget`) and enter "
        "them again.",
    )


def seal(data_key: bytes, owner: UUID, name: str, text: str) -> bytes:
    return _encrypt(data_key, text.encode(), _associated(owner, name))


def unseal(data_key: bytes, owner: UUID, name: str, sealed: bytes) -> str:
    """Raises InvalidInput for a text that was sealed for another owner, name or key, or was altered."""
    try:
        return _decrypt(data_key, sealed, _associated(owner, name)).decode()
    except InvalidTag as error:
        raise InvalidInput("secret_broken", f"The secret {name} cannot be opened. Enter it again.") from error


def _associated(owner: UUID, name: str) -> bytes:
    # Bound to owner and name, so that a sealed text opens in no other row.
    return owner.bytes + name.encode()


def _encrypt(key: bytes, text: bytes, associated: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, text, associated)


def _decrypt(key: bytes, sealed: bytes, associated: bytes) -> bytes:
    return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], associated)
