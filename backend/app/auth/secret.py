"""The secret that signs tokens: given by the operator, or made once for a development machine."""

import os
import secrets
from pathlib import Path

from app.errors import InvalidInput

MIN_LENGTH = 32
_FILE = "secret_key"


def signing_secret(configured: str | None, home: Path, production: bool) -> str:
    """The configured secret; outside production, else, one made once and kept in `home` with mode 0600.

    Raises InvalidInput when production has none or the configured one is too short to be a secret.
    """
    if configured:
        if len(configured) < MIN_LENGTH:
            raise InvalidInput(
                "secret_key_too_short",
                f"SECRET_KEY has {len(configured)} characters; it needs at least {MIN_LENGTH}. "
                "Make one with: openssl rand -hex 32",
            )
        return configured
    if production:
        raise InvalidInput(
            "secret_key_missing",
            "SECRET_KEY must be set in production. Make one with: openssl rand -hex 32",
        )
    return _kept(home / _FILE)


def _kept(path: Path) -> str:
    """The secret in this file, made first by whichever process comes first."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
        try:
            os.link(draft, path)  # never replaces: the first process wins and all read its secret
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()
