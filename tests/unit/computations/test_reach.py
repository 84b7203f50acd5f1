"""Files that a computation's database reaches: its inputs and its output folder, whatever a statement says."""

from pathlib import Path

import duckdb
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads import sql

MIB = 1 << 20


@pytest.fixture(params=[False, True], ids=["opened", "prepared"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> CellWorkspace:
    if request.param:
        sql.prepare_databases()
    (tmp_path / "output").mkdir()
    (tmp_path / "input.csv").write_text("v\n1\n")
    (tmp_path / "secret.csv").write_text("word\nhidden\n")
    return CellWorkspace({"upload": tmp_path / "input.csv"}, tmp_path / "output")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{}/secret.csv')",
        "SELECT * FROM '{}/secret.csv'",
        "SELECT * FROM read_text('{}/output/../secret.csv')",
        "SELECT * FROM glob('{}/*')",
        "COPY (SELECT 1) TO '{}/new.csv'",
        "ATTACH '{}/new.db'",
        "SET enable_external_access = true",
        "SET allowed_directories = ['{}']",
        "INSTALL httpfs",
    ],
)
def test_other_files_are_out_of_reach(bench: CellWorkspace, tmp_path: Path, statement: str) -> None:
    before = sorted(tmp_path.iterdir())
    with (
        sql.connect(bench, bench.output, 256 * MIB) as connection,
        pytest.raises(duckdb.Error),
    ):
        connection.execute(statement.format(tmp_path))
    assert sorted(tmp_path.iterdir()) == before


def test_inputs_are_read_and_the_output_folder_is_written(bench: CellWorkspace) -> None:
    target = bench.output / "table.parquet"
    with sql.connect(bench, bench.output, 256 * MIB) as connection:
        connection.execute(f"COPY (FROM read_csv({sql.text(bench.inputs['upload'])})) TO {sql.text(target)}")
        assert connection.execute(f"FROM read_parquet({sql.text(target)})").fetchall() == [(1,)]


def test_with_a_target_nothing_else_is_written(bench: CellWorkspace) -> None:
    with (
        sql.connect(bench, bench.output, 256 * MIB, bench.output / "result.parquet") as connection,
        pytest.raises(duckdb.Error),
    ):
        connection.execute(f"COPY (SELECT 1) TO '{bench.output}/other.parquet'")


def test_a_prepared_database_is_for_one_use_and_takes_the_limits_of_that(bench: CellWorkspace) -> None:
    tables = []
    for memory_bytes in (64 * MIB, 128 * MIB):
        with sql.connect(bench, bench.output, memory_bytes) as connection:
            (limit,) = connection.execute("SELECT current_setting('memory_limit')").fetchone() or ("",)
            assert limit == f"{memory_bytes / MIB:.1f} MiB"
            tables += connection.execute("SHOW TABLES").fetchall()
            connection.execute("CREATE TABLE kept AS SELECT 1 AS v")
    assert tables == []


def test_a_finished_database_is_closed_before_the_next_is_filled(bench: CellWorkspace) -> None:
    with sql.connect(bench, bench.output, 256 * MIB):
        pass
    (finished,) = sql._finished
    with sql.connect(bench, bench.output, 256 * MIB):
        assert not sql._finished
        with pytest.raises(duckdb.ConnectionException):
            finished.execute("SELECT 1")
