import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.auth.signing_secret import load_signing_secrets, rotate_stored_secret
from app.errors import InvalidInput


def test_production_has_no_default_secret(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="SECRET_KEY must be set"):
        load_signing_secrets(None, [], tmp_path, production=True)
    assert not list(tmp_path.iterdir())


def test_a_short_secret_is_refused_everywhere(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at least 32"):
        load_signing_secrets("changeme", [], tmp_path, production=False)


def test_development_makes_a_secret_that_only_its_owner_reads(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (secret,) = load_signing_secrets(None, [], home, production=False)
    assert len(secret) == 64
    assert stat.S_IMODE((home / "secret_key").stat().st_mode) == 0o600
    assert load_signing_secrets(None, [], home, production=False) == (secret,)


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        secrets = set(threads.map(lambda _: load_signing_secrets(None, [], tmp_path, False), range(32)))
    assert len(secrets) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_secret_that_is_replaced_goes_on_verifying(tmp_path: Path) -> None:
    (old,) = load_signing_secrets(None, [], tmp_path, production=False)
    rotate_stored_secret(tmp_path)
    new, *others = load_signing_secrets(None, [], tmp_path, production=False)
    assert (others, len(new)) == ([old], 64)
    assert new != old
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_configured_secret_signs_and_the_others_follow(tmp_path: Path) -> None:
    new, old = "n" * 32, "o" * 32
    assert load_signing_secrets(new, [old, new], tmp_path, production=True) == (new, old)
    with pytest.raises(InvalidInput, match="SECRET_KEY_OTHERS has 5"):
        load_signing_secrets(new, ["short"], tmp_path, production=True)
