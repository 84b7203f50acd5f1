"""Check of the structure of a compound file (.xls), before a reader follows it.

The file is a small file system: chains of sectors, linked by a table (FAT). The reader trusts it: a chain that
returns to itself fills the memory, and a number beyond the file crashes it. Format: Microsoft's [MS-CFB].
"""

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from app.errors import InvalidInput

_HEADER_BYTES = 512
_SPECIAL = 0xFFFFFFFA
"""Sector numbers from here on are marks: end of chain, free, part of a table."""
_OTHER_DOCUMENTS = {"WordDocument": "a Word document", "PowerPoint Document": "a PowerPoint presentation"}
"""Stream of a document of another program, and what that is."""
_ENTRY_BYTES = 128
_HEADER_TABLES = 109
"""Numbers of FAT sectors that the header itself holds."""


def check_compound(path: Path) -> None:
    """Raise InvalidInput `damaged_file` where a chain leaves the file or returns to itself."""
    data = np.memmap(path, dtype="u1", mode="r")
    if len(data) < _HEADER_BYTES:
        raise _damaged("it is cut short")
    header = bytes(data[:_HEADER_BYTES])
    version, _, shift, mini_shift = struct.unpack_from("<HHHH", header, 26)
    if (version, shift) not in ((3, 9), (4, 12)) or mini_shift != 6:
        raise _damaged("its sectors have no size that the format knows")
    file = _Sectors(data, 1 << shift)
    directory, _, _, mini_first, _, difat_first, _ = struct.unpack_from("<7I", header, 48)
    fat = file.tables(_fat_sectors(file, header, difat_first))
    _check_chains(fat, file.count)
    entries = b"".join(file.read(sector) for sector in _chain(fat, directory))
    _refuse_others(entries)
    # Where no stream is small, writers leave any number here: only chains that are used are checked.
    mini = file.tables(_chain(fat, mini_first)) if mini_first < len(fat) else fat[:0]
    _check_entries(entries, version, fat, mini, file)


def _refuse_others(entries: bytes) -> None:
    """Refuse workbooks with a password and other documents, by the names of their streams."""
    if _stream_name("EncryptedPackage") in entries:
        raise InvalidInput(
            "damaged_file",
            "The Excel file is locked with a password: save it without one in Excel, and send that.",
        )
    for stream, kind in _OTHER_DOCUMENTS.items():
        if _stream_name(stream) in entries:
            raise InvalidInput(
                "not_a_table",
                f"The file is {kind}, and no table that can be read. Copy its table to a spreadsheet, and send"
                " that.",
            )


def _stream_name(name: str) -> bytes:
    return name.encode("utf-16-le") + b"\0\0"


class _Sectors:
    def __init__(self, data: np.ndarray, size_bytes: int) -> None:
        self._data = data
        self._size_bytes = size_bytes
        self.count = max(0, -(-len(data) // size_bytes) - 1)
        self.file_bytes = len(data)

    def read(self, sector: int) -> bytes:
        """The bytes of a sector; the last may be shorter."""
        if sector >= self.count:
            raise _damaged(f"it names sector {sector} of {self.count}")
        start = (sector + 1) * self._size_bytes
        return bytes(self._data[start : start + self._size_bytes])

    def tables(self, sectors: Iterator[int]) -> np.ndarray:
        """The sector numbers in these sectors."""
        raw = b"".join(self.read(sector) for sector in sectors)
        return np.frombuffer(raw[: len(raw) // 4 * 4], dtype="<u4")


def _fat_sectors(file: _Sectors, header: bytes, first: int) -> Iterator[int]:
    yield from _used(np.frombuffer(header, dtype="<u4", count=_HEADER_TABLES, offset=76))
    passed: set[int] = set()
    while first < _SPECIAL:
        if first in passed:
            raise _damaged("its list of tables returns to itself")
        passed.add(first)
        numbers = file.tables(iter([first]))
        yield from _used(numbers[:-1])
        first = int(numbers[-1]) if len(numbers) else _SPECIAL


def _used(numbers: np.ndarray) -> Iterator[int]:
    return (int(number) for number in numbers if number < _SPECIAL)


def _check_chains(table: np.ndarray, count: int) -> None:
    """Check that each sector follows at most one other, and that no chain is a circle."""
    following = table[table < _SPECIAL]
    if len(following) and int(following.max()) >= max(count, 1):
        raise _damaged("a chain of sectors leaves the file")
    if len(np.unique(following)) != len(following):
        raise _damaged("two chains of sectors share a sector")
    # Chains without common sectors are lines, which have a first sector, or circles, which have none.
    visited = np.zeros(len(table), dtype=bool)
    begins = np.setdiff1d(np.flatnonzero(table < _SPECIAL), following)
    while len(begins):
        visited[begins] = True
        nexts = table[begins]
        begins = nexts[nexts < min(_SPECIAL, len(table))]
    if not visited[np.flatnonzero(table < _SPECIAL)].all():
        raise _damaged("a chain of sectors returns to itself")


def _chain(table: np.ndarray, sector: int) -> Iterator[int]:
    steps = 0
    while sector < _SPECIAL:
        yield sector
        steps += 1
        if steps > len(table):
            raise _damaged("a chain of sectors returns to itself")
        if sector >= len(table):
            raise _damaged("a chain of sectors leaves the table")
        sector = int(table[sector])


def _check_entries(entries: bytes, version: int, fat: np.ndarray, mini: np.ndarray, file: _Sectors) -> None:
    for start in range(0, len(entries) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
        kind = entries[start + 66]
        first, size_bytes = struct.unpack_from("<IQ", entries, start + 116)
        # Version 3 has sizes of 32 bits, and leaves the upper half undefined.
        size_bytes = size_bytes if version == 4 else size_bytes & 0xFFFFFFFF
        if kind in (2, 5) and size_bytes > file.file_bytes:
            raise _damaged("a stream is longer than the file")
        # Shorter streams lie in the mini stream, which has a table of its own.
        is_mini = kind == 2 and size_bytes < 4096
        if kind == 2 and size_bytes and first < _SPECIAL:
            for _ in _chain(mini if is_mini else fat, first):
                pass  # the end is reached, or it raises


def _damaged(reason: str) -> InvalidInput:
    return InvalidInput(
        "damaged_file", f"The Excel file is damaged: {reason}. Open it in Excel and save it again."
    )
