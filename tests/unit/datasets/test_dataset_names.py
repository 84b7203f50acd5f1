"""Names of datasets, and what they are called in SQL."""

import re

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from app.datasets.dataset_names import make_dataset_name, make_table_names


def test_a_dataset_is_called_after_its_file() -> None:
    assert make_dataset_name("titanic.csv") == "titanic"
    assert make_dataset_name("C:\\data\\My sales 2024.csv.gz") == "My sales 2024"
    assert make_dataset_name("../../etc/passwd") == "passwd"
    assert make_dataset_name("a\x00b\n.parquet") == "a b"
    assert make_dataset_name(".csv") == "dataset"


def test_table_names_are_unique_and_need_no_quotes() -> None:
    assert make_table_names(["Sales", "sales", "Ümsätze 2024", "2024", "select", "!!", "order"]) == [
        "sales",
        "sales_2",
        "umsatze_2024",
        "t_2024",
        "table_select",
        "table",
        "table_order",
    ]
    assert make_table_names(["train"], reserved=["train"]) == ["train_2"]


@given(st.lists(st.text(max_size=80), max_size=8))
def test_any_name_becomes_a_table_name(names: list[str]) -> None:
    tables = make_table_names(names)
    assert len(set(tables)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,60}", table) for table in tables)


def test_no_table_name_is_a_keyword() -> None:
    connection = duckdb.connect()
    reserved = connection.execute(
        "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    )
    for (word,) in reserved.fetchall():
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {make_table_names([word])[0]} AS SELECT 1")
