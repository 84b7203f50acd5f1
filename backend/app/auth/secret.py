"""The secrets that sign tokens: given by the operator, or made once for a development machine."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from app.errors import InvalidInput

MIN_LENGTH = 32
_FILE = "secret_key"


def signing_secrets(
    configured: str | None, others: Sequence[str], home: Path, production: bool
) -> tuple[str, ...]:
    """The secret that signs, then those that still verify.

    The configured one; outside production, else, one made once and kept in `home` with mode 0600. Raises
    InvalidInput when production has none or one is too short to be a secret.
    """
    if configured is None and production:
        raise InvalidInput(
            "secret_key_missing",
            "SECRET_KEY must be set in production. Make one with: openssl rand -hex 32",
        )
    given = {"SECRET_KEY": [configured] if configured else [], "SECRET_KEY_OTHERS": list(others)}
    for name, texts in given.items():
        for text in texts:
            if len(text) < MIN_LENGTH:
                raise InvalidInput(
                    "secret_key_too_short",
                    f"{name} has {len(text)} characters; it needs at least {MIN_LENGTH}. "
                    "Make one with: openssl rand -hex 32",
                )
    first = given["SECRET_KEY"] or _kept(home / _FILE)
    return tuple(dict.fromkeys([*first, *others]))


def replace_kept(home: Path) -> None:
    """Put a new secret before those that `home` keeps: the new one signs, the old ones go on verifying."""
    path = home / _FILE
    draft = _draft(path, "\n".join([secrets.token_hex(32), *_kept(path)]))
    draft.replace(path)


def _kept(path: Path) -> list[str]:
    """The secrets in this file, one a line, made first by whichever process comes first."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = _draft(path, secrets.token_hex(32))
        try:
            os.link(draft, path)  # never replaces: the first process wins and all read its secret
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().split()


def _draft(path: Path, text: str) -> Path:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    return draft
