"""Conversion of text of any encoding to UTF-8 without byte order mark and NULs."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from charset_normalizer import from_bytes

from app.computations.uploads.file_kinds import not_a_table

_PIECE = 4 << 20
"""Bytes read at a time, also of a line that never ends."""
_HEAD = 64 << 10
"""Bytes by which an encoding is recognised: enough text, without reading the file twice."""
MIN_TEXT_SHARE = 0.5
"""Share of bytes that are no NUL from which a file is a text: binary files have more of them, and controls."""
_MIN_FOREIGN_BYTES = 40
"""Bytes outside ASCII: fewer do not identify an encoding."""

# UTF-32's mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DENSE = ["cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp932", "gb18030", "big5", "euc_kr", "euc_jp"]
_OLD = ("cp850", "mac_roman")
_INSIDE_WORD = re.compile(r"(?<=[A-Za-z])([^\x00-\x7f])(?=[a-z])")
_LETTER_WEIGHTS = dict.fromkeys("éèêàáâãäåæçîíñóôõöøœúüß\u2019", 1.0) | dict.fromkeys("ëìïòùûýÿ", 0.6)
"""Lower-case letters inside words of Western languages, and the apostrophe; rare ones weigh less."""
MIN_INSIDE = 3
"""Characters outside ASCII inside words by which a code page is recognised."""
MAX_WRONG_SHARE = 0.3
"""Share of letters among them up to which a code page is wrong: `M\u0178ller`, `K\u201dln`."""
MIN_RIGHT_SHARE = 0.85
"""Share of letters among them from which a code page is right."""
MIN_LEAD_SHARE = 0.1
"""Difference between the shares of two code pages from which the better one is right."""
_ODD_CONTROLS = bytes(n for n in range(1, 32) if n not in b"\t\n\r\x0b\x0c\x1a\x1b\x1c\x1d\x1e\x1f")


@dataclass(frozen=True)
class Text:
    """A UTF-8 file; `encoding` is the original one, `notes` name repairs."""

    path: Path
    encoding: str
    notes: tuple[str, ...] = ()


def as_utf8(path: Path, work: Path) -> Text:
    """Convert a text to UTF-8; return the file itself if it is UTF-8. Raises InvalidInput for binary files."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    marked = next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)
    encoding = marked or _wide(head)
    if encoding is None:
        _refuse_binary(head)
        damage = _utf8_damage(path)
        if damage is None:
            return Text(path, "utf-8")
        encoding = "utf-8" if damage == "nul" else _eight_bit(path)
    return _transcode(path, work / "text", encoding)


def _wide(head: bytes) -> str | None:
    """Detect UTF-16 without a mark: Western text has a NUL in every second place."""
    # UTF-16 has an even number of bytes; only a cut head may end within a character.
    if len(head) < 4 or (len(head) % 2 and len(head) < _HEAD):
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > half * 0.6 and even < half * 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.6 and odd < half * 0.05 else None


def _refuse_binary(head: bytes) -> None:
    # NULs stand in texts too: in place of missing letters, or where a disk was not written.
    text = head.replace(b"\x00", b"")
    odd = len(text) - len(text.translate(None, _ODD_CONTROLS))
    # A few control characters stand in texts of old systems.
    if odd > max(2, len(text) * 0.02) or len(text) < len(head) * MIN_TEXT_SHARE:
        raise not_a_table()


def _utf8_damage(path: Path) -> str | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    nul = False
    try:
        for piece in _pieces(path):
            decoder.decode(piece)
            nul = nul or b"\x00" in piece
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "bytes"
    return "nul" if nul else None


def _eight_bit(path: Path) -> str:
    """Guess the encoding of text that is not UTF-8, from its lines that are not ASCII."""
    sample = _foreign_lines(path)
    foreign = sum(byte > 127 for byte in sample)
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 128)
    # Western languages have few letters outside ASCII; where many stand, the text is of another script.
    if foreign >= _MIN_FOREIGN_BYTES and foreign > (foreign + letters) * 0.4:
        guess = from_bytes(sample, cp_isolation=_DENSE).best()
        if guess and _decodes(path, guess.encoding):
            return guess.encoding
    if (other := _dos_or_mac(sample)) and _decodes(path, other):
        return other
    # Latin-1 has a character for every byte, so that it never fails.
    return "cp1252" if _decodes(path, "cp1252") else "latin-1"


def _dos_or_mac(sample: bytes) -> str | None:
    """The code page of DOS or of old Macs, where it makes letters of what stands as signs inside words."""
    shares = {encoding: _letter_share(sample.decode(encoding, "replace")) for encoding in ("cp1252", *_OLD)}
    other, best = sorted(_OLD, key=lambda encoding: shares[encoding])
    is_clear = shares["cp1252"] <= MAX_WRONG_SHARE and shares[best] >= MIN_RIGHT_SHARE
    return best if is_clear and shares[best] >= shares[other] + MIN_LEAD_SHARE else None


def _letter_share(text: str) -> float:
    """Share of the characters outside ASCII inside words that are letters of Western languages."""
    inside = [match[1] for match in _INSIDE_WORD.finditer(text)]
    weights = [_LETTER_WEIGHTS.get(mark, 0.0) for mark in inside]
    return sum(weights) / len(weights) if len(weights) >= MIN_INSIDE else 0.5


def _foreign_lines(path: Path) -> bytes:
    sample = bytearray()
    with path.open("rb") as file:
        for line in iter(lambda: file.readline(_PIECE), b""):
            if not line.isascii():
                # One long line must not fill the sample.
                sample += line[:4096]
            if len(sample) > _HEAD:
                break
    return bytes(sample)


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in _pieces(path):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _transcode(path: Path, target: Path, encoding: str) -> Text:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    nuls = broken = 0
    with target.open("w", encoding="utf-8", newline="") as file:
        for piece in _pieces_then_end(path):
            text = decoder.decode(piece, final=not piece)
            nuls += text.count("\x00")
            broken += text.count("\ufffd")
            file.write(text.replace("\x00", ""))
    notes = []
    if encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"The text was read as {encoding}.")
    if nuls:
        notes.append(f"{nuls:,} NUL characters were removed.")
    if broken:
        notes.append(f"{broken:,} characters could not be read and are shown as \ufffd.")
    return Text(target, encoding, tuple(notes))


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _pieces_then_end(path: Path) -> Iterator[bytes]:
    yield from _pieces(path)
    yield b""
