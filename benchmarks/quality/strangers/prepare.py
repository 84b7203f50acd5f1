"""Split the tasks into uploaded rows and test rows; runs in the environment with the data packages.

python -m benchmarks.quality.strangers.prepare FOLDER [NAME ...]
"""

import sys
from pathlib import Path

from benchmarks.quality.strangers.tasks.registry import TASKS
from benchmarks.quality.tables.prepare import prepare


def main(folder: Path, names: list[str]) -> None:
    """Skip prepared tasks, so that a stopped run can be resumed."""
    for name in names or TASKS:
        if not (folder / name / "table.json").exists():
            prepare(TASKS[name], folder / name)
            print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
