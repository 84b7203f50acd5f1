"""File kinds, detected by their first bytes, and decompression."""

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from app.computations.uploads.archive_faults import TranslatedFaults
from app.computations.uploads.expansion_limits import Expansion
from app.computations.uploads.foreign_files import get_single_member, refuse_documents, refuse_foreign
from app.computations.uploads.workbook_parts import refuse_shared_parts
from app.computations.uploads.worksheet_extent import Extent, check_all_cells
from app.errors import InvalidInput

_PIECE = 1 << 20
"""Bytes read at a time: little memory, and few calls."""
MAX_DIRECTORY_BYTES = 4 << 20
"""Bytes of a zip archive's list of files: about 40,000 names, which take 40 MB as Python objects."""
_MAX_END_BYTES = (64 << 10) + 22
"""Bytes of the end record of a zip archive, with the longest comment that the format allows."""
_ACCEPTED = (
    "CSV or TSV, Parquet, Feather, Excel, JSON or JSON Lines, each also compressed with gzip, zstd, bzip2 or xz"
)


@dataclass(frozen=True)
class Plain:
    """A file without its compression: `kind` is `text`, `parquet`, `feather` or `excel`."""

    path: Path
    kind: str
    compression: str | None = None


def _open_zstd(path: Path) -> IO[bytes]:
    return cast(IO[bytes], pa.CompressedInputStream(pa.OSFile(str(path)), "zstd"))


_Opener = Callable[[Path], IO[bytes]]
_COMPRESSIONS: tuple[tuple[bytes, str, _Opener], ...] = (
    (b"\x1f\x8b", "gzip", cast(_Opener, gzip.open)),
    (b"\x28\xb5\x2f\xfd", "zstd", _open_zstd),
    (b"BZh", "bzip2", cast(_Opener, bz2.open)),
    (b"\xfd7zXZ\x00", "xz", cast(_Opener, lzma.open)),
)
_KINDS = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
    (b"PK\x03\x04", "zip"),
)
_EXCEL_PARTS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
_FIRST_WORKBOOK_PARTS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", b"mimetype")
"""Names that begin a workbook, by the programs that write them."""


def unpack(path: Path, work: Path, expanded_bytes: int) -> Plain:
    """Return the plain file of an upload, in `work` if it had to be unpacked.

    Raises InvalidInput for an empty or damaged file or one that is no table; TooLarge when it unpacks to more
    than `Expansion` allows, as soon as it does.
    """
    plain = _unpack(path, work, expanded_bytes)
    if plain.kind == "text":
        refuse_foreign(plain.path)
    return plain


def _unpack(path: Path, work: Path, expanded_bytes: int) -> Plain:
    expansion = Expansion(path, work, expanded_bytes)
    head = _head(path)
    if not head:
        raise InvalidInput("empty_file", "The file is empty.")
    for magic, name, opener in _COMPRESSIONS:
        if head.startswith(magic):
            return _unpack_stream(path, name, opener, work, expansion)
    if _kind(head) == "zip":
        return _unpack_zip(path, work, expansion)
    return Plain(path, _kind(head))


def not_a_table() -> InvalidInput:
    return InvalidInput("not_a_table", f"The file is not a table that can be read. Send {_ACCEPTED}.")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def _kind(head: bytes) -> str:
    return next((kind for magic, kind in _KINDS if head.startswith(magic)), "text")


def _unpack_stream(path: Path, name: str, opener: _Opener, work: Path, expansion: Expansion) -> Plain:
    target = work / "unpacked"
    with TranslatedFaults(name), opener(path) as source:
        _copy(source, target, expansion)
    head = _head(target)
    # Layers would multiply what a small upload unpacks to.
    if any(head.startswith(magic) for magic, _, _ in _COMPRESSIONS):
        raise InvalidInput("nested_archive", "The file is compressed twice; unpack it once and send that.")
    if not head:
        raise InvalidInput("empty_file", f"The {name} file has nothing in it.")
    if _kind(head) == "zip":
        inner = _unpack_zip(target, work, expansion)
        return Plain(inner.path, inner.kind, name)
    return Plain(target, _kind(head), name)


def _unpack_zip(path: Path, work: Path, expansion: Expansion) -> Plain:
    name = "Excel" if _begins_as_workbook(path) else "zip"
    with TranslatedFaults(name):
        # Before `ZipFile`, which reads the whole list of files.
        _check_directory(path)
    with TranslatedFaults(name), zipfile.ZipFile(path) as archive:
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        # A workbook is a zip too, and is read as it is.
        if any(part in names for part in _EXCEL_PARTS):
            _measure(archive, expansion)
            refuse_shared_parts(archive)
            return Plain(path, "excel")
        refuse_documents(names)
        target = work / "unzipped"
        with archive.open(get_single_member(archive)) as source:
            _copy(source, target, expansion)
    kind = _kind(_head(target))
    if kind == "zip":
        raise InvalidInput("nested_archive", "The zip archive holds an archive; send the table itself.")
    return Plain(target, kind, "zip")


def _begins_as_workbook(path: Path) -> bool:
    """Tell a workbook by its first member, which is readable where the end of the file is not."""
    with path.open("rb") as file:
        first_member = file.read(64)[30:]
    return first_member.startswith(_FIRST_WORKBOOK_PARTS)


def _check_directory(path: Path) -> None:
    """Refuse a zip whose directory is so long that reading it takes the memory of the cell."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MAX_END_BYTES))
        tail = file.read()
    # The last one: a comment or a file may hold the same bytes.
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise zipfile.BadZipFile("it has no directory")
    directory_bytes = int.from_bytes(tail[end + 12 : end + 16], "little")
    if directory_bytes > MAX_DIRECTORY_BYTES:
        raise InvalidInput(
            "archive_of_files",
            f"The zip archive's list of files is longer than {MAX_DIRECTORY_BYTES:,} bytes; send one table.",
        )


def _measure(archive: zipfile.ZipFile, expansion: Expansion) -> None:
    """Refuse a workbook by its declared sizes, then by its real ones: declared sizes may be wrong."""
    declared_bytes = sum(entry.file_size for entry in archive.infolist())
    expansion.measure(declared_bytes)
    # Only a check: the real sizes are counted below.
    expansion.measure(-declared_bytes)
    cells = 0
    for entry in archive.infolist():
        # Each member: its relations tell the reader which of them are worksheets, and they may have any name.
        extent = Extent()
        with archive.open(entry) as source:
            while piece := source.read(_PIECE):
                expansion.measure(len(piece))
                extent.feed(piece)
        cells += extent.cells
        check_all_cells(cells)


def _copy(source: IO[bytes], target: Path, expansion: Expansion) -> None:
    with target.open("wb") as file:
        while piece := source.read(_PIECE):
            expansion.take(len(piece))
            file.write(piece)
