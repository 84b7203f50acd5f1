"""Uploads, prices, joins, type inference and recipes read a cell alike."""

import math
from collections.abc import Iterator
from datetime import datetime

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.computations.bars.timestamps import COMMA_FORMAT, MEASURE_FORMAT, measure_sql, time_sql
from app.computations.uploads.cell_sql import date_cell, number_cell, present_cell
from app.computations.uploads.column_types import (
    COMMA,
    DATE_RULES,
    INTEGER,
    NUMBER,
    SIGNED,
    TYPE_RULES,
    TypeRule,
    choose_type,
)
from app.modeling.analysis.cleaning import is_date_like, is_number_text
from app.modeling.recipe.recipe import parse_recipe
from app.modeling.recipe.transforms.dates import to_dates
from app.modeling.type_inference.date_spellings import MAX_YEAR, MIN_YEAR, SPELLINGS
from app.modeling.type_inference.dates import parse_dates
from app.modeling.type_inference.distinct_values import trim_texts
from app.modeling.type_inference.number_spellings import NumberFormat
from app.modeling.type_inference.numbers import parse_numbers
from app.modeling.type_inference.parsers import NumberParser
from app.modeling.type_inference.vocabulary import (
    MISSING_CATEGORY_WORDS,
    MISSING_WORDS,
    NULL_TOKENS,
    is_missing_word,
)

FORMATS = [
    MEASURE_FORMAT,
    COMMA_FORMAT,
    NumberFormat(),
    NumberFormat(","),
    NumberFormat(",", "."),
    NumberFormat(".", " "),
    NumberFormat(".", "'"),
    NumberFormat(".", ""),
]
DIGITS = st.text("0123456789", min_size=1, max_size=20)
SPACES = st.sampled_from(["", "", "", " ", "\u00a0", "\u202f", "\t"])
BODIES = st.one_of(
    DIGITS,
    st.builds("{}{}{}".format, DIGITS, st.sampled_from([".", ","]), st.text("0123456789", max_size=6)),
    st.builds("{}{}".format, st.sampled_from([".", ","]), DIGITS),
    st.builds(
        lambda mark, groups: mark.join(groups),
        st.sampled_from([",", ".", " ", "'", "\u2019", "\u202f"]),
        st.lists(st.text("0123456789", min_size=1, max_size=3), min_size=2, max_size=4),
    ),
    st.floats(allow_nan=False).map(repr),
    st.floats(allow_nan=False, width=32).map(lambda number: f"{number:,.2f}"),
)
NUMBERS = st.builds(
    "{}{}{}{}{}{}{}{}".format,
    SPACES,
    st.sampled_from(["", "", "", "-", "+", "\u2212", "("]),
    st.sampled_from(["", "", "", "$", "€ ", "CHF "]),
    st.sampled_from(["", "", "-"]),
    BODIES,
    st.sampled_from(["", "", "", "e3", "E-05", "e+0005", "e400"]),
    st.sampled_from(["", "", "", "k", " M", "bn", "%", " kg", "e", ")", "-"]),
    SPACES,
)
DATE_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d-%b-%Y", "%d %B %Y", "%d.%m.%Y", "%m/%d/%Y")
TIME_FORMATS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S", " %H%M%S", " %H%M")
DATES = st.builds(
    lambda day, form: day.strftime(form),
    st.datetimes(datetime(MIN_YEAR, 1, 1), datetime(MAX_YEAR, 12, 31)),
    st.sampled_from([date + time for date in DATE_FORMATS for time in TIME_FORMATS]),
)
ZONES = st.sampled_from(["", "", "Z", "+02:00", "-0330", "+05", "+15:59", "+16:00", "+24:00", "UTC"])
WORDS = st.sampled_from(
    [*sorted(MISSING_WORDS), *NULL_TOKENS, "NONE", " n/a ", "Missing", "true", "yes", "apple"]
)
OTHERS = st.one_of(
    st.text(max_size=12),
    st.from_regex(r"[-+ ]?[0-9.,:/eE-]{1,14}[A-Za-z%]?", fullmatch=True),
    st.sampled_from(
        [
            "0x10",
            "1_000",
            "inf",
            "nan",
            "epoch",
            "infinity",
            "\u0661\u0662",
            "\uff11\uff12",
            "007",
            "0,123",
            "(5",
            "5)",
            "2024-02-30",
        ]
    ),
)
CELLS = st.lists(
    st.one_of(NUMBERS, NUMBERS, st.builds(str.__add__, DATES, ZONES), WORDS, OTHERS).filter(
        lambda cell: "\x00" not in cell
    ),
    min_size=20,
    max_size=60,
)
"""Many at once: DuckDB takes longer to plan the expressions of a cell than to read a hundred cells by them."""
SETTINGS = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute("SET TimeZone = 'UTC'")
        yield database


def run_sql(connection: duckdb.DuckDBPyConnection, cells: list[str], *expressions: str) -> list[list[object]]:
    """Columns of the values of SQL expressions of the cell `c`."""
    connection.register("cells", pa.table({"n": range(len(cells)), "c": pa.array(cells, pa.string())}))
    rows = connection.execute(f"SELECT {', '.join(expressions)} FROM cells ORDER BY n").fetchall()
    return [list(column) for column in zip(*rows, strict=True)]


def parsed(cells: list[str], number_format: NumberFormat) -> list[float | None]:
    numbers = parse_numbers(trim_texts(pa.array(cells, pa.string())), number_format)
    return [None if math.isnan(number) else float(number) for number in numbers]


def parsed_dates(cells: list[str]) -> list[datetime | None]:
    dates = parse_dates(trim_texts(pa.array(cells, pa.string())), list(SPELLINGS), False)
    return [None if np.isnat(date) else date.item() for date in dates]


def assert_equal_numbers(cells: list[str], actual: list[object], expected: list[float | None]) -> None:
    for cell, one, other in zip(cells, actual, expected, strict=True):
        assert (one is None) == (other is None), (cell, one, other)
        if one is not None and other is not None:
            assert math.isclose(float(one), other, rel_tol=1e-12, abs_tol=1e-300), (cell, one, other)  # type: ignore[arg-type]


@SETTINGS
@given(cells=CELLS)
@example(cells=["1.797693134862316e+305k", "1e400", "-9e307 bn", "1,7e308"])
@example(cells=["49.-", "1'290.--", "-7,\u2013", "99,- \u20ac", "99,-EUR", "5.\u2014", "12.50-"])
def test_sql_and_arrow_parse_numbers_alike_in_every_format(
    connection: duckdb.DuckDBPyConnection, cells: list[str]
) -> None:
    columns = run_sql(connection, cells, *(number_cell("c", number_format) for number_format in FORMATS))
    for number_format, column in zip(FORMATS, columns, strict=True):
        assert_equal_numbers(cells, column, parsed(cells, number_format))


@SETTINGS
@given(cells=CELLS)
@example(cells=["1.797693134862316e+305k", "1e400", "-9e307 bn", "1,7e308"])
def test_a_number_of_an_upload_is_the_same_number_for_models_recipes_and_prices(
    connection: duckdb.DuckDBPyConnection, cells: list[str]
) -> None:
    rules = {INTEGER: ".", SIGNED: ".", NUMBER: ".", COMMA: ","}
    columns = run_sql(connection, cells, *(rule.attempt.replace("{c}", "c") for rule in rules))
    for (rule, decimal), column in zip(rules.items(), columns, strict=True):
        values = {
            cell: value
            for cell, value in zip(cells, column, strict=True)
            if rule.accepts(cell) and value is not None and math.isfinite(float(value))  # type: ignore[arg-type]
        }
        accepted = list(values)
        if not accepted:
            continue
        frame = pd.DataFrame({"x": accepted})
        inferred = NumberParser(columns=("x",), decimal=decimal, group="." if decimal == "," else ",")  # type: ignore[arg-type]
        (operation,) = parse_recipe([{"op": "to_number", "columns": ["x"], "decimal": decimal}])
        prices = run_sql(connection, accepted, measure_sql({"c": "text"}, "c", decimal == ","))[0]
        for reader in (
            inferred.parse(frame["x"]).tolist(),
            operation.apply(frame, operation.fit(frame), None)["x"].tolist(),
            operation.apply(frame, {}, None)["x"].tolist(),
            prices,
        ):
            assert_equal_numbers(accepted, list(values.values()), reader)


@SETTINGS
@given(cells=CELLS)
def test_a_date_of_an_upload_is_the_same_date_for_models_recipes_and_prices(
    connection: duckdb.DuckDBPyConnection, cells: list[str]
) -> None:
    dates, prices = run_sql(connection, cells, date_cell("c"), time_sql({"c": "text"}, "c", None, None))
    expected = parsed_dates(cells)
    recipes = to_dates(pd.Series(cells, dtype="str"))
    for cell, date, price, other, recipe in zip(cells, dates, prices, expected, recipes, strict=True):
        assert (None if pd.isna(recipe) else recipe.to_pydatetime()) == other, cell
        if date is None or not MIN_YEAR <= date.year <= MAX_YEAR:  # type: ignore[attr-defined]
            continue
        assert date == other, cell
        assert price == (date - datetime(1970, 1, 1)) // pd.Timedelta(microseconds=1), cell  # type: ignore[operator]


@SETTINGS
@given(cells=CELLS)
def test_a_missing_word_is_missing_in_every_reader(
    connection: duckdb.DuckDBPyConnection, cells: list[str]
) -> None:
    (present,) = run_sql(connection, cells, present_cell("c"))
    for cell, value in zip(cells, present, strict=True):
        # DuckDB trims spaces only: with other white space a column stays text until type inference reads it.
        if cell.isascii() and cell.strip() == cell.strip(" "):
            assert (value is None) == is_missing_word(cell), cell
        if is_missing_word(cell):
            assert not any(rule.accepts(cell) for rule in TYPE_RULES), cell


def test_tokens_that_uploads_drop_are_missing_words_of_models() -> None:
    assert {token.casefold() for token in NULL_TOKENS} <= MISSING_CATEGORY_WORDS <= MISSING_WORDS
    # SQL compares in lower case, Python with case folding.
    assert all(word == word.lower() == word.casefold() for word in MISSING_WORDS)


SAMPLES: dict[TypeRule, list[str]] = {
    INTEGER: ["12", "-7", "345", "0", "9", "88"],
    SIGNED: ["+12", "-7", " 345", "0", "+9", "88"],
    NUMBER: ["1.5", "-2e3", ".25", "7.", "12", "3.125"],
    COMMA: ["1,5", "-2,25", ",25", "7,5", "12", "3,1255"],
    DATE_RULES[0]: [f"2024-05-{day:02} 10:30:00+02:00" for day in range(1, 13)],
    DATE_RULES[1]: [f"2024-05-{day:02} 10:30" for day in range(1, 13)],
    DATE_RULES[2]: [f"2024/05/{day:02} 10:30:15.5" for day in range(1, 13)],
    DATE_RULES[3]: [f"2024.05.{day:02}" for day in range(1, 13)],
    DATE_RULES[4]: [f"202405{day:02} 093000" for day in range(1, 13)],
    DATE_RULES[5]: [f"{day} May 2024" for day in range(1, 13)],
}


@pytest.mark.parametrize("rule", SAMPLES, ids=lambda rule: rule.name)
def test_a_column_has_one_type_in_uploads_and_in_type_inference(rule: TypeRule) -> None:
    cells = [*SAMPLES[rule], "n/a"]
    assert choose_type("x", cells, comma=True).rule is rule
    column = pd.Series(cells * 3)
    expected = (False, True) if rule in DATE_RULES else (True, False)
    assert (is_number_text(column), is_date_like(column)) == expected


@pytest.mark.parametrize("zero_led", ["0,123", "0,5"])
def test_a_fraction_with_a_decimal_comma_never_becomes_a_whole_number(
    connection: duckdb.DuckDBPyConnection, zero_led: str
) -> None:
    fraction = float(zero_led.replace(",", "."))
    assert choose_type("x", [zero_led, "1,5"], comma=True).rule is COMMA
    assert parsed([zero_led], NumberFormat()) == [None]
    assert parsed([zero_led], NumberFormat(",", ".")) == [fraction]
    point, comma = run_sql(
        connection, [zero_led], measure_sql({"c": "text"}, "c"), measure_sql({"c": "text"}, "c", comma=True)
    )
    assert (point, comma) == ([None], [fraction])
