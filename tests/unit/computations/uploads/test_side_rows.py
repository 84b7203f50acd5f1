"""Rows among those of a table that are none are left out with their number; rows of values are kept."""

from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import Rows, as_csv, upload

HEADER = ["dept", "team", "q1", "q2"]
PLAIN: Rows = [[f"d{n}", f"t{n % 3}", n * 10, n + 5] for n in range(1, 13)]
SUMS = [sum(row[2] for row in PLAIN), sum(row[3] for row in PLAIN)]
MEANS = [SUMS[0] / 12, SUMS[1] / 12]


def with_subtotals() -> Rows:
    rows: Rows = []
    for first in range(0, 12, 4):
        group = PLAIN[first : first + 4]
        label = f"{group[0][0]} subtotal"
        rows += [*group, [label, "", sum(row[2] for row in group), sum(row[3] for row in group)]]
    return [*rows, ["Grand total", "", *SUMS]]


SIDE_ROWS: dict[str, Rows] = {
    "empty rows": [line for row in PLAIN for line in (row, ["", " ", "", ""])],
    "a repeated header": [*PLAIN[:6], HEADER, *PLAIN[6:]],
    "a comment": [*PLAIN[:6], ["# team changed"], *PLAIN[6:]],
    "a total by an unknown word": [*PLAIN, ["Alles bij elkaar", "", *SUMS]],
    "a total without a word": [*PLAIN, ["", "", *SUMS]],
    "a total in the second column": [*PLAIN, ["", "Eindtotaal", *SUMS]],
    "a total above": [["Whole company", "", *SUMS], *PLAIN],
    "a mean": [*PLAIN, ["Average", "", *MEANS]],
    "subtotals": with_subtotals(),
    "a second table": [
        *PLAIN,
        ["", "", "", ""],
        ["Team", "Boss", "Desk", ""],
        ["t1", "Kim", 4, ""],
        ["t2", "Bo", 5, ""],
    ],
}


@pytest.mark.parametrize("case", SIDE_ROWS)
def test_rows_that_are_none_are_left_out_with_a_note(case: str, tmp_path: Path) -> None:
    table, notes = upload(tmp_path / "file", as_csv([HEADER, *SIDE_ROWS[case]]))
    assert table.values.tolist() == PLAIN
    assert any("left out" in note for note in notes)


def test_a_total_of_a_table_of_two_columns_is_left_out(tmp_path: Path) -> None:
    rows: Rows = [["fruit", "kg"], *[[f"f{n}", n] for n in range(1, 13)]]
    table, _ = upload(tmp_path / "file", as_csv([*rows, ["Sum", 78]]))
    assert len(table) == 12


KEPT: dict[str, Rows] = {
    "running sums": [[f"day {n}", "x", n, n * (n + 1) // 2] for n in range(1, 15)],
    "a class of totals": [
        [s, str(y), v, v] for y in range(2010, 2020) for s, v in (("a", 3), ("b", 4), ("total", 7))
    ],
    "ids that begin with a hash": [[f"# {n}", "x", n, n] for n in range(1, 15)],
    "flags": [[f"n{n}", "x", int(n == 3), int(n == 4)] for n in range(9)] + [["z", "x", 1, 1]],
    "a row of missing values but one": [*PLAIN, ["d13", "", "", ""]],
}


@pytest.mark.parametrize("case", KEPT)
def test_rows_of_values_are_kept(case: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", as_csv([HEADER, *KEPT[case]]))
    assert len(table) == len(KEPT[case])
