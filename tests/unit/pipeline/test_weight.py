"""A worker that drives sessions stays light: computing happens in cells only."""

import subprocess
import sys

HEAVY = ("pandas", "numpy", "sklearn", "scipy", "xgboost", "matplotlib", "duckdb", "pyarrow")


def test_the_pipeline_imports_no_science():
    code = f"import sys, app.worker.graphs; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
