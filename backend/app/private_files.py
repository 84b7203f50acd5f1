"""Files with secrets, which only the user of this process may have written and may read."""

import os
import secrets
import stat
from pathlib import Path

from app.errors import InvalidInput

_OTHERS_READ_OR_WRITE_BITS = 0o077
_OTHERS_WRITE_BITS = 0o022
MAX_SECRET_BYTES = 64 << 10
"""Far above any file of ours; a planted one must not fill the memory."""


def read_private(path: Path) -> str:
    """Text of a regular file that is ours (or root's) and closed to everybody else, in such a folder.

    Whoever can write the folder could put another file in its place. Owner and mode are those of the file that
    was opened, so nobody can exchange it in between. Raises FileNotFoundError, and InvalidInput
    `file_not_private`.
    """
    _require_own(path.parent, path.parent.stat())
    try:
        # O_NONBLOCK: a named pipe that somebody left here would keep us waiting for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _not_private(path, f"it cannot be opened as a file ({error.strerror})") from error
    try:
        _require_own(path, os.fstat(descriptor), regular=True)
        content = os.read(descriptor, MAX_SECRET_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAX_SECRET_BYTES:
        raise _not_private(path, "it is too large to be ours")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _not_private(path, "it is not text") from error


def write_draft(path: Path, text: str) -> Path:
    """Write a new file beside `path`, for us only, to be linked or renamed to it."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(draft, flags, 0o600), "w") as file:
        file.write(text)
    return draft


def write_private(path: Path, text: str) -> None:
    """Put a new file in the place of `path`, whatever is there; nobody sees a part of it."""
    write_draft(path, text).replace(path)


def _require_own(path: Path, status: os.stat_result, *, regular: bool = False) -> None:
    """Raises InvalidInput. `regular`: the path must be a file, not a folder."""
    us = os.geteuid()
    if status.st_uid not in (us, 0):
        raise _not_private(path, f"it belongs to the user {status.st_uid}, and this process runs as {us}")
    if not regular:
        # In a sticky folder (/tmp) nobody replaces another's file.
        if status.st_mode & _OTHERS_WRITE_BITS and not status.st_mode & stat.S_ISVTX:
            raise _not_private(path, "others may write in this folder", f"chmod go-w '{path}'")
    elif not stat.S_ISREG(status.st_mode):
        raise _not_private(path, "it is not a regular file")
    elif status.st_mode & _OTHERS_READ_OR_WRITE_BITS:
        raise _not_private(path, "others may read or write it", f"chmod 600 '{path}'")


def _not_private(path: Path, why: str, remedy: str = "") -> InvalidInput:
    mend = f"If its content is to be trusted: {remedy}" if remedy else "Look who put it there, and remove it"
    return InvalidInput("file_not_private", f"{path} is not used: {why}. {mend}.")
