"""Titles, units, totals and notes of delimited files are no rows; rows that resemble them are."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest

ROWS = [f"{n},{name},{n * 1.5:.2f}" for n, name in enumerate(("oak", "ash", "elm", "fir", "yew"), start=1)]
TABLE = "\n".join(["id,name,height", *ROWS]) + "\n"


def upload(folder: Path, content: str) -> tuple[pd.DataFrame, list[str]]:
    folder.mkdir(exist_ok=True)
    (folder / "upload.csv").write_text(content, encoding="utf-8")
    facts: Any = ingest(CellWorkspace({"upload": folder / "upload.csv"}, folder), "upload.csv")
    return pd.read_parquet(folder / "table.parquet"), facts["format"]["notes"]


SIDE_ROWS = {
    "a title": "Trees of the park\n" + TABLE,
    "names and values": "Park;1\nPeriod;2024\n\n".replace(";", ",") + TABLE,
    "a padded title": "Trees of the park,,\n,,\n" + TABLE,
    "units": TABLE.replace("height\n", "height\n,,m\n"),
    "units in parentheses": TABLE.replace("height\n", "height\n,,(m)\n"),
    "a total": TABLE + "Total,,22.50\n",
    "a note": TABLE + "Source: survey of 2024\n",
    "a note with its own commas, and a blank line": TABLE + "\nNote: measured, not estimated\n",
    "a padded note": TABLE + ",,\n* revised,,\n",
    "a total and a note": TABLE + "Summe,,22.50\nStand: 2024\n",
}


@pytest.mark.parametrize("case", SIDE_ROWS)
def test_lines_that_are_no_rows_are_left_out(case: str, tmp_path: Path) -> None:
    plain, _ = upload(tmp_path / "plain", TABLE)
    table, notes = upload(tmp_path / "file", SIDE_ROWS[case])
    pd.testing.assert_frame_equal(table, plain)
    if not case.startswith(("a title", "names", "a padded title")):
        assert notes


KEPT = {
    "a category of totals": "sex,year,count\n"
    + "".join(f"{s},{y},{y}\n" for y in range(9) for s in ("m", "Total")),
    "a last row with gaps": TABLE + "6,,\n",
    "a column of units": "id,unit,amount\n1,kg,2\n2,g,3\n3,kg,4\n4,g,5\n",
    "currency codes": "id,currency,rate\n1,eur,usd\n2,usd,chf\n3,chf,gbp\n4,gbp,eur\n",
    "two columns": "name,value\nsource,1\nnote,2\ntotal,3\n",
}


@pytest.mark.parametrize("case", KEPT)
def test_rows_that_resemble_notes_totals_and_units_are_kept(case: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", KEPT[case])
    assert len(table) == len(KEPT[case].splitlines()) - 1


def test_a_footer_of_a_long_file_is_left_out(tmp_path: Path) -> None:
    rows = "".join(f"{n},name {n % 50},{n}\n" for n in range(150_000))
    table, notes = upload(tmp_path / "file", f"id,name,value\n{rows}Total,,11249925000\n")
    assert len(table) == 150_000
    assert table["id"].iloc[-1] == 149_999
    assert any("Total" in note for note in notes)
