"""Exploration of a training frame."""

from typing import Any

from app.computations.frames import read_training, to_json_facts
from app.computations.overview import draw_figures
from app.computations.workspace import CellWorkspace
from app.json_types import JsonValue
from app.modeling.analysis.exploration import explore


def perform_eda(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    seed: int = 0,
    draw: bool = True,
) -> JsonValue:
    """Explore a training frame after `recipe`; return `EdaFacts`, with figures if `draw`.

    Input `frame`: the RAW training frame.
    """
    frame, parsed_problem = read_training(workspace, problem)
    facts = explore(frame, parsed_problem, recipe or [], seed)
    if draw:
        related = {column["name"]: column["relation"] for column in facts["columns"]}
        facts["figures"] = draw_figures(workspace.output, frame, parsed_problem.to_json(), related)
    return to_json_facts(facts)


def draw_overview(workspace: CellWorkspace, problem: dict[str, Any]) -> JsonValue:
    """Draw the figures of a training frame; return `{"figures": [{"file", "title"}]}`.

    Input `frame`: the RAW training frame.
    """
    frame, parsed_problem = read_training(workspace, problem)
    return to_json_facts({"figures": draw_figures(workspace.output, frame, parsed_problem.to_json())})
