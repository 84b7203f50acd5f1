"""Parts of a workbook that its sheets are: many sheets may be one part, which is read for each of them."""

import posixpath
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from xml.etree.ElementTree import Element, ParseError, iterparse

from app.errors import InvalidInput

MAX_LIST_BYTES = 8 << 20
"""Bytes of the lists of sheets and of their parts: about 50,000 sheets, parsed in 0.3 s."""
_WORKBOOKS = ("xl/workbook.xml", "xl/workbook.bin")


def refuse_shared_parts(archive: zipfile.ZipFile) -> None:
    """Raise InvalidInput `damaged_file` where several sheets are one part.

    No program writes such a workbook, and a small part that a thousand sheets name takes minutes to read.
    """
    members = set(archive.namelist())
    for workbook in _WORKBOOKS:
        folder, name = posixpath.split(workbook)
        relations = f"{folder}/_rels/{name}.rels"
        if workbook not in members or relations not in members:
            continue
        parts = {
            _attribute(element, "Id"): _part(folder, _attribute(element, "Target"))
            for element in _elements(archive, relations, "Relationship")
            if _attribute(element, "Type").endswith("/worksheet")
        }
        sheets = (
            [_attribute(element, "id") for element in _elements(archive, workbook, "sheet")]
            if workbook.endswith(".xml")
            # A binary list of sheets names each relation once, unless it was made to harm.
            else list(parts)
        )
        counts = Counter(parts[sheet] for sheet in sheets if sheet in parts)
        shared = sum(count > 1 for count in counts.values())
        if shared:
            raise InvalidInput(
                "damaged_file",
                f"{max(counts.values()):,} sheets of the Excel file are one part of it, which no program"
                " writes: open it in Excel and save it again.",
            )


def _part(folder: str, target: str) -> str:
    """Name of a part from the target of a relation, which is relative to the folder or absolute."""
    return posixpath.normpath(posixpath.join("/", folder, target)).lower()


def _attribute(element: Element, name: str) -> str:
    """Value of an attribute, with or without a namespace."""
    values = (value for key, value in element.attrib.items() if key.rpartition("}")[2] == name)
    return next(values, "")


def _elements(archive: zipfile.ZipFile, name: str, tag: str) -> Iterator[Element]:
    """Yield the elements of a tag in a member; of a member that is no XML, those before its fault."""
    # A member is read up to its declared size, whatever it unpacks to.
    if archive.getinfo(name).file_size > MAX_LIST_BYTES:
        raise InvalidInput(
            "damaged_file",
            f"The Excel file's list of sheets is longer than {MAX_LIST_BYTES >> 20} MiB: send the sheets that"
            " are tables as a workbook of their own.",
        )
    with archive.open(name) as source, suppress(ParseError):  # the reader of workbooks reports it
        for _, element in iterparse(source):  # noqa: S314 - expat bounds what entities expand to
            if element.tag.rpartition("}")[2] == tag:
                yield element
            element.clear()
