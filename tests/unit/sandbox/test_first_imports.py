"""A process that has what the first computations need imports nothing more when it carries them out.

Except a small module of pyarrow, which its first conversion of a table imports.
"""

import os
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import sys
from pathlib import Path
from app.sandbox.zygote.preloaded_libraries import load_first

load_first()
loaded = {*sys.modules}
from app.computations.queries.answer import answer
from app.computations.uploads.ingest import ingest
from app.computations.cell_files.workspace import CellWorkspace

upload, table, rows = (Path(folder) for folder in sys.argv[1:])
ingest(CellWorkspace({"upload": upload}, table), "orders.csv")
question = "SELECT region, sum(amount) FROM orders GROUP BY region"
answer(CellWorkspace({"orders": table / "table.parquet"}, rows), question)
print(*sorted(name for name in {*sys.modules} - loaded if not name.startswith("pyarrow.vendored")))
"""

_FIRST_QUERIES = """
import os
from app.computations.uploads import sql
from app.sandbox.zygote.preloaded_libraries import load_first, remaining_steps

load_first()
threads = len(os.listdir("/proc/self/task"))
remaining_steps()[0]()
new_threads = len(os.listdir("/proc/self/task")) - threads
print(len(sql._prepared), sql.PREPARED_DATABASES, len(sql._finished), new_threads)
"""


def test_the_first_queries_leave_fresh_databases_no_thread_and_no_file(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _FIRST_QUERIES],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert (ended.returncode, ended.stdout) == (0, "2 2 0 0\n"), ended.stderr
    assert not [*tmp_path.iterdir()]


def test_an_upload_and_an_answer_import_nothing_more(tmp_path: Path) -> None:
    upload, table, rows = tmp_path / "orders.csv", tmp_path / "table", tmp_path / "rows"
    upload.write_text("region,amount\nnorth,10\nsouth,20\nnorth,5\n")
    table.mkdir()
    rows.mkdir()
    command = [sys.executable, "-c", _PROGRAM, *map(str, (upload, table, rows))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "\n"), ended.stderr
    assert (rows / "result.parquet").exists()
