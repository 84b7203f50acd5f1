"""Look at a training frame."""

from typing import Any

from app.computations.bench import Bench, JsonValue
from app.computations.frames import answer, read_training
from app.modeling.exploration import explore


def perform_eda(
    bench: Bench, problem: dict[str, Any], recipe: list[dict[str, Any]] | None = None, seed: int = 0
) -> JsonValue:
    """Input `frame`: the raw training frame, seen through `recipe`. Answers `results.EdaFacts`."""
    frame, whole = read_training(bench, problem)
    return answer(explore(frame, whole, recipe or [], seed))
