"""Workbooks that crash or overfill their reader are refused before it opens them."""

import io
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.computations.uploads import workbook_parts
from app.computations.uploads.compound_file import check_compound
from app.computations.uploads.file_kinds import unpack
from app.computations.uploads.worksheet_extent import MAX_CELLS, Extent
from app.errors import InvalidInput, TooLarge

END, FREE, FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def compound(
    fat: dict[int, int],
    directory: int = 1,
    stream: tuple[int, int] = (2, 600),
    shift: int = 9,
    sectors: int = 8,
) -> bytes:
    """A compound file with its table in sector 0, a directory with one stream, and `sectors` sectors."""
    header = bytearray(512)
    header[:8] = bytes.fromhex("d0cf11e0a1b11ae1")
    struct.pack_into("<HHHHH", header, 24, 0x3E, 3, 0xFFFE, shift, 6)
    struct.pack_into("<IIIIIIII", header, 44, 1, directory, 0, 4096, END, 0, END, 0)
    struct.pack_into("<109I", header, 76, 0, *[FREE] * 108)
    table = [fat.get(place, FREE) for place in range(128)]
    entry = bytearray(512)
    entry[66] = 2
    struct.pack_into("<IQ", entry, 116, *stream)
    body = struct.pack("<128I", *table) + bytes(entry)
    return bytes(header) + body.ljust(512 * sectors, b"\0")


GOOD = {0: FAT, 1: END, 2: 3, 3: END}


def checked(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "book.xls").write_bytes(content)
    check_compound(tmp_path / "book.xls")


def test_a_sound_file_passes(tmp_path: Path) -> None:
    checked(tmp_path, compound(GOOD, stream=(2, 4096), sectors=16))


@pytest.mark.parametrize(
    "content",
    [
        compound(GOOD)[:300],
        compound(GOOD)[:512],
        compound(GOOD, shift=63),
        compound({**GOOD, 1: 1}),
        compound({**GOOD, 4: 5, 5: 6, 6: 4}),
        compound({**GOOD, 3: 2}),
        compound({**GOOD, 4: 3}),
        compound({**GOOD, 3: 4_000_000}),
        compound(GOOD, directory=4_000_000),
        compound(GOOD, stream=(2, 1 << 31)),
        compound(GOOD, stream=(2, 100)),
        compound({**GOOD, 3: 120}),
    ],
)
def test_a_file_whose_chains_are_broken_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidInput, match="damaged"):
        checked(tmp_path, content)


def feed(text: bytes, piece_bytes: int) -> None:
    extent = Extent()
    for at in range(0, len(text), piece_bytes):
        extent.feed(text[at : at + piece_bytes])


def sheet(*references: str) -> bytes:
    return "".join(f'<row><c r="{each}"><v>1</v></c></row>' for each in references).encode()


@pytest.mark.parametrize(
    "references", [("A1", "XFD1048576"), ("A1", "ZZZZZZ2"), ("B2", "A99999999999999999999")]
)
@pytest.mark.parametrize("piece_bytes", [7, 1 << 20])
def test_cells_that_are_far_apart_are_refused(references: tuple[str, ...], piece_bytes: int) -> None:
    with pytest.raises(TooLarge, match="span"):
        feed(sheet(*references), piece_bytes)


@pytest.mark.parametrize("reference", ["r='{}'", 'r = "{}"', "r\n=\t'{}'"])
def test_references_are_read_however_xml_spells_them(reference: str) -> None:
    text = sheet("A1", "XFD1048576").decode()
    for cell in ("A1", "XFD1048576"):
        text = text.replace(f'r="{cell}"', reference.format(cell))
    with pytest.raises(TooLarge, match="span"):
        feed(text.encode(), 1 << 20)


def test_a_worksheet_is_measured_whatever_its_part_is_called(tmp_path: Path) -> None:
    upload = tmp_path / "upload"
    with zipfile.ZipFile(upload, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/data.bin", sheet("A1", "XFD1048576"))
    with pytest.raises(TooLarge, match="span"):
        unpack(upload, tmp_path, 8 << 30)


def test_a_table_far_from_the_first_cell_is_read() -> None:
    Extent().feed(sheet("XFA1048000", "XFD1048576"))
    Extent().feed(sheet("A1", f"A{MAX_CELLS // 20}", "T1"))


def workbook(sheets: int, parts: Sequence[bytes]) -> bytes:
    """A workbook of `sheets` sheets, the last of which are all its last part."""
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        names = "".join(f'<sheet name="S{n}" sheetId="{n + 1}" r:id="r{n}"/>' for n in range(sheets))
        archive.writestr("xl/workbook.xml", f'<workbook xmlns:r="r"><sheets>{names}</sheets></workbook>')
        targets = "".join(
            f'<Relationship Id="r{n}" Type="{relation}" Target="worksheets/sheet{min(n, len(parts) - 1)}.xml"/>'
            for n in range(sheets)
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{targets}</Relationships>")
        for n, part in enumerate(parts):
            archive.writestr(f"xl/worksheets/sheet{n}.xml", part)
    return file.getvalue()


def test_sheets_that_are_one_part_are_refused_before_it_is_read_for_each(tmp_path: Path) -> None:
    upload = tmp_path / "upload"
    upload.write_bytes(workbook(40, [sheet("A1", "B2"), sheet("A1", "B2")]))
    with pytest.raises(InvalidInput, match="39 sheets of the Excel file are one part"):
        unpack(upload, tmp_path, 8 << 30)
    upload.write_bytes(workbook(40, [sheet("A1", "B2")] * 40))
    assert unpack(upload, tmp_path, 8 << 30).kind == "excel"


def test_many_sheets_of_stray_cells_are_refused_together(tmp_path: Path) -> None:
    upload = tmp_path / "upload"
    upload.write_bytes(workbook(3, [sheet("A1", f"A{MAX_CELLS // 20}", "T1")] * 3))
    with pytest.raises(TooLarge, match="together"):
        unpack(upload, tmp_path, 8 << 30)


def test_a_list_of_sheets_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook_parts, "MAX_LIST_BYTES", 1_000)
    (tmp_path / "upload").write_bytes(workbook(40, [sheet("A1")] * 40))
    with pytest.raises(InvalidInput, match="list of sheets is longer"):
        unpack(tmp_path / "upload", tmp_path, 8 << 30)
