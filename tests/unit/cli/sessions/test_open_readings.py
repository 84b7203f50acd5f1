"""The lines of the terminal on columns that could be read in another way."""

from app.cli.api_client.responses import FileReading
from app.cli.sessions.run_session import MAX_OPEN_READINGS, describe_open_readings


def column(name: str, *, is_open: bool) -> dict[str, object]:
    other = {"choice": "month_first", "examples": [{"cell": "03/06/2010", "value": "2010-03-06"}]}
    return {
        "column": name,
        "examples": [{"cell": "03/06/2010", "value": "2010-06-03"}],
        "alternatives": [other] if is_open else [],
    }


def test_a_line_has_an_example_of_both_readings() -> None:
    reading = FileReading.model_validate({"columns": [column("a", is_open=True), column("b", is_open=False)]})
    assert describe_open_readings(reading) == [
        "a: 03/06/2010 -> 2010-06-03; as month_first it would be 2010-03-06."
    ]
    assert describe_open_readings(None) == []


def test_many_columns_are_counted() -> None:
    columns = [column(f"c{n}", is_open=True) for n in range(MAX_OPEN_READINGS + 2)]
    lines = describe_open_readings(FileReading.model_validate({"columns": columns}))
    assert len(lines) == MAX_OPEN_READINGS + 1
    assert lines[-1] == "2 more columns have another reading."
