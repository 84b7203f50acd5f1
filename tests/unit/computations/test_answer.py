from pathlib import Path

import duckdb
import pytest

from app.computations.answer import answer
from app.computations.workspace import CellWorkspace
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
