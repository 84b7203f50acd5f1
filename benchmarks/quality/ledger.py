"""Results as JSON lines: appended one by one, so that a run can be made in parts."""

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.quality.home import Json
from benchmarks.quality.standing import OURS

Key = tuple[str, str, float]


def key_of(result: Json) -> Key:
    return result["table"], result["contender"], float(result["budget_s"])


def read(path: Path) -> dict[Key, Json]:
    """The newest result of each table, contender and budget."""
    if not path.exists():
        return {}
    return {key_of(result): result for result in map(json.loads, path.read_text().splitlines())}


def append(path: Path, result: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(result, default=str) + "\n")


def scores(results: Iterable[Json], budget_s: float, peers_budget_s: float) -> dict[str, dict[str, Json]]:
    """By table, then contender: ours at one budget, peers at theirs; what has no budget always counts."""
    found: dict[str, dict[str, Json]] = {}
    for result in results:
        wanted = budget_s if result["contender"] == OURS else peers_budget_s
        if result["budget_s"] in (0.0, wanted):
            found.setdefault(result["table"], {})[result["contender"]] = result
    return found
