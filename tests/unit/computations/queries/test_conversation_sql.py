"""SQL of a conversation: changes of tables as SELECTs, and what is refused."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.conversation_sql import run
from app.errors import LabError

Run = Callable[..., dict[str, Any]]

DATASET_ID = "6f1c2a34-9d0e-4b7a-8f3c-2b1d5e6a7c80"
ROWS = [("Bern", "CH", 134000), ("Thun", "CH", 43500), ("Biel", "CH", None), ("Graz", "AT", 291000)]


@pytest.fixture
def run_sql(tmp_path: Path) -> Run:
    """Run statements over the dataset `cities`, and over `tables` as they were left before."""
    path = tmp_path / "cities.parquet"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE cities (city VARCHAR, country VARCHAR, people BIGINT)")
        connection.executemany("INSERT INTO cities VALUES (?, ?, ?)", ROWS)
        connection.table("cities").write_parquet(str(path))
    folders = iter(range(1_000))

    def run_once(sql: str, former: Mapping[str, Any] | None = None) -> dict[str, Any]:
        output = tmp_path / str(next(folders))
        output.mkdir()
        former = former or {"paths": {}, "views": {}}
        workspace = CellWorkspace({"dataset.cities": path, **former["paths"]}, output)
        facts: dict[str, Any] = run(workspace, sql, former["views"], schemas={DATASET_ID: "cities"})
        after: Any = facts.get("workspace", {"tables": {}, "views": {}})
        paths = {
            name: former["paths"][table["input"]] if "input" in table else output / table["file"]
            for name, table in after["tables"].items()
        }
        assert {file.name for file in output.iterdir()} - {"result.parquet"} == {
            path.name for path in paths.values() if path.parent == output
        }
        return {**facts, "paths": paths, "views": {name: view["sql"] for name, view in after["views"].items()}}

    return run_once


CHANGES = {
    "update": ("UPDATE cities SET people = people * 2 WHERE country = 'CH'", "Changed 3 of 4 rows of cities."),
    "update all": ("UPDATE cities SET people = 1, city = upper(city)", "Changed 4 of 4 rows of cities."),
    "update alias": ("UPDATE cities AS c SET people = c.people + 1 WHERE c.city LIKE 'B%'", "Changed 2 of 4"),
    "update subquery": (
        "UPDATE cities SET people = (SELECT max(people) FROM cities) WHERE people IS NULL",
        "Changed 1 of 4",
    ),
    "swap": ("UPDATE cities SET city = country, country = city", "Changed 4 of 4"),
    "delete": ("DELETE FROM cities WHERE people > 100000", "Deleted 2 rows of cities, which has 2 rows now."),
    "delete all": ("DELETE FROM cities", "Deleted 4 rows"),
    "insert": ("INSERT INTO cities VALUES ('Wien', 'AT', '1900000'), ('Linz', 'AT', NULL)", "Inserted 2 rows"),
    "insert some": ("INSERT INTO cities (people, city) SELECT 7, 'x'", "Inserted 1 row into cities"),
    "insert by name": ("INSERT INTO cities BY NAME SELECT 5 AS people", "Inserted 1 row"),
    "insert with": ("WITH x AS (SELECT * FROM cities) INSERT INTO cities SELECT * FROM x", "Inserted 4 rows"),
    "add": ("ALTER TABLE cities ADD COLUMN share DOUBLE", "Added the column share to cities."),
    "drop": ("ALTER TABLE cities DROP COLUMN people", "Dropped the column people of cities."),
    "rename": ("ALTER TABLE cities RENAME COLUMN people TO inhabitants", "Renamed the column people"),
    "rename short": ("ALTER TABLE cities RENAME people TO inhabitants", "Renamed the column people"),
    "type": ("ALTER TABLE cities ALTER people TYPE VARCHAR", "Changed the type of the column people"),
}


@pytest.mark.parametrize(("statement", "told"), CHANGES.values(), ids=CHANGES)
def test_a_rewritten_statement_leaves_the_rows_that_the_database_would(
    run_sql: Run, statement: str, told: str
) -> None:
    facts = run_sql(f"{statement}; SELECT * FROM cities")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE cities (city VARCHAR, country VARCHAR, people BIGINT)")
        connection.executemany("INSERT INTO cities VALUES (?, ?, ?)", ROWS)
        connection.execute(statement)
        assert [tuple(row) for row in facts["rows"]] == connection.execute("FROM cities").fetchall()
    (change,) = facts["changes"]
    assert change["text"].startswith(told)
    assert "the dataset stays as it is" in change["text"]
    assert [*facts["paths"]] == ["cities"]


def test_tables_views_and_datasets_are_told_apart_by_name(run_sql: Run) -> None:
    former = run_sql("CREATE TABLE big AS SELECT * FROM cities WHERE people > 100000; DELETE FROM cities")
    assert run_sql("SELECT count(*) FROM big", former)["rows"] == [[2]]
    assert run_sql("SELECT count(*) FROM cities", former)["rows"] == [[0]]
    for name in ("dataset.cities", "cities.cities"):
        assert run_sql(f"SELECT count({name}.city) FROM {name}", former)["rows"] == [[4]]
    former = run_sql("DROP TABLE cities; ALTER TABLE Big RENAME TO large", former)
    assert "cities is the dataset again" in former["changes"][0]["text"]
    assert [*former["paths"]] == ["large"]
    assert run_sql("SELECT count(*) FROM cities", former)["rows"] == [[4]]
    former = run_sql(
        "CREATE VIEW swiss AS SELECT * FROM cities WHERE country = 'CH'; CREATE VIEW small AS "
        "WITH swiss AS (SELECT * FROM swiss WHERE people < 50000) SELECT swiss.city FROM swiss",
        former,
    )
    assert run_sql("SELECT * FROM small", former)["rows"] == [["Thun"]]
    assert run_sql("WITH cities AS (SELECT 1 AS people) SELECT count(*) FROM swiss, cities", former)[
        "rows"
    ] == [[3]]
    former = run_sql("UPDATE cities SET country = 'XX'", former)
    assert run_sql("SELECT * FROM small", former)["rows"] == []


def test_a_statement_that_fails_undoes_those_before_it(run_sql: Run) -> None:
    with pytest.raises(LabError, match=r"Statement 2 of 2: .* Nothing was changed\."):
        run_sql("CREATE TABLE one AS SELECT 1 AS n; SELECT * FROM nothing")


REFUSED = {
    "UPDATE cities SET people = 1 FROM dataset.cities d": "CREATE OR REPLACE TABLE",
    "DELETE FROM cities USING dataset.cities d": r"WHERE ... IN \(SELECT ...\)",
    "UPDATE cities SET people = sum(people)": "SUM.* computes over many rows",
    "UPDATE cities SET people = unnest([1, 2])": "would make 8 rows of 4",
    "UPDATE cities SET peple = 1": "Did you mean people",
    "UPDATE citis SET people = 1": "Did you mean cities",
    "UPDATE cities SET people = 1, PEOPLE = 2": "set twice",
    "UPDATE dataset.cities SET people = 1": "can be read, not changed",
    "INSERT INTO cities VALUES (1, 2)": "takes 3 values a row here, not 2",
    "INSERT INTO cities VALUES ('a', 'b', 'c')": "Could not convert string",
    "INSERT INTO cities VALUES ('a', 'b', 1) RETURNING *": "RETURNING",
    "INSERT INTO cities VALUES ('a', 'b', 1) ON CONFLICT DO NOTHING": "Tables have no keys",
    "ALTER TABLE cities ADD COLUMN n INT DEFAULT 3": "set its values with UPDATE",
    "ALTER TABLE cities RENAME TO towns": "make a copy",
    "DROP TABLE cities": "is a dataset",
    "CREATE TABLE a (n INT PRIMARY KEY)": "Constraints and defaults are not kept",
    "CREATE TEMP TABLE a AS SELECT 1": "until it is dropped",
    "CREATE TABLE other.a AS SELECT 1": "name a table alone",
    'CREATE TABLE "a.b" AS SELECT 1': "letters, digits and _",
    'CREATE TABLE "table" AS SELECT 1': "not `table`",
    "CREATE TABLE a AS SELECT * FROM read_csv('/etc/passwd')": "read_csv is not admitted",
    "CREATE VIEW a AS SELECT * FROM read_parquet('/etc/passwd')": "read_parquet is not admitted",
    "INSERT INTO cities SELECT * FROM read_csv('/etc/passwd')": "read_csv is not admitted",
    "UPDATE cities SET city = getenv('HOME')": "getenv is not admitted",
    "DELETE FROM cities WHERE city IN (SELECT * FROM read_text('/etc/passwd'))": "read_text is not admitted",
    "CREATE VIEW cities AS SELECT * FROM cities": "would read itself",
    "TRUNCATE cities": "DELETE FROM without a WHERE",
    "COPY cities TO 'cities.csv'": "can be downloaded",
    "ATTACH 'other.db'": "ATTACH is not admitted",
    "SET threads = 3": "SET is not admitted",
    "CREATE MACRO f(x) AS x + 1": "is not admitted",
    "BEGIN": "hold together",
}


@pytest.mark.parametrize(("statement", "words"), REFUSED.items(), ids=REFUSED)
def test_statements_without_a_form_as_a_select_are_refused_in_words(
    run_sql: Run, statement: str, words: str
) -> None:
    with pytest.raises(LabError, match=words):
        run_sql(statement)


def test_the_id_of_a_dataset_stands_for_its_table(run_sql: Run) -> None:
    """In a conversation as in a run: of the dataset, whatever the conversation made of its name since."""
    query = f'SELECT count(*), max("{DATASET_ID}".cities.people) FROM "{DATASET_ID}".cities'
    assert run_sql(query)["rows"] == [[4, 291000]]
    changed = run_sql("DELETE FROM cities WHERE country = 'CH'")
    assert run_sql("SELECT count(*) FROM cities", changed)["rows"] == [[1]]
    assert run_sql(query.upper().replace("CITIES", "cities"), changed)["rows"] == [[4, 291000]]
    viewed = run_sql(f'CREATE VIEW all_cities AS SELECT * FROM "{DATASET_ID}".cities', changed)
    assert run_sql("SELECT count(*) FROM all_cities", viewed)["rows"] == [[4]]
    restored = run_sql(f'CREATE OR REPLACE TABLE cities AS SELECT * FROM "{DATASET_ID}".cities', changed)
    assert run_sql("SELECT count(*) FROM cities", restored)["rows"] == [[4]]


@pytest.mark.parametrize(
    "table", [f'"{DATASET_ID}".towns', '"6f1c2a34-9d0e-4b7a-8f3c-2b1d5e6a7c81".cities', "main.cities"]
)
def test_another_id_stands_for_no_table(run_sql: Run, table: str) -> None:
    with pytest.raises(LabError) as refusal:
        run_sql(f"SELECT * FROM {table}")
    assert refusal.value.code == "unknown_table"
