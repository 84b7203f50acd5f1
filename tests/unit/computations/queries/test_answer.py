from pathlib import Path

import duckdb
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.answer import answer
from app.errors import InvalidInput


@pytest.fixture
def bench(tmp_path: Path) -> CellWorkspace:
    table = tmp_path / "t.parquet"
    duckdb.sql(f"COPY (SELECT i AS x, i % 2 AS k FROM range(10) r(i)) TO '{table}' (FORMAT parquet)")
    (tmp_path / "out").mkdir()
    return CellWorkspace({"t": table, "u": table}, tmp_path / "out")


@pytest.mark.parametrize(
    ("sql", "used", "there", "tables"),
    [
        ("SELECT k, avg(x) FROM t WHERE x > 6 GROUP BY k ORDER BY k", 3, 10, ["t"]),
        ("SELECT count(*) FROM t", 10, 10, ["t"]),
        ("SELECT avg(t.x) FROM t JOIN u ON t.x = u.x WHERE u.x < 4", 4, 10, ["t", "u"]),
        ("WITH few AS (SELECT * FROM t LIMIT 2) SELECT count(*) FROM few", None, None, ["t"]),
        ("SELECT max(n) FROM (SELECT count(*) AS n FROM t GROUP BY k)", None, None, ["t"]),
        ("SELECT x FROM t UNION ALL SELECT x FROM u", None, None, ["t", "u"]),
    ],
)
def test_rows_behind_an_answer_are_counted_or_null(bench, sql, used, there, tables):
    facts = answer(bench, sql)
    assert (facts["rows_used"], facts["rows_there"], facts["tables"]) == (used, there, tables)
    assert [file.name for file in bench.output.iterdir()] == ["result.parquet"]


def test_answers_obey_the_sql_policy(bench):
    with pytest.raises(InvalidInput, match="not admitted"):
        answer(bench, "SELECT * FROM read_csv('/etc/passwd')")


def test_rows_are_counted_where_a_table_has_the_name_that_the_query_gives_its_result(bench):
    named = CellWorkspace({"answer": bench.inputs["t"]}, bench.output)
    counts = ('SELECT count(*) FROM "answer" WHERE x > 6', 'SELECT count(*) FROM "answer"')
    facts = answer(named, 'SELECT max(x) FROM "answer" WHERE x > 6', counts)
    assert (facts["rows"], facts["rows_used"], facts["rows_there"]) == ([[9]], 3, 10)


@pytest.mark.parametrize("counting", ["SELECT count(*) FROM read_csv('/etc/passwd')", "SELECT 1; SELECT 2"])
def test_counts_obey_the_sql_policy(bench, counting):
    with pytest.raises(InvalidInput) as refusal:
        answer(bench, "SELECT x FROM t", ("SELECT count(*) FROM t", counting))
    assert refusal.value.code in ("function_not_admitted", "sql_not_admitted")
    assert not [*bench.output.iterdir()]
