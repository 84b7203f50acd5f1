"""Cut the tasks into what is uploaded and what is kept to judge by; runs where the data packages are.

python -m benchmarks.quality.strangers.prepare FOLDER [NAME ...]
"""

import sys
from pathlib import Path

from benchmarks.quality.strangers.tasks.registry import TASKS
from benchmarks.quality.tables.prepare import prepare


def main(folder: Path, names: list[str]) -> None:
    """Leave out what is there already, so that a run that was stopped goes on."""
    for name in names or TASKS:
        if not (folder / name / "table.json").exists():
            prepare(TASKS[name], folder / name)
            print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
