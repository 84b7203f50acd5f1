"""Names of columns in a comment are the header where the rows have none."""

from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import upload

HEADS = {
    "commas": ("# run 5\n# x,y,z\n", ","),
    "spaces": ("# step energy force\n", " "),
    "no space behind the mark": ("#x,y,z\n", ","),
}


@pytest.mark.parametrize("case", HEADS)
def test_the_last_comment_names_the_columns(case: str, tmp_path: Path) -> None:
    head, mark = HEADS[case]
    lines = [mark.join(map(str, (n, n / 2, n * 3))) for n in range(20)]
    table, notes = upload(tmp_path / "file", (head + "\n".join(lines)).encode())
    assert list(table.columns) == head.splitlines()[-1].lstrip("# ").split(mark)
    assert len(table) == 20
    assert ("run 5" in " ".join(notes)) == (case == "commas")


def test_a_comment_above_a_header_is_noted(tmp_path: Path) -> None:
    table, notes = upload(tmp_path / "file", b"# one, two, three\nx,y,z\n1,2,3\n4,5,6\n")
    assert list(table.columns) == ["x", "y", "z"]
    assert "one, two, three" in notes[0]
