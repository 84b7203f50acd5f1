"""Messages that change a table, each run as the SQL that it becomes."""

from datetime import datetime

import pytest

from app.agents.assistant.brief import EarlierTurn
from app.agents.assistant.table_changes.change import ChangeStatements, UnclearTableChange

from .conftest import Tables

ANSWER = EarlierTurn(
    "total weight by depot",
    columns=("depot", "total weight"),
    sql="SELECT depot, sum(weight) AS total FROM deliveries GROUP BY depot",
)
GAPS = EarlierTurn("how many missing values are there in weight?", columns=("missing weight",), sql="SELECT 1")


@pytest.mark.parametrize(
    "message",
    ["rename depot to site", "Please rename the column depot to site.", "change the name of depot to 'site'"],
)
def test_a_column_gets_another_name(tables: Tables, message: str) -> None:
    assert tables.change(message).columns == ["delivery", "sent", "arrived", "site", "weight", "late"]


def test_several_columns_get_other_names_at_once(tables: Tables) -> None:
    columns = tables.change("rename depot to site and weight to kilograms").columns
    assert columns == ["delivery", "sent", "arrived", "site", "kilograms", "late"]


def test_a_column_of_the_last_answer_is_renamed_there_and_in_no_table(tables: Tables) -> None:
    assert tables.read("rename depot to site", [ANSWER]) is None
    assert isinstance(tables.read("rename the column depot to site", [ANSWER]), ChangeStatements)


@pytest.mark.parametrize(
    "message", ["drop the columns late and weight", "remove late, weight", "delete the late and weight columns"]
)
def test_columns_are_left_out(tables: Tables, message: str) -> None:
    assert tables.change(message).columns == ["delivery", "sent", "arrived", "depot"]


@pytest.mark.parametrize(
    "message",
    [
        "fill missing weight with the median",
        "fill the missing values in weight with its median",
        "impute weight by the median of weight",
        "replace missing values in weight with the median",
        "can you fill missing weights with the median please?",
    ],
)
def test_gaps_are_filled_with_a_statistic_and_rows_keep_their_order(tables: Tables, message: str) -> None:
    changed = tables.change(message)
    assert changed.column("weight") == [2.5, 2.5, 3.5, 1.0, 1.0, 9.0]
    assert changed.sentence == "Filled 1 missing value of `weight` in deliveries with the median."


def test_the_group_may_stand_before_its_statistic(tables: Tables) -> None:
    assert tables.change("impute missing weight with the depot median").column("weight")[1] == 1.0


@pytest.mark.parametrize("message", ["fill in the missing values", "handle missing values in weight"])
def test_a_fill_without_a_value_is_asked_about(tables: Tables, message: str) -> None:
    question = tables.read(message)
    assert isinstance(question, UnclearTableChange)
    assert "Say what they are filled with" in question.reason


def test_a_value_is_set_where_one_is_missing(tables: Tables) -> None:
    assert tables.change("set depot to East where it is missing").column("depot")[5] == "East"
    assert tables.change("fill NA in depot with East").column("depot")[5] == "East"


def test_them_are_the_gaps_that_were_spoken_of(tables: Tables) -> None:
    changed = tables.change("fill them with 0", [GAPS])
    assert changed.column("weight")[1] == 0
    assert changed.column("depot")[5] is None


def test_gaps_are_filled_within_groups_in_the_order_of_rows(tables: Tables) -> None:
    changed = tables.change("fill missing weight with the mean of each depot")
    assert changed.column("weight") == [2.5, 1.0, 3.5, 1.0, 1.0, 9.0]
    assert changed.columns == ["delivery", "sent", "arrived", "depot", "weight", "late"]


def test_gaps_take_the_value_before_them(tables: Tables) -> None:
    assert tables.change("forward fill weight by sent").column("weight")[1] == 2.5
    question = tables.read("forward fill weight")
    assert isinstance(question, UnclearTableChange)
    assert "an order of the rows" in question.reason


def test_a_text_fills_texts_and_no_numbers(tables: Tables) -> None:
    assert tables.change("fill missing depot with unknown").column("depot")[5] == "unknown"
    refusal = tables.read("fill missing weight with unknown")
    assert isinstance(refusal, UnclearTableChange)
    assert "cannot hold" in refusal.reason


@pytest.mark.parametrize(
    ("message", "remaining"),
    [
        ("drop rows with missing weight", [1, 3, 4, 4, 5]),
        ("remove rows where depot is missing", [1, 2, 3, 4, 4]),
        ("delete all deliveries without data where weight is missing", None),
        ("dropna", [1, 3, 4, 4]),
        ("remove duplicates", [1, 2, 3, 4, 5]),
        ("deduplicate the table", [1, 2, 3, 4, 5]),
        ("remove duplicate rows by depot", [1, 2, 5]),
        ("keep one row per depot", [1, 2, 5]),
        ("drop duplicates by depot, keeping the last", [3, 4, 5]),
        ("delete the deliveries where weight is above 3", [1, 2, 4, 4]),
        ("delete the deliveries where sent is in 2024", [1, 2]),
        ("remove the rows with weight below 2", [1, 2, 3, 5]),
    ],
)
def test_rows_are_removed_and_others_stay_in_order(
    tables: Tables, message: str, remaining: list[int] | None
) -> None:
    if remaining is None:
        assert not isinstance(tables.read(message), ChangeStatements)
        return
    assert tables.change(message).column("delivery") == remaining


@pytest.mark.parametrize(
    "message",
    ["replace yes by 1 and no by 0 in late", "map Yes to 1, no to 0", "recode late: yes as 1 and no as 0"],
)
def test_all_values_replaced_by_numbers_make_a_column_of_numbers(tables: Tables, message: str) -> None:
    if ":" in message:
        assert not isinstance(tables.read(message), ChangeStatements)
        return
    assert tables.change(message).column("late") == [1, 0, 0, 1, 1, 0]


def test_new_values_may_stand_before_the_former_ones(tables: Tables) -> None:
    assert tables.change("change late to 1 for yes and 0 for no").column("late") == [1, 0, 0, 1, 1, 0]


def test_a_value_is_told_from_one_that_differs_in_case(tables: Tables) -> None:
    changed = tables.change("replace South with south in depot")
    assert changed.sentence.startswith("Replaced South by south")


def test_one_value_is_replaced_and_the_others_stay(tables: Tables) -> None:
    changed = tables.change("change North to Nord in depot")
    assert changed.column("depot") == ["Nord", "South", "Nord", "South", "South", None]
    refusal = tables.read("replace maybe by 1 in late")
    assert isinstance(refusal, UnclearTableChange)
    assert "no value maybe; it has no, yes" in refusal.reason


def test_types_and_spelling_are_changed(tables: Tables) -> None:
    assert tables.change("convert delivery to text").column("delivery")[0] == "1"


def test_texts_are_written_in_capitals(tables: Tables) -> None:
    changed = tables.change("make depot uppercase")
    assert changed.column("depot")[0] == "NORTH"
    assert changed.sentence == "Wrote `depot` of deliveries in capital letters."


def test_numbers_are_rounded_and_scaled(tables: Tables) -> None:
    changed = tables.change("multiply weight by 1000")
    assert changed.column("weight")[0] == 2500
    assert changed.sentence == "Multiplied `weight` of deliveries by 1000."


@pytest.mark.parametrize(
    "message", ["round weight to 0 decimals", "round the column weight to the nearest integer", "round weight"]
)
def test_numbers_are_rounded(tables: Tables, message: str) -> None:
    assert tables.change(message).column("weight")[2] == 4


@pytest.mark.parametrize(
    ("message", "name", "values"),
    [
        ("add the month of sent as a column", "month", [3, 5, 1, 2, 2, 7]),
        ("add a column month from sent", "month", [3, 5, 1, 2, 2, 7]),
        ("extract the year from sent", "year", [2023, 2023, 2024, 2024, 2024, 2024]),
        (
            "create a weekday column from sent",
            "weekday",
            ["Monday"] * 2 + ["Wednesday"] + ["Thursday"] * 2 + ["Monday"],
        ),
        ("add the days between sent and arrived as a column called duration", "duration", [3, 1, 4, 2, 2, 1]),
    ],
)
def test_dates_make_columns(tables: Tables, message: str, name: str, values: list[object]) -> None:
    assert tables.change(message).column(name) == values


@pytest.mark.parametrize(
    ("message", "name", "values"),
    [
        ("grams = weight * 1000", "grams", [2500.0, None, 3500.0, 1000.0, 1000.0, 9000.0]),
        ("create a column grams as weight times 1000", "grams", [2500.0, None, 3500.0, 1000.0, 1000.0, 9000.0]),
        ("add a column transit: arrived minus sent", "transit", [3, 1, 4, 2, 2, 1]),
        ("add column transit: days between sent and arrived", "transit", [3, 1, 4, 2, 2, 1]),
        (
            "add weight divided by delivery as a column called share",
            "share",
            [2.5, None, 3.5 / 3, 0.25, 0.25, 1.8],
        ),
        ("create an is_heavy flag for weight over 3", "is_heavy", [False, None, True, False, False, True]),
        (
            "add a column size: light if weight is below 3 else heavy",
            "size",
            ["light", "heavy", "heavy", "light", "light", "heavy"],
        ),
    ],
)
def test_words_make_columns(tables: Tables, message: str, name: str, values: list[object]) -> None:
    assert tables.change(message).column(name) == values


def test_brackets_are_left_to_expressions(tables: Tables) -> None:
    assert tables.read("create a column mean = (weight + delivery) / 2") is None
    assert tables.read("create a column share = weight / delivery, then plot it") is None
    assert tables.read("depot = North") is None


def test_a_text_is_split_in_two(tables: Tables) -> None:
    changed = tables.change("split depot at 'o' into head and tail")
    assert changed.column("head")[:2] == ["N", "S"]
    assert changed.column("tail")[:2] == ["rth", "uth"]


def test_the_parts_of_a_text_take_no_name_that_there_is(tables: Tables) -> None:
    refusal = tables.read("split depot into late and rest")
    assert isinstance(refusal, UnclearTableChange)
    assert refusal.reason == "deliveries has `late` already."


def test_a_condition_that_is_not_understood_changes_nothing(tables: Tables) -> None:
    removal = tables.read("delete the deliveries where the moon is blue")
    assert isinstance(removal, UnclearTableChange)
    assert removal.reason.startswith("I removed no rows: “where the moon is blue” is not understood.")
    column = tables.read("create an is_odd flag for the moon is blue")
    assert isinstance(column, UnclearTableChange)
    assert column.reason.startswith("I made no column:")


def test_a_part_of_a_date_without_the_word_column_may_be_a_question(tables: Tables) -> None:
    assert tables.read("get the month of sent") is None


def test_an_answer_becomes_a_table(tables: Tables) -> None:
    changed = tables.change("save this as depot_weights", [ANSWER])
    assert sorted(changed.rows, key=str) == [("North", 6.0), ("South", 2.0), (None, 9.0)]
    refusal = tables.read("save this as depot_weights")
    assert isinstance(refusal, UnclearTableChange)


@pytest.mark.parametrize(
    "message", ["save this as csv", "make it simple", "save it as a workflow", "keep that for later"]
)
def test_forms_are_no_names_of_tables(tables: Tables, message: str) -> None:
    assert tables.read(message, [ANSWER]) is None


def test_a_question_becomes_a_table(tables: Tables) -> None:
    changed = tables.change("create a table heavy of the rows with weight above 3")
    assert changed.column("delivery") == [3, 5]


def test_tables_are_joined_by_the_column_that_is_unique_in_one(tables: Tables) -> None:
    changed = tables.change("join deliveries and depots as places", tables=("deliveries", "depots"))
    assert len(changed.rows) == 6
    assert sorted(changed.column("city"), key=str) == ["Kiel", "Kiel", None, "Ulm", "Ulm", "Ulm"]


def test_columns_of_the_row_that_belongs_to_each_row_are_added(tables: Tables) -> None:
    both = ("deliveries", "depots")
    changed = tables.change("add the city from depots to deliveries", tables=both)
    assert changed.columns == ["delivery", "sent", "arrived", "depot", "weight", "late", "city"]
    assert len(changed.rows) == 6


def test_the_noun_of_the_rows_says_the_table(tables: Tables) -> None:
    earlier = [EarlierTurn("copy depots as backup", changed=("depots",), changes_tables=True)]
    both = ("deliveries", "depots")
    change = tables.read("remove deliveries with missing depot", earlier, both)
    assert isinstance(change, ChangeStatements)
    assert change.table == "deliveries"


def test_a_column_of_two_tables_is_asked_about(tables: Tables) -> None:
    both = ("deliveries", "depots")
    question = tables.read("rename depot to site", tables=both)
    assert isinstance(question, UnclearTableChange)
    assert "Say of which table" in question.reason
    assert tables.change("rename depot to site in depots", tables=both).columns == ["site", "city"]


@pytest.mark.parametrize(
    "message",
    [
        "total weight by depot",
        "only 2024",
        "remove it",
        "drop the top 3",
        "sort by weight",
        "without the North",
        "what if we leave out weight?",
        "predict late",
        "send this to my boss",
        "make it a line chart",
        "turn that into a bar chart",
        "change the colors",
        "convert to percent",
        "round to 2 decimals",
        "replace the chart by a table",
        "delete everything",
        "fill out the form",
        "rename it",
        "merge the results",
        "which deliveries were removed?",
    ],
)
def test_other_messages_change_no_table(tables: Tables, message: str) -> None:
    assert tables.read(message, [ANSWER]) is None


def test_what_follows_is_left_for_the_table_as_it_is_then(tables: Tables) -> None:
    change = tables.read("fill missing weight with 0, then show the mean of weight")
    assert isinstance(change, ChangeStatements)
    assert change.rest == "show the mean of weight"


def test_the_new_column_stands_for_it_in_what_follows(tables: Tables) -> None:
    change = tables.read("add a column grams as weight times 1000, then show its mean")
    assert isinstance(change, ChangeStatements)
    assert change.rest == "show the mean of grams"


def test_a_name_that_holds_what_separates_sentences_is_a_name(tables: Tables) -> None:
    assert tables.change("rename depot to stock and show").columns[3] == "stock and show"


def test_dates_stay_dates(tables: Tables) -> None:
    assert tables.change("drop late").column("sent")[0] == datetime(2023, 3, 6)
