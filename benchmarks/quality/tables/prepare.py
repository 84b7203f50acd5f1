"""Split every table into uploaded rows and test rows; runs in the environment with the data packages.

python -m benchmarks.quality.tables.prepare FOLDER [NAME ...]
"""

import json
import sys
from pathlib import Path

import pandas as pd
from benchmarks.quality.tables.registry import TABLES
from benchmarks.quality.tables.table import Table


def prepare(table: Table, folder: Path) -> None:
    """Write train.csv, test.csv (without the target), truth.csv and table.json."""
    train, test_share = table.split.make(table.load().reset_index(drop=True))
    empty_columns = dict.fromkeys(table.unavailable_at_prediction, "")
    folder.mkdir(parents=True, exist_ok=True)
    train.to_csv(folder / "train.csv", index=False)
    test_share.assign(**empty_columns).drop(columns=[table.target]).to_csv(folder / "test.csv", index=False)
    by = [] if table.split.by is None else [table.split.by]
    test_share[[table.target, *by]].to_csv(folder / "truth.csv", index=False)
    (folder / "table.json").write_text(json.dumps(_facts(table, train, test_share), indent=1))


def _facts(table: Table, train: pd.DataFrame, test_share: pd.DataFrame) -> dict[str, object]:
    return {
        "name": table.name,
        "source": table.source,
        "target": table.target,
        "kind": table.kind,
        "metric": table.metric,
        "cut": table.split.kind,
        "by": table.split.by,
        "goal": table.goal,
        "traits": table.traits,
        "tells_target": table.target_is_given,
        "train_rows": len(train),
        "test_rows": len(test_share),
        "columns": train.shape[1],
    }


def main(home: Path, names: list[str]) -> None:
    for name in names or TABLES:
        prepare(TABLES[name], home / name)
        print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
