"""`NA` among codes of countries is Namibia; elsewhere it is a missing value."""

from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import as_csv, upload

COUNTRIES = ["NL", "BE", "DE", "FR", "ZA"]


def test_namibia_is_a_country_and_missing_elsewhere(tmp_path: Path) -> None:
    rows = [[code, n, "NA" if n == 1 else "x"] for n, code in enumerate([*COUNTRIES, "NA"])]
    rows[2][1] = "NA"
    table, notes = upload(tmp_path / "file", as_csv([["country", "n", "word"], *rows]))
    assert table["country"].tolist() == [*COUNTRIES, "NA"]
    assert table["n"].isna().tolist() == [n == 2 for n in range(6)]
    assert table["word"].isna().tolist() == [n == 1 for n in range(6)]
    assert "country: NA is the code of Namibia." in notes


def test_namibia_may_stand_far_below(tmp_path: Path) -> None:
    rows = [[COUNTRIES[n % 5], n] for n in range(7_000)]
    table, _ = upload(tmp_path / "file", as_csv([["c", "n"], *rows, ["NA", 7_000]]))
    assert table["c"].iloc[-1] == "NA"


@pytest.mark.parametrize(
    "codes", [["CA", "GA", "IN", "CO", "MA"], ["HE", "LI", "MG", "FE", "CU"], ["NL", "BE"]]
)
def test_other_codes_of_two_letters_show_no_countries(codes: list[str], tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", as_csv([["c", "n"], *[[code, 1] for code in [*codes, "NA"]]]))
    assert table["c"].isna().tolist() == [False] * len(codes) + [True]
