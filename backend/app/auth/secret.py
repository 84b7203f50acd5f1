"""The secrets that sign tokens: given by the operator, or made once for a development machine."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from app.errors import InvalidInput
from app.private_files import read_private, write_draft, write_private

MIN_SECRET_CHARS = 32
_FILE = "secret_key"


def load_signing_secrets(
    configured: str | None, further_secrets: Sequence[str], home: Path, production: bool
) -> tuple[str, ...]:
    """The secret that signs, then those that still verify.

    The configured one; outside production, else, one made once and kept in `home` with mode 0600. Raises
    InvalidInput when production has none, one is too short to be a secret, or the file is not private.
    """
    if configured is None and production:
        raise InvalidInput(
            "secret_key_missing",
            "SECRET_KEY must be set in production. Make one with: openssl rand -hex 32",
        )
    given = {"SECRET_KEY": [configured] if configured else [], "SECRET_KEY_OTHERS": list(further_secrets)}
    for name, texts in given.items():
        for text in texts:
            if len(text) < MIN_SECRET_CHARS:
                raise InvalidInput(
                    "secret_key_too_short",
                    f"{name} has {len(text)} characters; it needs at least {MIN_SECRET_CHARS}. "
                    "Make one with: openssl rand -hex 32",
                )
    first = given["SECRET_KEY"] or _read_or_create_secrets(home / _FILE)
    return tuple(dict.fromkeys([*first, *further_secrets]))


def rotate_stored_secret(home: Path) -> None:
    """Put a new secret before those that `home` keeps: the new one signs, the old ones go on verifying."""
    path = home / _FILE
    write_private(path, "\n".join([secrets.token_hex(32), *_read_or_create_secrets(path)]))


def _read_or_create_secrets(path: Path) -> list[str]:
    """The secrets in this file, one a line, made first by whichever process comes first.

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
    kept = text.split()
    if not kept or min(map(len, kept)) < MIN_SECRET_CHARS:
        raise InvalidInput(
            "secret_key_too_short",
            f"{path} holds no secrets of at least {MIN_SECRET_CHARS} characters. Remove it to get a new one.",
        )
    return kept
