"""Cut every table into what is uploaded and what is kept to judge by; runs where the data packages are.

python -m benchmarks.quality.tables.prepare FOLDER [NAME ...]
"""

import json
import sys
from pathlib import Path

import pandas as pd
from benchmarks.quality.tables.registry import TABLES
from benchmarks.quality.tables.table import Table


def prepare(table: Table, folder: Path) -> None:
    """Leaves train.csv, test.csv (without the target), truth.csv and table.json."""
    train, test = table.cut.make(table.load().reset_index(drop=True))
    blank = dict.fromkeys(table.unknown_later, "")
    folder.mkdir(parents=True, exist_ok=True)
    train.to_csv(folder / "train.csv", index=False)
    test.assign(**blank).drop(columns=[table.target]).to_csv(folder / "test.csv", index=False)
    by = [] if table.cut.by is None else [table.cut.by]
    test[[table.target, *by]].to_csv(folder / "truth.csv", index=False)
    (folder / "table.json").write_text(json.dumps(_facts(table, train, test), indent=1))


def _facts(table: Table, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, object]:
    return {
        "name": table.name,
        "source": table.source,
        "target": table.target,
        "kind": table.kind,
        "metric": table.metric,
        "cut": table.cut.kind,
        "by": table.cut.by,
        "goal": table.goal,
        "traits": table.traits,
        "tells_target": table.tells_target,
        "train_rows": len(train),
        "test_rows": len(test),
        "columns": train.shape[1],
    }


def main(home: Path, names: list[str]) -> None:
    for name in names or TABLES:
        prepare(TABLES[name], home / name)
        print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
