"""Argon2id in a small thread pool: a hash takes tens of milliseconds and 64 MiB, so few run at once."""

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError


class Passwords:
    """Hash and verify passwords; `matches` takes as long for an unknown user as for an existing one."""

    def __init__(self, hasher: PasswordHasher | None = None, threads: int = 2) -> None:
        self._hasher = hasher or PasswordHasher()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="argon2")
        # In the background: it takes as long as a check.
        self._decoy = self._threads.submit(self._hasher.hash, secrets.token_hex())

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
            verified = self._hasher.verify(stored or self._decoy.result(), password)
        except (VerificationError, InvalidHashError):
            return False
        return verified and stored is not None

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
