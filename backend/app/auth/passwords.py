"""Argon2id in a small thread pool: a hash takes tens of milliseconds and 64 MiB, so few run at once."""

import asyncio
import secrets
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION


class Passwords:
    """Hash and verify passwords; `matches` takes as long for an unknown user as for an existing one."""

    def __init__(self, hasher: PasswordHasher | None = None, threads: int = 2) -> None:
        self._hasher = hasher or PasswordHasher()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="argon2")
        self._decoy = _make_decoy(self._hasher)

    async def hash(self, password: str) -> str:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._hasher.hash, password)

    async def matches(self, password: str, stored: str | None) -> bool:
        """Verify a password; False when `stored` is None (unknown user), after the same work."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._verify, password, stored)

    def needs_rehash(self, stored: str) -> bool:
        """Check whether the hash was made with other parameters than the current ones."""
        return self._hasher.check_needs_rehash(stored)

    def _verify(self, password: str, stored: str | None) -> bool:
        try:
            verified = self._hasher.verify(stored or self._decoy, password)
        except (VerificationError, InvalidHashError):
            return False
        return verified and stored is not None

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)


def _make_decoy(hasher: PasswordHasher) -> str:
    """Make the hash of no password: random bytes for salt and digest, under the hasher's parameters.

    To verify one takes as long as any other. To compute one would take each start 0.17 s of processors.
    """
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    salt, digest = (_encode(secrets.token_bytes(length)) for length in (hasher.salt_len, hasher.hash_len))
    return f"$argon2id$v={ARGON2_VERSION}${costs}${salt}${digest}"


def _encode(data: bytes) -> str:
    return b64encode(data).decode().rstrip("=")
