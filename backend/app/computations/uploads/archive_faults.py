"""Reasons why a compressed file cannot be unpacked, in words that say what to do."""

import lzma
import zipfile
import zlib
from types import TracebackType

from app.errors import InvalidInput

_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
# The last two are those of zipfile for a password and for an unknown compression.
_FAULTS = (*_DAMAGED, RuntimeError, NotImplementedError)
_CUT = "is cut short: it ends before its data does. Download or send it again."
_CHECKSUM = "is damaged: its content differs from its checksum. Download or send it again."
_REASONS = (
    ("end-of-stream marker", _CUT),
    ("Truncated", _CUT),
    ("no directory", "is cut short: the list of its files, at its end, is missing. Download or send it again."),
    (
        "Bad magic number for central directory",
        "is damaged: the list of its files cannot be read. Pack it again.",
    ),
    ("Bad CRC-32", _CHECKSUM),
    ("CRC check failed", _CHECKSUM),
    ("Incorrect length of data", _CHECKSUM),
    ("Not a gzipped file", "is damaged: other bytes follow its data. Compress the file again."),
    ("password required", "is locked with a password: send it without one."),
    ("compression method", "is packed in a way that is not read: pack it as an ordinary zip."),
)
"""Parts of messages of Python's readers, and what each means."""
_UNKNOWN_ADVICE = "Download it, or pack it, again."


def describe_fault(error: BaseException) -> str:
    """Describe a fault of a compressed file, as the rest of a sentence that begins with its name."""
    message = str(error)
    if isinstance(error, EOFError):
        return _CUT
    reason = next((reason for part, reason in _REASONS if part in message), None)
    return reason or f"is damaged: {message[:200]}. {_UNKNOWN_ADVICE}"


class TranslatedFaults:
    """Context that raises InvalidInput for the errors of a damaged archive of the kind `name`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, _FAULTS):
            raise InvalidInput("damaged_file", f"The {self._name} file {describe_fault(error)}") from error
