"""SQL of agents and users: what is admitted, what is refused and how it says so."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.query import run_sql
from app.computations.tables.table_rows import read_page
from app.errors import InvalidInput, LabError, TooLarge


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    connection = duckdb.connect()
    connection.execute(
        f"COPY (SELECT i AS id, i % 3 AS grp, i * 1.5 AS price, 'n' || i AS name,"
        f" TIMESTAMP '2024-01-01' + INTERVAL (i) DAY AS day FROM range(20) r(i)) TO '{folder}/sales.parquet'"
    )
    connection.execute(f"COPY (SELECT 1 AS grp, 'one' AS label) TO '{folder}/groups.parquet'")
    connection.execute(f"COPY (SELECT 'secret' AS secret) TO '{folder}/hidden.parquet'")
    connection.close()
    return folder


@pytest.fixture
def bench(tables: Path, tmp_path: Path) -> CellWorkspace:
    return CellWorkspace({name: tables / f"{name}.parquet" for name in ("sales", "groups")}, tmp_path)


BENIGN = [
    "SELECT * FROM sales",
    "select count(*), sum(price), avg(price) from SALES;",
    "FROM sales SELECT grp, price WHERE price > 3",
    'SELECT "name" FROM "sales" -- the end',
    "WITH top AS (SELECT * FROM sales ORDER BY price DESC LIMIT 3) SELECT * FROM top JOIN groups USING (grp)",
    "WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n",
    "SELECT s.id, g.label FROM sales s LEFT JOIN groups g ON s.grp = g.grp WHERE s.name LIKE 'n1%'",
    "SELECT grp, row_number() OVER (PARTITION BY grp ORDER BY price) AS n FROM sales QUALIFY n = 1",
    "SELECT date_trunc('month', day) AS m, extract(year FROM day) AS y, day - INTERVAL 1 DAY FROM sales",
    "SELECT grp, count(*) FILTER (WHERE price > 5), list(name), string_agg(name, ',') FROM sales GROUP BY ALL",
    "SELECT * EXCLUDE (name) REPLACE (price * 2 AS price) FROM sales",
    "SELECT list_transform([1, 2], x -> x + 1), [y * 2 FOR y IN [1, 2]], {'a': 1}, MAP {'k': 1}",
    "SELECT CASE WHEN price > 3 THEN 'hi' ELSE 'lo' END, CAST(id AS DOUBLE), TRY_CAST(name AS INT) FROM sales",
    "SELECT * FROM sales WHERE grp IN (SELECT grp FROM groups) AND EXISTS (SELECT 1 FROM groups)",
    "SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 3",
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT * FROM range(5) AS r(i), unnest([1, 2]) AS u(v)",
    "SELECT max(price) - min(price) FROM sales",
    "SELECT COLUMNS('p.*') FROM sales",
    "SELECT * FROM sales ASOF JOIN groups ON sales.grp >= groups.grp",
    "SELECT * FROM sales USING SAMPLE 5 ROWS",
    "SELECT lag(price) OVER w, avg(id) OVER (w ROWS 2 PRECEDING) FROM sales WINDOW w AS (ORDER BY day)",
    "SELECT quantile_cont(price, 0.5), corr(price, id), stddev(price) FROM sales",
    "SELECT name.upper(), lower(name), name || '!', regexp_matches(name, '1$') FROM sales",
    "SELECT a.* FROM (SELECT id, price FROM sales) a",
    "SELECT grp, sum(price) FROM sales GROUP BY ROLLUP (grp)",
    "SELECT sales.sales.price, sales.id FROM sales.sales JOIN \"GROUPS\".groups USING (grp)",
    "SELECT dataset.sales.price FROM dataset.sales WHERE grp IN (SELECT grp FROM groups)",
    "WITH sales AS (SELECT 1 AS x) SELECT * FROM sales.sales",
    "SELECT current_date, now(), coalesce(NULL, 1), nullif(1, 1)",
    "SELECT 'FROM ''hidden.parquet''; DROP TABLE sales' AS harmless_text",
]  # fmt: skip


@pytest.mark.parametrize("question", BENIGN)
def test_questions_are_answered(bench: CellWorkspace, question: str) -> None:
    answer = run_sql(bench, question)
    assert answer["columns"]
    assert [path.name for path in bench.output.iterdir()] == ["result.parquet"]


ATTACKS = [
    "SELECT * FROM '{other}'",
    'SELECT * FROM "{other}"',
    "FROM '{other}'",
    "FROM $${other}$$",
    "SELECT * FROM read_parquet('{other}')",
    "SELECT * FROM Read_Parquet('{other}')",
    'SELECT * FROM "read_parquet"(\'{other}\')',
    "SELECT * FROM system.main.read_parquet('{other}')",
    "SELECT * FROM parquet_scan('{other}')",
    "SELECT * FROM parquet_metadata('{other}')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM/**/read_csv_auto/**/('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM 'https://example.com/x.parquet'",
    "SELECT * FROM 's3://bucket/x.parquet'",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "SELECT * FROM sales WHERE name IN (SELECT content FROM read_text('/etc/passwd'))",
    "WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x",
    "WITH sales AS (FROM '{other}') SELECT * FROM sales",
    "SELECT * FROM (WITH \"{other}\" AS (SELECT 1) SELECT 1), '{other}'",
    "SELECT * FROM sales UNION ALL SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM sales, LATERAL (SELECT * FROM read_text('/etc/passwd'))",
    "SELECT list_transform(['/etc/passwd'], x -> (SELECT content FROM read_text(x)))",
    "SELECT [f FOR f IN (SELECT list(file) FROM glob('/*'))]",
    "SELECT getenv('HOME')",
    "SELECT 'HOME'.getenv()",
    "SELECT getvariable('x')",
    "SELECT current_setting('temp_directory')",
    "SELECT current_user, current_database()",
    "SELECT version()",
    "SELECT nextval('s')",
    "SELECT sleep_ms(100)",
    "SELECT pg_sleep(1)",
    "SELECT write_log('x')",
    "SELECT json_serialize_sql('SELECT 1')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''/etc/passwd'')'))",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
    "SELECT * FROM query_table('sales')",
    "SELECT * FROM query_table(['hidden'])",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_settings",
    "SELECT * FROM pragma_table_info('sales')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM pg_class",
    "SELECT * FROM main.sales",
    "SELECT * FROM memory.main.sales",
    "SELECT * FROM memory.sales.sales",
    "SELECT * FROM groups.sales",
    "SELECT * FROM hidden.hidden",
    "SELECT * FROM dataset.hidden",
    "WITH x AS (SELECT 1) SELECT * FROM x.x",
    "SELECT * FROM main.main",
    "SELECT * FROM seq_scan('sales')",
    "SELECT * FROM pandas_scan(1, 2, 3)",
    "SELECT * FROM python_map_function()",
    "SELECT * FROM bench",
    "COPY sales TO '/tmp/x.csv'",
    "COPY (SELECT 1) TO '/tmp/x.csv'",
    "COPY sales FROM '/etc/passwd'",
    "EXPORT DATABASE '/tmp/x'",
    "IMPORT DATABASE '/tmp/x'",
    "ATTACH '/tmp/x.db' AS x",
    "ATTACH 'host=localhost' AS p (TYPE postgres)",
    "DETACH memory",
    "USE memory",
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL httpfs",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "SET VARIABLE x = 1",
    "CALL pragma_version()",
    "CREATE TABLE x AS SELECT 1",
    "CREATE MACRO f(x) AS x",
    "CREATE SECRET s (TYPE s3)",
    "CREATE OR REPLACE VIEW sales AS SELECT 1",
    "INSERT INTO sales VALUES (1)",
    "UPDATE sales SET price = 0",
    "DELETE FROM sales",
    "DROP VIEW sales",
    "ALTER TABLE sales ADD COLUMN x INT",
    "TRUNCATE sales",
    "BEGIN",
    "CHECKPOINT",
    "VACUUM",
    "ANALYZE",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "DESCRIBE sales",
    "SHOW TABLES",
    "SUMMARIZE sales",
    "SELECT * FROM (DESCRIBE sales)",
    "SELECT * FROM (SHOW TABLES)",
    "SELECT * FROM (SUMMARIZE sales)",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SELECT $1",
    "SELECT ?",
    "SELECT $name",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP VIEW sales",
    "SELECT 1 /* ; */ ; COPY sales TO '/tmp/x'",
    "SELECT 1 INTO x",
    "SELECT * FROM sales FOR UPDATE",
    "SELECT * FROM sales AT (VERSION => 1)",
    "WITH gone AS (DELETE FROM sales RETURNING *) SELECT * FROM gone",
    "SELECT",
    "",
    ";",
    "hello",
    "SELECT * FROM sales WHERE (((",
    "SELECT '" ,
    "SELECT 1 \x00",
    "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "SELECT 1 -- " + "x" * 30_000,
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_everything_else_is_refused_and_leaves_nothing(bench: CellWorkspace, tables: Path, attack: str) -> None:
    with pytest.raises(LabError) as refusal:
        run_sql(bench, attack.replace("{other}", str(tables / "hidden.parquet")))
    assert refusal.value.code in {
        "sql_not_admitted", "function_not_admitted", "unknown_table", "sql_invalid", "sql_too_long",
    }  # fmt: skip
    assert "root:" not in refusal.value.detail
    assert not list(bench.output.iterdir())


def test_an_unknown_table_names_the_nearest(bench: CellWorkspace) -> None:
    with pytest.raises(InvalidInput, match="Did you mean sales") as refusal:
        run_sql(bench, "SELECT * FROM sale")
    assert refusal.value.facts["nearest"] == ["sales"]


def test_an_unknown_column_names_the_nearest(bench: CellWorkspace) -> None:
    for question in ("SELECT prize FROM sales", "SELECT s.prize FROM sales s"):
        with pytest.raises(InvalidInput, match=r"There is no column prize\. Did you mean price") as refusal:
            run_sql(bench, question)
        assert refusal.value.code == "unknown_column"


def test_a_query_without_tables_names_what_there_is(tmp_path: Path) -> None:
    without = CellWorkspace({}, tmp_path)
    for query, sentence in {
        "SELECT 1 FROM nosuch": "There is no table nosuch. There are none.",
        "SELECT nosuch": "There is no column nosuch.",
        "SELECT u.nosuch FROM (SELECT 1 AS a) u": "There is no column nosuch.",
        "SELECT nosuch FROM (SELECT 1 AS a)": "There is no column nosuch. There are: a.",
        "SELECT nosuch FROM (SELECT 1 AS notsuch)": "There is no column nosuch. Did you mean notsuch?",
    }.items():
        with pytest.raises(InvalidInput) as refusal:
            run_sql(without, query)
        assert str(refusal.value) == sentence


def test_an_unknown_function_names_the_nearest(bench: CellWorkspace) -> None:
    with pytest.raises(InvalidInput, match=r"The function medain is not admitted\. Did you mean median"):
        run_sql(bench, "SELECT medain(price) FROM sales")


def test_a_statement_is_refused_by_its_name(bench: CellWorkspace) -> None:
    for statement, name in {"COPY sales TO 'x'": "COPY", "ATTACH 'x'": "ATTACH", "PRAGMA x": "PRAGMA"}.items():
        with pytest.raises(InvalidInput, match=name):
            run_sql(bench, statement)


def test_a_result_over_the_row_cap_is_refused(bench: CellWorkspace) -> None:
    with pytest.raises(TooLarge, match="more than 10 rows"):
        run_sql(bench, "SELECT * FROM sales", max_rows=10)
    assert not list(bench.output.iterdir())


def test_a_result_is_of_plain_types_and_keeps_its_order(bench: CellWorkspace) -> None:
    answer = run_sql(
        bench,
        "SELECT name, name, sum(id) OVER () AS total, 1.5::DECIMAL(9, 2) AS d, day::DATE AS day, [1] AS l,"
        " price > 3 AS b FROM sales ORDER BY id DESC",
        rows=2,
    )
    assert [(column["name"], column["type"]) for column in answer["columns"]] == [
        ("name", "text"), ("name_2", "text"), ("total", "number"), ("d", "number"), ("day", "datetime"),
        ("l", "text"), ("b", "boolean"),
    ]  # fmt: skip
    assert answer["rows"][0] == ["n19", "n19", 190.0, 1.5, "2024-01-20T00:00:00", "[1]", True]
    assert (answer["row_count"], answer["truncated"]) == (20, True)


def test_a_query_over_its_memory_gives_a_clear_error(bench: CellWorkspace) -> None:
    with pytest.raises(LabError) as refusal:
        run_sql(bench, "SELECT list(i) FROM range(20000000) r(i)", memory_bytes=32 << 20)
    assert refusal.value.code == "query_too_large"
    assert not list(bench.output.iterdir())


def test_a_preview_pages_in_file_order(bench: CellWorkspace) -> None:
    page = read_page(CellWorkspace({"table": bench.inputs["sales"]}, bench.output), limit=2, offset=18)
    assert [row[0] for row in page["rows"]] == [18, 19]
    assert (page["total"], page["offset"]) == (20, 18)


def test_a_preview_sorts_filters_and_searches(bench: CellWorkspace) -> None:
    workspace = CellWorkspace({"table": bench.inputs["sales"]}, bench.output)
    whole = read_page(workspace, limit=20)
    names = [column["name"] for column in whole["columns"]]
    first = names[0]

    def firsts(**selection: Any) -> list[Any]:
        return [row[0] for row in read_page(workspace, limit=20, **selection)["rows"]]

    assert firsts(sort=[{"column": first, "descending": True}]) == [*range(19, -1, -1)]
    assert firsts(filter={"column": first, "comparison": ">=", "values": ["18"]}) == [18, 19]
    assert firsts(filter={"column": first, "comparison": "missing"}) == []
    assert firsts(search="no such text' OR 1=1 --") == []
    below = {"column": first, "comparison": "<", "values": ["9.5"]}
    page = read_page(workspace, limit=2, offset=1, sort=[{"column": first}], filter=below)
    assert ([row[0] for row in page["rows"]], page["matching"], page["total"]) == ([1, 2], 10, 20)
