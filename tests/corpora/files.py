"""Delimited files of the corpora of cells and series: their format and their raw cells."""

import csv
import io
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field
from tests.corpora.tables import StrictModel


class FileFormat(StrictModel):
    """Form of a delimited file, quoted with double quotes where a cell needs it.

    `preamble` lines stand before the header, `units_rows` lines between the header and the first row, and
    `footer` lines (totals, notes, empty lines) after the last row.
    """

    encoding: Literal["utf-8", "utf-8-sig", "cp1252", "utf-16"] = "utf-8"
    delimiter: Literal[",", ";", "\t", "|"] = ","
    preamble: int = Field(default=0, ge=0)
    units_rows: int = Field(default=0, ge=0)
    footer: int = Field(default=0, ge=0)


class RawTable(NamedTuple):
    """Header and rows of a file as texts; row 1 of a judgement is `rows[0]`."""

    header: list[str]
    rows: list[list[str]]


def read_raw_table(path: Path, form: FileFormat) -> RawTable:
    """Texts of a file, nothing converted or trimmed; raise ValueError where rows differ in width."""
    lines = path.read_bytes().decode(form.encoding).splitlines(keepends=True)
    stop = len(lines) - form.footer
    reader = csv.reader(io.StringIO("".join(lines[form.preamble : stop]), newline=""), delimiter=form.delimiter)
    header, *rows = list(reader)
    rows = rows[form.units_rows :]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise ValueError(f"{path.name}: row {number} has {len(row)} cells, the header {len(header)}")
    return RawTable(header, rows)
