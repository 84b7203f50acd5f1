"""Numbers are parsed in every supported spelling; similar texts stay text."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.modeling.type_inference.column_decisions import infer_types

from .inference import infer_parsers, parse_frame

amounts = st.lists(
    st.decimals(-9_999_999, 9_999_999, places=2).map(float), min_size=8, max_size=30, unique=True
).filter(lambda numbers: max(map(abs, numbers)) > 1000)
SPELLED = {
    "thousands": lambda number: f"{number:,.2f}",
    "decimal comma": lambda number: f"{number:,.2f}".translate(str.maketrans(",.", ".,")),
    "swiss": lambda number: f"{number:,.2f}".replace(",", "\u2019"),
    "spaces": lambda number: f"{number:,.2f}".replace(",", "\u202f").replace(".", ","),
    "dollars": lambda number: f"-${-number:,.2f}" if number < 0 else f"${number:,.2f}",
    "euros": lambda number: f"{number:,.2f} \u20ac".translate(str.maketrans(",.", ".,")),
    "code": lambda number: f"CHF {number:,.2f}",
    "accounting": lambda number: f"({-number:,.2f})" if number < 0 else f"{number:,.2f}",
    "minus sign": lambda number: f"{number:,.2f}".replace("-", "\u2212"),
    "percent": lambda number: f"{number:.2f} %",
    "scientific": lambda number: f"{number:.9e}",
    "unit": lambda number: f"{number:,.2f} kWh",
}


@pytest.mark.parametrize("spelling", SPELLED)
@given(numbers=amounts)
@settings(max_examples=25, deadline=None)
def test_numbers_in_every_spelling_are_parsed(spelling: str, numbers: list[float]) -> None:
    frame = pd.DataFrame({"amount": [SPELLED[spelling](number) for number in numbers]})
    read = parse_frame(frame)["amount"]
    np.testing.assert_allclose(read.astype("float64"), numbers, rtol=1e-9)


def test_units_of_one_quantity_are_converted_to_the_most_frequent() -> None:
    frame = pd.DataFrame({"weight": ["2 kg", "3 kg", "500 g", "1.5kg", "40 g", "4 kg"]})
    read = parse_frame(frame)["weight"]
    assert read.tolist() == pytest.approx([2, 3, 0.5, 1.5, 0.04, 4])
    sizes = pd.DataFrame({"size": ["1.2M", "300k", "2M", "45k", "1.1M"]})
    assert parse_frame(sizes)["size"].tolist() == [1.2e6, 3e5, 2e6, 45e3, 1.1e6]


SPELLINGS = {
    "lakhs and crores": (["\u20b9 64.5 L", "\u20b9 15.03 Cr", "\u20b9 2 Cr"], [6.45e6, 1.503e8, 2e7]),
    "magnitudes": (["$32.4m", "$404k", "$3bn", "$131,000"], [32.4e6, 404e3, 3e9, 131e3]),
    "magnitudes with a currency": (
        ["1,2 Mio. \u20ac", "3 Mrd. \u20ac", "4,5 Mio. \u20ac"],
        [1.2e6, 3e9, 4.5e6],
    ),
    "trailing minus": (["1.234,56-", "99,10", "7,05-", "12,00"], [-1234.56, 99.1, -7.05, 12]),
    "dashes for no cents": (["99,-", "1.012,50", "7,\u2013", "-5,--"], [99, 1012.5, 7, -5]),
    "dashes for no cents before a currency": (["99,- \u20ac", "12,50 \u20ac", "7,-\u20ac"], [99, 12.5, 7]),
    "both signs behind": (["100.00+", "50.00-", "12.30+", "7.25-"], [100, -50, 12.3, -7.25]),
    "minus before a currency": (["1.234,56- EUR", "99,10 EUR", "7,05- EUR"], [-1234.56, 99.1, -7.05]),
    "parentheses and percent": (["(9.4)%", "12.0%", "(0.5)%", "7.1%"], [-9.4, 12, -0.5, 7.1]),
    "parentheses behind a currency": (["$(1,234.50)", "$ 12.00", "$ (3.10)"], [-1234.5, 12, -3.1]),
    "debit and credit": (["334,56 S", "1.159,34 H", "12,00 S"], [-334.56, 1159.34, -12]),
    "nil in the accounting format": (["(1,200.50)", "-", "3,100.25", "17.00"], [-1200.5, 0, 3100.25, 17]),
    "footnotes": (["12.5*", "13.1", "14.7 [1]", "15.9 (a)", "11.2\u2020"], [12.5, 13.1, 14.7, 15.9, 11.2]),
    "flags": (["1,200", "1,300 r", "1,400", "1,500 p", "1,650"], [1200, 1300, 1400, 1500, 1650]),
    "limits": (["<5.0", "7.5", "8.25", ">1000", "12.5"], [5, 7.5, 8.25, 1000, 12.5]),
    "percent words": (["45 per cent", "12.5 pct", "0 %", "3%"], [45, 12.5, 0, 3]),
    "two decimal marks": (["0.31 g", "1,47 g", "2.05 g", "300 mg", "0.8 g"], [0.31, 1.47, 2.05, 0.3, 0.8]),
    "feet and inches": (["5'10\"", "6'1\"", "5'8\""], [5 + 10 / 12, 6 + 1 / 12, 5 + 8 / 12]),
    "pounds and ounces": (["6 lb 4 oz", "7 lb 8 oz", "8 lb 12 oz"], [6.25, 7.5, 8.75]),
    "fractions": (["3 1/2", "4", "2 3/4", "1/2", "6"], [3.5, 4, 2.75, 0.5, 6]),
    "vulgar fractions": (["3\u00bd", "4", "2\u00be", "5"], [3.5, 4, 2.75, 5]),
    "words": (["12", "two", "3", "5", "7"], [12, 2, 3, 5, 7]),
    "two units": (["340 kJ / 81 kcal", "1819 kJ / 435 kcal", "70 kJ / 17 kcal"], [340, 1819, 70]),
    "plus and minus": (["\u00b13.3", "\u00b12.1", "\u00b14.0"], [3.3, 2.1, 4.0]),
    "counts with none": (["3", "none", "4+", "0", "2"], [3, 0, 4, 0, 2]),
    "prime marks of thousands": (["1\u02bc200.50", "13\u02bc100.25", "980.10"], [1200.5, 13100.25, 980.1]),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_numbers_of_public_files_have_their_values(name: str) -> None:
    cells, numbers = SPELLINGS[name]
    read = parse_frame(pd.DataFrame({"amount": cells * 4}))["amount"]
    assert read.astype("float64").tolist() == pytest.approx(numbers * 4)


TEXTS = {
    "isin": ["FR0065615795", "FR0059232396", "FR0074532646", "FR0022644712"],
    "form": ["10-K", "8-K", "10-Q", "8-A"],
    "bands of income": ["under $20,000", "$20,000-$39,999", "$40,000-$74,999", "$75,000 or more"],
    "fiscal year": ["2020/21", "2016/17", "2021/22", "2018/19"],
    "zip code": ["02134", "90210", "10001", "00501", "33101", "60601"],
    "phone": ["555 123 4567", "555 987 6543", "212 555 0100", "212 555 0199", "646 555 0142", "555 222 3333"],
    "phone with dashes": ["+1 555-123-4567", "+1 555-987-6543", "+1 212-555-0100", "+1 212-555-0199"],
    "version": ["1.2.3", "1.10.0", "2.0.1", "2.0.12", "10.4.9"],
    "address": ["192.168.1.1", "10.0.0.1", "8.8.8.8", "172.16.254.1"],
    "class": ["1st", "2nd", "3rd", "1st", "2nd"],
    "band": ["18-25", "26-35", "36-50", "18-25", "51-65"],
    "seat": ["12A", "13B", "1C", "14D", "12B"],
    "sku": ["A-100", "B-200", "A-300", "C-400"],
    "two currencies": ["$5.00", "\u20ac7.00", "$8.50", "\u20ac9.10"],
    "score": ["2:1", "0:0", "3:2", "1:1"],
    "plan": ["basic", "plus", "pro", "basic"],
    "grade": ["5th", "6th", "7th", "8th"],
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_resemble_numbers_stay_text(name: str) -> None:
    assert infer_types(pd.DataFrame({name: TEXTS[name] * 3})) == []


def test_typed_columns_need_no_parser() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "year": rng.integers(1950, 2024, 200),
            "age": rng.integers(0, 99, 200),
            "temperature": rng.normal(scale=300, size=200),
            "balance": rng.integers(-9999, 9999, 200),
            "zip": rng.integers(10_000, 99_999, 200),
            "id": np.arange(1_000_000_000, 1_000_000_200)[::-1],
            "flag": rng.integers(0, 2, 200),
            "town": rng.choice(["Ulm", "Bonn"], 200),
        }
    )
    assert infer_types(frame) == []


def test_a_few_words_among_numbers_become_missing_and_are_reported() -> None:
    frame = pd.DataFrame({"size": ["12", "7.5", "31", "n.b."] * 5 + ["8", "9"] * 4})
    (decision,) = infer_types(frame)
    assert (decision.reads_as, decision.evidence["words"]) == ("number", ("n.b.",))
    assert parse_frame(frame)["size"].isna().sum() == 5


def test_types_of_the_user_win() -> None:
    frame = pd.DataFrame({"store": [3, 4, 3, 5], "amount": ["$1", "$2", "$3", "$4"]})
    assert infer_parsers(frame, types={"amount": "text", "store": "category"})[0]["columns"] == ["store"]
    read = parse_frame(frame, types={"amount": "text", "store": "category"})
    assert read["store"].tolist() == ["3", "4", "3", "5"]
    assert read["amount"].tolist() == ["$1", "$2", "$3", "$4"]


def test_marks_behind_grades_are_no_signs() -> None:
    grades = ["2-", "1", "3+", "2", "1-", "4"]
    assert parse_frame(pd.DataFrame({"grade": grades}))["grade"].tolist() == grades


def test_digits_behind_a_wrong_letter_are_no_unit() -> None:
    frame = pd.DataFrame({"v": [f"{n * 1.5}" for n in range(99)] + ["1O.5"]})
    (decision,) = infer_types(frame)
    assert "'1O.5' become missing" in decision.text
    assert decision.evidence["unit"] == ""
    assert parse_frame(frame)["v"].isna().tolist() == [False] * 99 + [True]


@pytest.mark.parametrize(("mark", "minutes"), [(":", 30), ("h", 30), (":", 0), ("h", 0)])
def test_equal_minutes_of_times_are_no_unit(mark: str, minutes: int) -> None:
    frame = pd.DataFrame({"time": [f"{hour}{mark}{minutes:02}" for hour in range(6, 22)]})
    assert parse_frame(frame)["time"].tolist() == [hour + minutes / 60 for hour in range(6, 22)]


@pytest.mark.parametrize("unit", ["m2", "\u00b5g/m3", "l/100km", "g CO2/km", "kg CO2e", "\u00b5g PM10"])
def test_units_hold_digits_where_units_have_them(unit: str) -> None:
    frame = pd.DataFrame({"v": [f"{n}.5 {unit}" for n in range(9)]})
    assert infer_types(frame)[0].evidence["unit"] == unit.casefold()


def test_words_behind_few_numbers_are_not_the_unit_of_all() -> None:
    frame = pd.DataFrame({"v": [f"{n}.5" for n in range(99)] + ["7 estimated"]})
    assert infer_types(frame)[0].evidence["unit"] == ""
    assert parse_frame(frame)["v"].tolist()[-1] == 7
