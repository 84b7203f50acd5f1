"""Files with secrets, which only the user of this process may write and read."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import InvalidInput

_OTHERS_READ_OR_WRITE_BITS = 0o077
_OTHERS_WRITE_BITS = 0o022
MAX_SECRET_BYTES = 64 << 10
"""Far above any file of secrets here; a planted file must not fill the memory."""


def read_private(path: Path) -> str:
    """Read a regular file of this user (or root) that is closed to all others, in a folder that is theirs, too.

    Raises FileNotFoundError, and InvalidInput `file_not_private`.
    """
    with open_private(path) as descriptor:
        content = os.read(descriptor, MAX_SECRET_BYTES + 1)
    if len(content) > MAX_SECRET_BYTES:
        raise _not_private(path, "it is larger than any file of secrets here")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _not_private(path, "it is not text") from error


@contextmanager
def open_private(path: Path) -> Iterator[int]:
    """Open such a file, and yield its descriptor. Raises like `read_private`.

    A user who can write the folder could replace the file. Owner and mode are those of the opened file, so that
    it cannot be exchanged in between.
    """
    _require_own(path.parent, path.parent.stat())
    try:
        # O_NONBLOCK: opening a named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _not_private(path, f"it cannot be opened as a file ({error.strerror})") from error
    try:
        _require_own(path, os.fstat(descriptor), regular=True)
        yield descriptor
    finally:
        os.close(descriptor)


def write_draft(path: Path, text: str) -> Path:
    """Write a new file beside `path`, for this user only, to be linked or renamed to it."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    # O_EXCL and O_NOFOLLOW: whoever can write the folder may have planted a link under the name.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(draft, flags, 0o600), "w") as file:
        file.write(text)
    return draft


def write_private(path: Path, text: str) -> None:
    """Replace `path` by a new file, atomically."""
    write_draft(path, text).replace(path)


def _require_own(path: Path, status: os.stat_result, *, regular: bool = False) -> None:
    """Raise InvalidInput unless the path is private. `regular`: it must be a file, not a folder."""
    own_uid = os.geteuid()
    if status.st_uid not in (own_uid, 0):
        raise _not_private(path, f"it belongs to the user {status.st_uid}, and this process runs as {own_uid}")
    if not regular:
        # In a sticky folder (/tmp) a file is replaced by its owner only.
        if status.st_mode & _OTHERS_WRITE_BITS and not status.st_mode & stat.S_ISVTX:
            raise _not_private(path, "others may write in this folder", f"chmod go-w '{path}'")
    elif not stat.S_ISREG(status.st_mode):
        raise _not_private(path, "it is not a regular file")
    elif status.st_mode & _OTHERS_READ_OR_WRITE_BITS:
        raise _not_private(path, "others may read or write it", f"chmod 600 '{path}'")


def _not_private(path: Path, reason: str, command: str = "") -> InvalidInput:
    remedy = (
        f"If its content is to be trusted: {command}" if command else "Find out who put it there, and remove it"
    )
    return InvalidInput("file_not_private", f"{path} is not used: {reason}. {remedy}.")
