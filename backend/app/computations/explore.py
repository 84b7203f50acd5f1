"""Look at a training frame."""

from typing import Any

from app.computations.bench import Bench
from app.computations.frames import answer, read_training
from app.computations.overview import leave_overview
from app.json_types import JsonValue
from app.modeling.analysis.exploration import explore


def perform_eda(
    bench: Bench,
    problem: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    seed: int = 0,
    draw: bool = True,
) -> JsonValue:
    """Input `frame`: the RAW training frame, seen through `recipe`. Answers `EdaFacts`, figures if asked."""
    frame, whole = read_training(bench, problem)
    facts = explore(frame, whole, recipe or [], seed)
    if draw:
        related = {column["name"]: column["relation"] for column in facts["columns"]}
        facts["figures"] = leave_overview(bench.output, frame, whole.to_json(), related)
    return answer(facts)


def draw_overview(bench: Bench, problem: dict[str, Any]) -> JsonValue:
    """Input `frame`: the RAW training frame. Leaves its figures; answers `{"figures": [{"file", "title"}]}`."""
    frame, whole = read_training(bench, problem)
    return answer({"figures": leave_overview(bench.output, frame, whole.to_json())})
