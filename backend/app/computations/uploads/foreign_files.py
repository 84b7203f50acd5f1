"""Files of other programs, recognised by bytes that their formats prescribe, and what to do with each."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from app.errors import InvalidInput

_HEAD_BYTES = 512
"""Bytes that are looked at: a tar archive names itself behind the first 257."""
_EXPORT = "Export its table as CSV or Parquet, and send that."
_UNPACK = "Unpack it, and send one table."
_SPREADSHEET = "Copy its table to a spreadsheet, and send that."
_FORMATS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"%PDF", "a PDF document", _SPREADSHEET),
    (0, b"\x89PNG", "a picture", "Type its table into a spreadsheet, and send that."),
    (0, b"\xff\xd8\xff", "a picture", "Type its table into a spreadsheet, and send that."),
    (0, b"{\\rtf", "a text document", _SPREADSHEET),
    (0, b"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (0, b"\x00\x01\x00\x00Standard ", "an Access database", _EXPORT),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (0, b"<stata_dta>", "a Stata file", _EXPORT),
    (0, b"$FL2", "an SPSS file", _EXPORT),
    (12, b"\xc2\xea\x81\x60\xb3\x14\x11\xcf", "a SAS file", _EXPORT),
    (0, b"RDX2\n", "an R data file", _EXPORT),
    (0, b"RDX3\n", "an R data file", _EXPORT),
    (0, b"\x80\x03", "a Python pickle", _EXPORT),
    (0, b"\x80\x04\x95", "a Python pickle", _EXPORT),
    (0, b"\x80\x05\x95", "a Python pickle", _EXPORT),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (
        0,
        b"version https://git-lfs.github.com/spec/",
        "a pointer of Git LFS, not the file itself",
        "Get the file with `git lfs pull`, and send that.",
    ),
)
"""Place of the bytes, bytes, what the file is, and what to do."""
_DOCUMENT_PARTS = {
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint presentation",
    "Index/Document.iwa": "a document of Numbers, Pages or Keynote",
}
_HIDDEN_NAMES = {"thumbs.db", "desktop.ini"}
"""Files that Windows adds to folders, in lower case."""
MAX_SHOWN_MEMBERS = 5
"""Names of an archive's files in a message."""


def refuse_foreign(path: Path) -> None:
    """Raise InvalidInput `not_a_table` for a file that another program's format begins."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    for place, mark, kind, advice in _FORMATS:
        if head[place:].startswith(mark):
            raise InvalidInput("not_a_table", f"The file is {kind}, and no table that can be read. {advice}")


def refuse_documents(names: Sequence[str]) -> None:
    """Raise InvalidInput `not_a_table` for the parts of a document, which are a zip archive too."""
    kind = next((kind for part, kind in _DOCUMENT_PARTS.items() if part in names), None)
    if kind:
        raise InvalidInput("not_a_table", f"The file is {kind}, and no table that can be read. {_SPREADSHEET}")


def get_single_member(archive: zipfile.ZipFile) -> str:
    """Name of the only file of an archive; those that systems add do not count.

    Raises InvalidInput `archive_of_files` for several.
    """
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    names = [name for name in names if not _is_hidden(name)]
    if len(names) == 1:
        return names[0]
    rest = f" and {len(names) - MAX_SHOWN_MEMBERS:,} more" if len(names) > MAX_SHOWN_MEMBERS else ""
    listing = f" ({', '.join(name[:60] for name in names[:MAX_SHOWN_MEMBERS])}{rest})" if names else ""
    raise InvalidInput(
        "archive_of_files",
        f"The zip archive holds {len(names):,} files{listing}; send one table at a time.",
        files=names[:20],
    )


def _is_hidden(name: str) -> bool:
    """Test for the facts that macOS adds to each archive, and for hidden files."""
    base_name = name.rpartition("/")[2]
    return name.startswith("__MACOSX/") or base_name.startswith(".") or base_name.casefold() in _HIDDEN_NAMES
