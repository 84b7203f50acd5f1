"""Tables as files, and the tables that uploads of them become."""

import csv
import io
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest

Rows = list[list[Any]]
TREES: Rows = [[f"tree {n}", n * 3 % 17, n * 1.5] for n in range(1, 31)]


def upload(folder: Path, content: bytes, filename: str = "table.csv") -> tuple[pd.DataFrame, list[str]]:
    folder.mkdir(exist_ok=True)
    (folder / "upload").write_bytes(content)
    facts: Any = ingest(CellWorkspace({"upload": folder / "upload"}, folder), filename)
    return pd.read_parquet(folder / "table.parquet"), facts["format"]["notes"]


def as_csv(rows: Rows, delimiter: str = ",", newline: str = "\n") -> bytes:
    target = io.StringIO(newline="")
    csv.writer(target, delimiter=delimiter, lineterminator=newline).writerows(rows)
    return target.getvalue().encode()


def as_workbook(*sheets: tuple[str, Rows], hidden: str = "") -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        sheet.sheet_state = "hidden" if name == hidden else "visible"
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()
