"""Requests for an answer or a table as a file."""

import pytest

from app.agents.assistant.brief import EarlierTurn
from app.agents.assistant.tables.exports import ExportRefusal, TableExport, read_export

EARLIER = [EarlierTurn("total cost by city", columns=("city", "total cost"), sql="SELECT 1")]
TABLES = ("orders", "web_visits")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("save that as csv", "city_total_cost.csv"),
        ("export this", "city_total_cost.csv"),
        ("Can I download it as an Excel file, please?", "city_total_cost.xlsx"),
        ("save it to plans/worst.csv", "plans/worst.csv"),
        ("give me these rows as json", "city_total_cost.json"),
        ("as parquet please", "city_total_cost.parquet"),
        ("write the result to out.tsv", "out.tsv"),
        ("save it as a file", "city_total_cost.csv"),
        ("can you put that in a file?", "city_total_cost.csv"),
        ("give me the file", "city_total_cost.csv"),
        ("save the table", "city_total_cost.csv"),
        ("make it a csv", "city_total_cost.csv"),
        ("as a tab separated file", "city_total_cost.tsv"),
    ],
)
def test_the_last_answer_is_saved(message: str, name: str) -> None:
    assert read_export(message, EARLIER, TABLES, []) == TableExport("SELECT 1", name)


def test_a_table_is_saved_by_its_name_and_a_taken_name_is_not_used_twice() -> None:
    assert read_export("download web visits", [], TABLES, []) == TableExport(
        'SELECT * FROM "web_visits"', "web_visits.csv"
    )
    again = read_export("export this as csv", EARLIER, TABLES, ["City_total_cost.csv"])
    assert isinstance(again, TableExport)
    assert again.name == "city_total_cost_2.csv"


def test_what_has_no_rows_to_save_is_said() -> None:
    for earlier in ([], [EarlierTurn("PYTHON: 1", code="1")], [EarlierTurn("x", sql="UPDATE", changed=("t",))]):
        assert isinstance(read_export("export this", earlier, TABLES, []), ExportRefusal)


@pytest.mark.parametrize(
    "message",
    [
        "save this as a weekly report",
        "send me the result by email as csv",
        "write notes.csv: a,b",
        "show sales.csv",
        "how many downloads per month",
        "read out.csv",
        "read the file",
        "how many files are there",
        "save it every day",
        "total cost of excel licences",
    ],
)
def test_other_messages_are_none(message: str) -> None:
    assert read_export(message, EARLIER, TABLES, []) is None


def test_what_is_saved_behind_a_workflow_is_not_the_answer_before_it() -> None:
    workflow = EarlierTurn("do this every weekday at 8", workflow="wf")
    assert read_export("save it", [*EARLIER, workflow], TABLES, []) is None
