"""One reading for a file: decided by its decisive columns, described with examples, and used at predict."""

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import train
from app.computations.models.predict import predict
from app.computations.preparation import split
from app.computations.uploads.ingest import ingest
from app.computations.uploads.reread import reread
from app.errors import InvalidInput
from app.modeling.facts.readings import FileReading
from app.modeling.type_inference.parsers import parse_columns


def convert(folder: Path, text: str, name: str = "table.csv") -> tuple[dict[str, Any], FileReading, Path]:
    folder.mkdir()
    upload = folder / name
    upload.write_text(text, encoding="utf-8")
    output = folder / "out"
    output.mkdir()
    facts: Any = ingest(CellWorkspace({"upload": upload}, output), name)
    return facts, FileReading.model_validate(facts["reading"]), output / "table.parquet"


def scalar(table: Path, expression: str) -> Any:
    return duckdb.sql(f"SELECT {expression} FROM read_parquet('{table}')").fetchall()[0][0]


def german(rows: int = 120) -> str:
    """A table with decimal commas; `menge` has thousands points only, `versand` days up to 12 only."""
    lines = ["stadt;menge;preis;bestellt;versand;ziel"]
    for n in range(rows):
        order = f"{n % 28 + 1:02}/{n % 12 + 1:02}/2010"
        sent = f"{n % 12 + 1:02}/{(n * 5) % 12 + 1:02}/2010"
        price = 1 + n % 50 + 0.05
        lines.append(
            f"{'AB'[n % 2]};{10 + n}.{(n * 37) % 1000:03};{price:.2f};{order};{sent};".replace(
                f"{price:.2f}", f"{price:.2f}".replace(".", ",")
            )
            + f"{2 * price + n % 12:.2f}".replace(".", ",")
        )
    return "\n".join(lines) + "\n"


def test_a_point_is_a_thousands_separator_beside_decimal_commas(tmp_path: Path) -> None:
    _, reading, table = convert(
        tmp_path / "t", "ort;umsatz;preis\nA;99.713;1,47\nB;17.344;12,30\nC;1.200;3,25\n"
    )
    assert scalar(table, "sum(umsatz)") == 118_257
    column = next(column for column in reading.columns if column.column == "umsatz")
    assert [str(example) for example in column.examples] == [
        "99.713 -> 99713",
        "17.344 -> 17344",
        "1.200 -> 1200",
    ]
    assert [(option.choice, str(option.examples[0])) for option in column.alternatives] == [
        ("decimal_point", "99.713 -> 99.713")
    ]
    assert reading.decimal == ","
    assert any("'1,47'" in sentence for sentence in reading.evidence)


def test_a_comma_is_a_thousands_separator_beside_decimal_points(tmp_path: Path) -> None:
    _, reading, table = convert(tmp_path / "t", 'city,units,price\nA,"99,713",1.47\nB,"17,344",12.30\n')
    assert (reading.decimal, scalar(table, "sum(units)")) == (".", 117_057)


def test_columns_that_contradict_each_other_are_noted_and_read_by_their_own_values(tmp_path: Path) -> None:
    facts, reading, table = convert(tmp_path / "t", "a;b;c\n1,47;1.5;99.713\n2,30;2.25;17.344\n")
    assert reading.decimal is None
    assert scalar(table, "sum(a)") == pytest.approx(3.77)
    assert scalar(table, "sum(b)") == pytest.approx(3.75)
    assert scalar(table, "sum(c)") == pytest.approx(117.057)
    assert any("'1,47'" in note and "'1.5'" in note for note in facts["format"]["notes"])
    column = next(column for column in reading.columns if column.column == "c")
    assert [option.choice for option in column.alternatives] == ["decimal_comma"]


def test_an_order_of_day_and_month_that_one_column_proves_holds_for_its_siblings(tmp_path: Path) -> None:
    text = "start,stop\n13/05/2010,03/06/2010\n01/02/2010,04/07/2010\n"
    facts, reading, table = convert(tmp_path / "t", text)
    assert {column["name"]: column["type"] for column in facts["columns"]} == dict.fromkeys(
        ("start", "stop"), "datetime"
    )
    assert str(scalar(table, "min(stop)")) == "2010-06-03 00:00:00"
    stop = next(column for column in reading.columns if column.column == "stop")
    assert [option.choice for option in stop.alternatives] == ["month_first"]
    start = next(column for column in reading.columns if column.column == "start")
    assert start.alternatives == ()


def test_an_order_that_nothing_proves_stays_open(tmp_path: Path) -> None:
    facts, reading, _ = convert(tmp_path / "t", "when,n\n03/06/2010,1\n04/02/2010,2\n01/07/2010,3\n")
    assert facts["columns"][0]["type"] == "text"
    (column,) = reading.columns
    assert column.confidence <= 0.5
    assert [option.choice for option in column.alternatives] == ["day_first"]
    assert str(column.alternatives[0].examples[0]) == "03/06/2010 -> 2010-06-03T00:00:00"


def test_a_rule_of_the_file_survives_a_later_row_that_changes_another_column(tmp_path: Path) -> None:
    lines = [f"{n % 900 + 1}.{n % 1000:03};{n % 90},5;{n}" for n in range(6_000)]
    lines[-1] = "1.000;1,5;late"
    facts, _, table = convert(tmp_path / "t", "umsatz;preis;n\n" + "\n".join(lines) + "\n")
    assert {column["name"]: column["type"] for column in facts["columns"]}["n"] == "number"
    assert scalar(table, "count(*) - count(n)") == 1
    assert scalar(table, "min(umsatz)") >= 1000


def test_currencies_written_in_two_ways_are_values(tmp_path: Path) -> None:
    lines = [f"{n};$ {200 + n % 700}.000,00" for n in range(2_500)]
    lines[100:120] = [f"{n};{200 + n}.000,00 USD" for n in range(100, 120)]
    _, _, table = convert(tmp_path / "t", "id;price\n" + "\n".join(lines) + "\n")
    workspace = CellWorkspace({"table": table}, tmp_path)
    facts: Any = split.split_table(workspace, {"target": "price"})
    assert (facts["unlabelled_removed"], facts["rows"]) == (0, 2_500)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model fitted on `german()` as a session fits it."""
    folder = tmp_path_factory.mktemp("german")
    _, reading, table = convert(folder / "t", german())
    (folder / "split").mkdir()
    (folder / "fit").mkdir()
    locked = CellWorkspace({"table": table}, folder / "split")
    facts: Any = split.split_table(locked, {"target": "ziel"}, readings=reading.parsers())
    fitted = CellWorkspace({"frame": folder / "split" / "train.parquet"}, folder / "fit")
    recipe = [{"op": "parse_dates", "columns": ["bestellt", "versand"], "parts": ["month", "elapsed_days"]}]
    train.fit_candidate(fitted, facts["problem"], "LinearRegression", facts["folds"], recipe)
    return folder / "fit" / "model.skops"


def predicted(model: Path, tmp_path: Path, **cells: object) -> float:
    row = {"stadt": "A", "menge": 20_000, "preis": 49.05, "bestellt": "2010-06-03", "versand": "2010-06-03"}
    facts: Any = predict(CellWorkspace({"model": model}, tmp_path), [{**row, **cells}])
    return float(facts["predictions"][0]["prediction"])


@pytest.mark.parametrize(
    "cells",
    [
        {"preis": "49,05"},
        {"preis": "49.05"},
        {"menge": "20.000"},
        {"versand": "03/06/2010"},
        {"versand": "03.06.2010"},
        {"versand": "3/6/10"},
        {"preis": "49,05", "menge": "20.000", "bestellt": "03.06.2010", "versand": "03/06/2010"},
    ],
)
def test_rows_to_predict_are_read_as_the_file_was(
    model: Path, tmp_path: Path, cells: dict[str, object]
) -> None:
    assert predicted(model, tmp_path, **cells) == pytest.approx(predicted(model, tmp_path))
    assert predicted(model, tmp_path, versand="06/03/2010") != pytest.approx(predicted(model, tmp_path))


def test_a_cell_that_the_reading_does_not_admit_is_missing_or_refused(model: Path, tmp_path: Path) -> None:
    assert predicted(model, tmp_path, preis="49,0,5") == pytest.approx(predicted(model, tmp_path, preis=None))
    row = {"stadt": "A", "menge": 1, "preis": "49,0,5", "bestellt": "2010-06-03", "versand": "2010-06-03"}
    with pytest.raises(InvalidInput, match="preis"):
        predict(CellWorkspace({"model": model}, tmp_path), [row], strict=True)


def test_sql_training_and_prediction_have_one_value_for_a_cell(tmp_path: Path) -> None:
    header = "price,weight,share,month,lap,opens,born,n\n"
    cells = [
        '"$1,250.50",12 kg,12 %,Jan 2023,1:45,6am,03/07/48',
        "$980.00,500 g,(3.5)%,Feb 2023,2:05,9:30 pm,24/02/95",
    ]
    rows = [f"{cells[n % 2]},{n}" for n in range(40)]
    rows += [f"${n},{n} kg,{n} %,Mar 2023,2:{n},{n - 10}am,13/03/{n},{n}" for n in range(11, 22)]
    _, reading, table = convert(tmp_path / "t", header + "\n".join(rows) + "\n")
    frame = pd.read_parquet(table)
    assert frame["price"].head(2).tolist() == [1250.5, 980.0]
    assert frame["weight"].head(2).tolist() == [12.0, 0.5]
    assert frame["share"].head(2).tolist() == [12.0, -3.5]
    assert frame["month"].head(2).tolist() == [pd.Timestamp("2023-01-01"), pd.Timestamp("2023-02-01")]
    assert (frame["lap"] * 60).head(2).tolist() == pytest.approx([1.75, 2 + 5 / 60])
    assert frame["opens"].head(2).tolist() == [6.0, 21.5]
    assert frame["born"].dt.year.head(2).tolist() == [1948, 1995]
    kinds = {column.column: (column.kind, column.unit) for column in reading.columns}
    assert kinds["price"] == ("money", "USD")
    assert kinds["weight"] == ("number", "kg")
    assert kinds["share"] == ("percent", "%")
    assert kinds["month"][0] == "month"
    assert (kinds["lap"], kinds["opens"]) == (("duration", "hours"), ("time", "hours"))
    workspace = CellWorkspace({"table": table}, tmp_path)
    locked: Any = split.split_table(workspace, {"target": "n"}, readings=reading.parsers())
    train = pd.read_parquet(tmp_path / "train.parquet")
    assert set(train["price"]) >= {1250.5, 980.0}
    raw = pd.DataFrame({"price": ["$1,250.50"], "weight": ["12 kg"], "born": ["03/07/48"]})
    later = parse_columns(raw, locked["problem"]["reading"])
    assert later["price"].tolist() == [1250.5]
    assert later["weight"].tolist() == [12.0]
    assert later["born"].dt.year.tolist() == [1948]


def test_converted_cells_can_be_read_as_written_again(tmp_path: Path) -> None:
    prices = ["$12.50", "$9", "on request", "$7.25"] * 9
    text = "price,n\n" + "".join(f"{price},{n}\n" for n, price in enumerate(prices))
    facts, table = corrected(tmp_path, text, {"price": "text"})
    assert pd.read_parquet(table)["price"].head(3).tolist() == ["$12.50", "$9", "on request"]
    assert {column["name"]: column["type"] for column in facts["columns"]}["price"] == "text"


def test_a_correction_of_one_column_keeps_the_readings_of_others(tmp_path: Path) -> None:
    text = "price,share,n\n" + "".join(f"${n}.50,{n} %,{n}\n" for n in range(40))
    facts, _ = corrected(tmp_path, text, {"price": "text"})
    share = FileReading.model_validate(facts["reading"]).find("share")
    assert share is not None
    assert (share.kind, share.unit) == ("percent", "%")
    profiled = next(column for column in facts["profile"]["columns"] if column["name"] == "share")
    assert profiled["reading"]["evidence"]["unit"] == "%"


def test_dates_whose_order_nothing_decides_stay_as_written(tmp_path: Path) -> None:
    text = "when,n\n" + "".join(f"{n % 12 + 1:02}/{n * 7 % 12 + 1:02}/2020,{n}\n" for n in range(40))
    facts, _, _ = convert(tmp_path / "t", text)
    assert {column["name"]: column["type"] for column in facts["columns"]}["when"] == "text"


def test_a_table_of_types_has_a_plain_reading(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.5, 99.713], "b": ["x", "y"]}).to_parquet(tmp_path / "upload")
    output = tmp_path / "out"
    output.mkdir()
    facts: Any = ingest(CellWorkspace({"upload": tmp_path / "upload"}, output), "t.parquet")
    assert facts["reading"]["columns"] == []


def corrected(folder: Path, text: str, choices: dict[str, str]) -> tuple[dict[str, Any], Path]:
    _, reading, table = convert(folder / "t", text)
    inputs = {"table": table}
    if (cells := table.with_name("cells.parquet")).exists():
        inputs["cells"] = cells
    output = folder / "corrected"
    output.mkdir()
    facts: Any = reread(CellWorkspace(inputs, output), choices, reading.model_dump(mode="json"))  # type: ignore[arg-type]  # some are wrong on purpose
    return facts, output / "table.parquet"


def test_a_corrected_thousands_separator_is_converted_from_the_cells_as_written(tmp_path: Path) -> None:
    facts, table = corrected(tmp_path, "a;b\n1.500;x\n2;y\n99.710;x\n", {"a": "decimal_comma"})
    assert scalar(table, "list(a)") == [1500.0, 2.0, 99710.0]
    (column,) = facts["reading"]["columns"]
    assert (column["chosen_by"], column["parser"]["group"]) == ("user", ".")
    assert [option["choice"] for option in column["alternatives"]] == ["decimal_point"]


def test_a_corrected_order_exchanges_day_and_month(tmp_path: Path) -> None:
    text = "start,stop\n13/05/2010,03/06/2010 07:30\n01/02/2010,04/07/2010 08:00\n"
    facts, table = corrected(tmp_path, text, {"stop": "month_first"})
    assert str(scalar(table, "min(stop)")) == "2010-03-06 07:30:00"
    assert str(scalar(table, "min(start)")) == "2010-02-01 00:00:00"
    assert [column["name"] for column in facts["columns"]] == ["start", "stop"]


def test_an_open_order_becomes_dates_by_a_choice(tmp_path: Path) -> None:
    facts, table = corrected(tmp_path, "when,n\n03/06/2010,1\n04/02/2010,2\n", {"when": "day_first"})
    assert facts["columns"][0]["type"] == "datetime"
    assert str(scalar(table, 'max("when")')) == "2010-06-03 00:00:00"


@pytest.mark.parametrize(
    ("choices", "code"),
    [
        ({"x": "number"}, "unknown_column"),
        ({"word": "number"}, "reading_not_possible"),
        ({"day": "month_first"}, "reading_not_possible"),
        ({"share": "text"}, "reading_not_possible"),
    ],
)
def test_a_choice_that_the_cells_do_not_admit_is_refused(
    choices: dict[str, str], code: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        corrected(tmp_path, "word,day,share\na,13/05/2010,0.5\nb,01/02/2010,1.25\n", choices)
    assert refusal.value.code == code


def test_whole_numbers_become_words_by_a_choice(tmp_path: Path) -> None:
    facts, table = corrected(tmp_path, "kind,n\n7,1.5\n8,2.5\n,3.5\n", {"kind": "category"})
    assert facts["columns"][0]["type"] == "text"
    assert duckdb.sql(f"SELECT kind FROM read_parquet('{table}')").fetchall() == [("7",), ("8",), (None,)]


def single(name: str, cells: list[str], mark: str = ";") -> str:
    return "".join(
        f"{key}{mark}{cell}\n" for key, cell in [("key", name), *((f"k{n}", c) for n, c in enumerate(cells))]
    )


@pytest.mark.parametrize(
    ("name", "cells", "mark"),
    [
        ("x", ["25.445", "112.003", "947", "8.120", "33.217"], ","),
        ("Einwohner", ["25.445", "112.003", "33.217"], ","),
        ("Umsatz EUR", ["25.445", "12.003", "33.217"], ";"),
        ("totalVisitors_2020", ["25.445", "112.003", "33.217"], ","),
        ("Number of patents", ["25.445", "112.003", "33.217"], ","),
    ],
)
def test_a_column_proves_its_thousands_points(tmp_path: Path, name: str, cells: list[str], mark: str) -> None:
    _, reading, table = convert(tmp_path / "t", single(name, cells, mark))
    assert scalar(table, f'sum("{name}")') == sum(int(cell.replace(".", "")) for cell in cells)
    assert reading.decimal == ","
    later = parse_columns(pd.DataFrame({name: ["8.120"]}), [{**reading.parsers()[name], "columns": [name]}])
    assert later[name].tolist() == [8120]


def test_three_decimals_that_may_be_thousands_are_open(tmp_path: Path) -> None:
    facts, reading, table = convert(tmp_path / "t", single("length", ["12.345", "3.870", "48.011"]))
    assert scalar(table, "max(length)") == 48.011
    (column,) = reading.columns
    assert column.confidence == 0.6
    assert [option.choice for option in column.alternatives] == ["decimal_comma"]
    assert any("may separate decimals or thousands" in note for note in facts["format"]["notes"])


@pytest.mark.parametrize(
    ("name", "cells", "mark"),
    [
        ("student_gpa", ["2.037", "3.114", "2.998"], ","),
        ("customerRating", ["4.112", "3.905", "4.500"], ","),
        ("population_density", ["25.445", "112.003", "33.217"], ","),
        ("Population (millions)", ["25.445", "112.003", "33.217"], ","),
        ("visitors per day", ["25.445", "112.003", "33.217"], ";"),
        ("USD", ["1.085", "1.091", "1.102"], ";"),
        ("weight", ["1.250", "2", "1.500", "3.125"], ";"),
    ],
)
def test_decimals_of_a_rate_are_not_multiplied(tmp_path: Path, name: str, cells: list[str], mark: str) -> None:
    facts, reading, table = convert(tmp_path / "t", single(name, cells, mark))
    assert scalar(table, f'sum("{name}")') == pytest.approx(sum(map(float, cells)))
    assert [column.confidence for column in reading.columns] == [0.6]
    assert any("decimals are assumed" in note for note in facts["format"]["notes"])


def test_prices_with_three_decimals_stay_so(tmp_path: Path) -> None:
    _, _, table = convert(tmp_path / "t", single("Preis Diesel", ["1,459", "1,519", "1,479"]))
    assert "1459" not in str(scalar(table, 'list("Preis Diesel")'))


def test_a_decimal_elsewhere_decides_before_the_name_of_a_count(tmp_path: Path) -> None:
    text = "population;rate\n25.445;1.5\n112.003;2.25\n33.217;0.75\n"
    _, reading, table = convert(tmp_path / "t", text)
    assert reading.decimal == "."
    assert scalar(table, "max(population)") == 112.003


@pytest.mark.parametrize("others", [["1.5", "2.25", "0.75"], ["1,5", "2,25", "0,75"]])
def test_identifiers_stay_as_written_whatever_the_file_proves(tmp_path: Path, others: list[str]) -> None:
    rows = zip(["3.9", "3.10", "3.11"], ["+31612345678", "+4915112345678", "+12025550123"], others, strict=True)
    text = "version;phone;x\n" + "".join(f"{';'.join(row)}\n" for row in rows)
    _, reading, table = convert(tmp_path / "t", text)
    assert scalar(table, "list(version)") == ["3.9", "3.10", "3.11"]
    assert scalar(table, "list(phone)") == ["+31612345678", "+4915112345678", "+12025550123"]
    assert reading.notes == ()


PERCENTS = {
    "fractions": ([f"{n + 5}%" if n % 2 else f"0.{n + 5:02}" for n in range(20)], 0.01),
    "fractions with commas": ([f"{n + 5} %" if n % 2 else f"0,{n + 5:02}" for n in range(20)], 0.01),
    "percents without a sign": ([f"{n + 5}%" if n % 2 else f"{n + 5}" for n in range(20)], 1.0),
    "zeros": ([f"{n + 5}%" if n % 2 else "0" for n in range(20)], 1.0),
    "a single fraction": ([f"{n + 5}%" if n != 4 else "0.5" for n in range(20)], 1.0),
}


@pytest.mark.parametrize("case", PERCENTS)
def test_percents_beside_fractions_are_hundredths(tmp_path: Path, case: str) -> None:
    cells, factor = PERCENTS[case]
    _, reading, table = convert(tmp_path / "t", single("rate", cells))
    assert scalar(table, "any_value(rate) FILTER (key = 'k5')") == pytest.approx(10 * factor)
    (column,) = reading.columns
    assert ("hundredths" in column.text) == (factor < 1)


@pytest.mark.parametrize("ending", ["2018", "18", "2018:10:30:00"])
def test_dates_of_sas_are_dates(tmp_path: Path, ending: str) -> None:
    months = ("JAN", "FEB", "mar", "APR", "Dec")
    cells = [f"{n + 1:02}{month}{ending}" for n, month in enumerate(months)]
    _, _, table = convert(tmp_path / "t", single("d", cells))
    assert scalar(table, "list(CAST(d AS DATE)::VARCHAR ORDER BY d)") == [
        "2018-01-01",
        "2018-02-02",
        "2018-03-03",
        "2018-04-04",
        "2018-12-05",
    ]


def test_codes_with_letters_between_digits_are_no_dates(tmp_path: Path) -> None:
    cells = [f"{n + 1:02}{letters}{n + 2010}" for n, letters in enumerate(("ABC", "DEX", "MARK", "XYZ"))]
    _, _, table = convert(tmp_path / "t", single("d", cells))
    assert scalar(table, "list(d)") == cells
