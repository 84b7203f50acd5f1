"""Rows among those of a table that are none are left out with their number; rows of values are kept."""

from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import Rows, as_csv, upload

HEADER = ["dept", "team", "q1", "q2"]
PLAIN: Rows = [[f"d{n}", f"t{n % 3}", n * 1000, n + 5] for n in range(1, 13)]
SUMS = [sum(row[2] for row in PLAIN), sum(row[3] for row in PLAIN)]
MEANS = [SUMS[0] / 12, SUMS[1] / 12]


def with_subtotals(name: str = "") -> Rows:
    rows: Rows = []
    for first in range(0, 12, 4):
        group = PLAIN[first : first + 4]
        label = name or f"{group[0][0]} subtotal"
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
    "subtotals of one name": with_subtotals("Subtotal"),
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
    "a total of women and men": [
        [s, "x", v, v] for n in range(1000, 1010) for s, v in (("women", n), ("men", n), ("total", 2 * n))
    ],
    "the first of a ranking": [
        [f"c{n}", f"t{n}", *v] for n, v in enumerate(((6, 4), (3, 1), (1, 2), (1, 1), (1, 0)))
    ],
    "a leader with a long number": [
        ["c0", "t0", 3_000, 1_500],
        *[[f"c{n}", f"t{n}", 1_000, 500] for n in (1, 2, 3)],
    ],
    "a company that is called so": [*PLAIN, ["Total Fuel", "t1", 263_310, 71]],
    "a row of missing values but one": [*PLAIN, ["d13", "", "", ""]],
}


@pytest.mark.parametrize("case", KEPT)
def test_rows_of_values_are_kept(case: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", as_csv([HEADER, *KEPT[case]]))
    assert len(table) == len(KEPT[case])


AMOUNTS = {
    "a minus behind": "a;1200.00\nb;300.00-\nc;2000.00\nd;10.00\nTotal;2910.00\n",
    "a typographic minus": "a;1200.00\nb;\u2212300.00\nc;2000.00\nd;10.00\nTotal;2910.00\n",
    "parentheses": "a;1,200.00\nb;(300.00)\nc;2,000.00\nd;10.00\nTotal;2,910.00\n",
    "a currency": "a;EUR 1.200,00\nb;EUR -300,00\nc;EUR 2.000,00\nd;EUR 10,00\nSumme;EUR 2.910,00\n",
    "rounded parts": "a;33.3\nb;33.3\nc;33.3\nd;0.0\nTotal;100.0\n",
}


@pytest.mark.parametrize("case", AMOUNTS)
def test_numbers_of_sums_are_read_as_those_of_columns(case: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", ("item;amount\n" + AMOUNTS[case]).encode())
    assert table["item"].tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("last", "is_total"), [("Total,,12780000", True), ("Total Fuel,k1,800", False)])
def test_a_total_below_a_large_file_exceeds_the_sum_of_its_first_rows(
    last: str, is_total: bool, tmp_path: Path
) -> None:
    text = "item,kind,n\n" + "".join(f"item{n},k{n % 3},142\n" for n in range(90_000)) + last + "\n"
    table, _ = upload(tmp_path / "file", text.encode())
    assert len(table) == 90_001 - is_total
