"""Log of results as JSON lines, appended one by one, so that a run can be made in parts."""

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.quality.comparison import LABCREW
from benchmarks.quality.run_folders import Json

Key = tuple[str, str, float]


def result_key(result: Json) -> Key:
    return result["table"], result["contender"], float(result["budget_s"])


def read_results(path: Path) -> dict[Key, Json]:
    """The newest result of each table, contender and budget."""
    if not path.exists():
        return {}
    return {result_key(result): result for result in map(json.loads, path.read_text().splitlines())}


def append_result(path: Path, result: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(result, default=str) + "\n")


def results_by_budget(
    results: Iterable[Json], budget_s: float, peers_budget_s: float
) -> dict[str, dict[str, Json]]:
    """Results by table, then contender: Labcrew at `budget_s`, peers at theirs, and all that have no budget."""
    results_by_table: dict[str, dict[str, Json]] = {}
    for result in results:
        expected_budget_s = budget_s if result["contender"] == LABCREW else peers_budget_s
        if result["budget_s"] in (0.0, expected_budget_s):
            results_by_table.setdefault(result["table"], {})[result["contender"]] = result
    return results_by_table
