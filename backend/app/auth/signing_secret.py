"""The secrets that sign tokens: configured by the operator, or generated once on a development machine."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from app.errors import InvalidInput
from app.private_files import read_private, write_draft, write_private

MIN_SECRET_CHARS = 32
"""Characters of a secret: 128 bits in hexadecimal."""
_FILE = "secret_key"


def load_signing_secrets(
    configured: str | None, further_secrets: Sequence[str], home: Path, production: bool
) -> tuple[str, ...]:
    """Return the secret that signs, then those that only verify.

    Outside production a missing secret is generated once and stored in `home` with mode 0600. Raises
    InvalidInput when production has none, a secret is too short, or the file is not private.
    """
    if configured is None and production:
        raise InvalidInput(
            "secret_key_missing",
            "SECRET_KEY must be set in production. Make one with: openssl rand -hex 32",
        )
    configured_secrets = {
        "SECRET_KEY": [configured] if configured else [],
        "SECRET_KEY_OTHERS": list(further_secrets),
    }
    for name, texts in configured_secrets.items():
        for text in texts:
            if len(text) < MIN_SECRET_CHARS:
                raise InvalidInput(
                    "secret_key_too_short",
                    f"{name} has {len(text)} characters; it needs at least {MIN_SECRET_CHARS}. "
                    "Make one with: openssl rand -hex 32",
                )
    first = configured_secrets["SECRET_KEY"] or _read_or_create_secrets(home / _FILE)
    return tuple(dict.fromkeys([*first, *further_secrets]))


def rotate_stored_secret(home: Path) -> None:
    """Add a new secret to the file in `home`: the new one signs, the earlier ones still verify."""
    path = home / _FILE
    write_private(path, "\n".join([secrets.token_hex(32), *_read_or_create_secrets(path)]))


def _read_or_create_secrets(path: Path) -> list[str]:
    """Read the secrets of a file, one per line; the first process creates it.

    Raises InvalidInput for a file that another user may have written or read, and for one without a secret.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        text = read_private(path)
    except FileNotFoundError:
        draft = write_draft(path, secrets.token_hex(32))
        try:
            os.link(draft, path)  # never replaces: the first process wins and all read its secret
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        text = read_private(path)
    stored = text.split()
    if not stored or min(map(len, stored)) < MIN_SECRET_CHARS:
        raise InvalidInput(
            "secret_key_too_short",
            f"{path} holds no secrets of at least {MIN_SECRET_CHARS} characters. Remove it to get a new one.",
        )
    return stored
