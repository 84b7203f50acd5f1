"""Secrets are sealed for one owner and one name, by a key that only SECRET_KEY opens."""

from uuid import UUID

import pytest

from app.errors import LabError
from app.workflows.secrets.sealing import derive_wrapping_key, make_data_key, seal, unseal, unwrap, wrap

ADA, EVE = UUID(int=1), UUID(int=2)


def test_a_secret_opens_for_its_owner_and_name_alone() -> None:
    key = make_data_key()
    sealed = seal(key, ADA, "token", "hidden")
    assert unseal(key, ADA, "token", sealed) == "hidden"
    assert b"hidden" not in sealed
    assert sealed != seal(key, ADA, "token", "hidden")
    altered = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for owner, name, text, by in (
        (EVE, "token", sealed, key),
        (ADA, "other", sealed, key),
        (ADA, "token", altered, key),
        (ADA, "token", sealed, make_data_key()),
    ):
        with pytest.raises(LabError) as refusal:
            unseal(by, owner, name, text)
        assert refusal.value.code == "secret_broken"


def test_a_former_secret_key_still_opens_the_data_key_and_another_does_not() -> None:
    key = make_data_key()
    former, new, other = (derive_wrapping_key(letter * 32) for letter in "abc")
    wrapped = wrap(key, former)
    assert unwrap(wrapped, [new, former]) == key
    assert unwrap(wrap(key, new), [new, former]) == key
    with pytest.raises(LabError) as refusal:
        unwrap(wrapped, [new, other])
    assert refusal.value.code == "secrets_locked"
