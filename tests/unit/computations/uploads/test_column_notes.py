"""Notes on columns say what was done in the end."""

from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import upload

from .test_file_readings import convert, single


def test_no_note_says_that_a_column_is_text_which_became_numbers(tmp_path: Path) -> None:
    facts, reading, _ = convert(tmp_path / "t", single("dose", ["<0.5", "1.5", "2.25", "0.75", "3.5", "4.25"]))
    assert [column["type"] for column in facts["columns"]] == ["text", "number"]
    assert facts["format"]["notes"] == []
    assert reading.columns[0].reads_as == "number"


def test_a_column_that_stays_text_keeps_its_note(tmp_path: Path) -> None:
    facts, _, _ = convert(tmp_path / "t", single("v", ["1", "2", "3", "12a", "7", "13b"]))
    assert facts["format"]["notes"] == ["v: not only numbers (for example '12a'); kept as text."]


def test_the_decimal_mark_of_the_format_is_that_of_the_evidence(tmp_path: Path) -> None:
    facts, reading, _ = convert(tmp_path / "t", single("prijs", [f"€ {n},50" for n in range(1, 9)]))
    assert facts["format"]["decimal"] == reading.decimal == ","


def test_dates_that_no_calendar_has_are_named(tmp_path: Path) -> None:
    days = [f"2024-01-{n % 28 + 1:02d}" for n in range(60)]
    _, reading, _ = convert(tmp_path / "t", single("day", [*days, "2024-13-45"]))
    assert "'2024-13-45' become missing" in reading.columns[0].text


@pytest.mark.parametrize(
    ("offset", "is_noted"), [("+02:00", True), ("-0500", True), ("Z", False), ("+00:00", False)]
)
def test_the_conversion_of_local_times_is_noted(offset: str, is_noted: bool, tmp_path: Path) -> None:
    lines = ["id,t", *(f"{n},2024-01-{n + 1:02}T23:30:00{offset}" for n in range(9))]
    table, notes = upload(tmp_path / "file", "\n".join(lines).encode())
    assert str(table["t"].dtype).startswith("datetime")
    assert any("local times such as 2024-01-01T23:30:00" in note for note in notes) == is_noted
