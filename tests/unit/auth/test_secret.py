import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.auth.secret import signing_secret
from app.errors import InvalidInput


def test_production_has_no_default_secret(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="SECRET_KEY must be set"):
        signing_secret(None, tmp_path, production=True)
    assert not list(tmp_path.iterdir())


def test_a_short_secret_is_refused_everywhere(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at least 32"):
        signing_secret("changeme", tmp_path, production=False)


def test_development_makes_a_secret_that_only_its_owner_reads(tmp_path: Path) -> None:
    home = tmp_path / "home"
    secret = signing_secret(None, home, production=False)
    assert len(secret) == 64
    assert stat.S_IMODE((home / "secret_key").stat().st_mode) == 0o600
    assert signing_secret(None, home, production=False) == secret


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        secrets = set(threads.map(lambda _: signing_secret(None, tmp_path, False), range(32)))
    assert len(secrets) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
