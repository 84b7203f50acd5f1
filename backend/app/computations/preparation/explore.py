"""Exploration of a training frame."""

import time
from typing import Any

from app.computations.cell_files.frames import read_training, to_json_facts
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.preparation.overview import draw_figures
from app.json_types import JsonValue
from app.modeling.analysis.exploration import explore
from app.modeling.training.time_limits import stretched_deadline


def perform_eda(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    seed: int = 0,
    draw: bool = True,
    measure_s: float | None = None,
    draw_s: float | None = None,
) -> JsonValue:
    """Explore a training frame after `recipe`; return `EdaFacts`, with figures if `draw`.

    `measure_s`: seconds to score columns and to measure what suspected ones bring; `draw_s`: for figures. None:
    counts bound it.

    Input `frame`: the RAW training frame.
    """
    started, cpu_started = time.perf_counter(), time.process_time()
    frame, parsed_problem = read_training(workspace, problem)
    deadline = stretched_deadline(measure_s, started, cpu_started)
    facts = explore(frame, parsed_problem, recipe or [], seed, deadline, workspace.threads)
    if draw:
        related = {column["name"]: column["relation"] for column in facts["columns"]}
        facts["figures"] = draw_figures(workspace.output, frame, parsed_problem.to_json(), related, draw_s)
    return to_json_facts(facts)


def draw_overview(workspace: CellWorkspace, problem: dict[str, Any], draw_s: float | None = None) -> JsonValue:
    """Draw the figures of a training frame; return `{"figures": [{"file", "title"}]}`.

    `draw_s`: seconds for them, beyond which the others are left out.

    Input `frame`: the RAW training frame.
    """
    frame, parsed_problem = read_training(workspace, problem)
    figures = draw_figures(workspace.output, frame, parsed_problem.to_json(), limit_s=draw_s)
    return to_json_facts({"figures": figures})
