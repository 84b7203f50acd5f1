from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher, extract_parameters

from app.auth.passwords import Passwords

CHEAP = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    passwords = Passwords(CHEAP)
    yield passwords
    passwords.close()


async def test_a_password_matches_its_own_hash_only(passwords: Passwords) -> None:
    stored = await passwords.hash("correct horse")
    assert await passwords.matches("correct horse", stored)
    assert not await passwords.matches("correct house", stored)


async def test_nobody_has_no_password(passwords: Passwords) -> None:
    assert not await passwords.matches("correct horse", None)


async def test_a_broken_hash_matches_nothing(passwords: Passwords) -> None:
    assert not await passwords.matches("correct horse", "not a hash")


async def test_an_unknown_user_costs_a_whole_verification(
    passwords: Passwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    real = PasswordHasher.verify

    def counted(self: PasswordHasher, stored: str, password: str) -> bool:
        verified.append(stored)
        return real(self, stored, password)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    await passwords.matches("correct horse", None)
    assert len(verified) == 1
    assert verified[0].startswith("$argon2id$")


async def test_a_weaker_hash_is_outdated(passwords: Passwords) -> None:
    stored = await passwords.hash("correct horse")
    assert not passwords.needs_rehash(stored)
    stronger = Passwords(PasswordHasher(time_cost=2, memory_cost=64, parallelism=1))
    assert stronger.needs_rehash(stored)
    stronger.close()


async def test_no_password_is_hashed_before_somebody_signs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    monkeypatch.setattr(PasswordHasher, "hash", lambda self, password: hashed.append(password))
    Passwords(CHEAP).close()
    assert hashed == []


async def test_an_unknown_user_is_verified_by_the_costs_of_this_service(
    passwords: Passwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = await passwords.hash("correct horse")
    verified: list[str] = []
    monkeypatch.setattr(PasswordHasher, "verify", lambda self, stored, password: verified.append(stored))
    await passwords.matches("correct horse", None)
    assert extract_parameters(verified[0]) == extract_parameters(own)
