"""The longest text of a JSON file, measured before a reader looks for times in it."""

from pathlib import Path

from app.errors import TooLarge

MAX_TEXT_BYTES = 8 << 20
"""Bytes of one text: the reader tries each of its formats of times on it, in a second."""
_PIECE_BYTES = 1 << 20
"""Bytes that are searched at a time: only pieces without a quotation mark are parts of a long text."""


def check_text_length(path: Path) -> None:
    """Raise TooLarge for a text, or a name, that is longer than MAX_TEXT_BYTES."""
    is_inside = is_escaped = False
    length = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            # A mark behind an escape is none; a mask of two letters keeps the places of the others.
            text = (b"\\" if is_escaped else b"") + piece
            text = text.replace(b"\\\\", b"--")
            is_escaped = text.endswith(b"\\")
            text = text.replace(b'\\"', b"--")
            first = text.find(b'"')
            if first < 0:
                length += len(piece) if is_inside else 0
            else:
                _check(length + first if is_inside else 0)
                is_inside ^= text.count(b'"') % 2 == 1
                length = len(text) - text.rfind(b'"') - 1 if is_inside else 0
            _check(length)


def _check(length_bytes: int) -> None:
    if length_bytes > MAX_TEXT_BYTES:
        raise TooLarge(
            "text_too_long",
            f"A text of the JSON file is longer than {MAX_TEXT_BYTES >> 20} MiB: leave out what is no value"
            " of a table, such as pictures and complete documents.",
            limit=MAX_TEXT_BYTES,
        )
