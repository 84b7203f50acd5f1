"""Workers whose only graph fans out fits: `python -m benchmarks.fits.worker steps|compute`.

The session's goal is JSON: the training frame's digest, its problem and folds, and the hyperparameters of
each fit. A compute worker runs one fit at a time, so that a processor is one worker.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from app.observability.logging import configure_logging
from app.sandbox.exchange.contract import Limits
from app.sessions.graphs import Graphs, GraphSpec, JournaledState, journaled
from app.sessions.step_scope import Fit, StepScope
from app.settings import load_settings
from app.worker.process import serve

_DEADLINE_S = 600.0
_LIMITS = Limits(time_s=120, threads=1)


class FitsState(JournaledState, total=False):
    scores: list[Any]


async def _fit_all(state: Mapping[str, Any], runtime: Runtime[StepScope]) -> dict[str, Any]:
    step = runtime.context
    goal = json.loads(step.session.goal)
    common_inputs = {"problem": goal["problem"], "folds": goal["folds"], "estimator": goal["estimator"]}
    fits = [
        Fit(
            f"fit {n}",
            "models.train.fit_candidate",
            {**common_inputs, "hyperparameters": hyperparameters, "seed": n},
            inputs,
            _LIMITS,
        )
        for inputs in [{"frame": goal["frame"]}]
        for n, hyperparameters in enumerate(goal["fits"])
    ]
    outcomes = await step.fan_out("round", fits, _DEADLINE_S)
    return {"scores": [[outcome.status, (outcome.value or {}).get("score")] for outcome in outcomes]}  # type: ignore[union-attr]


def spec() -> GraphSpec:
    graph = StateGraph(FitsState)
    graph.add_node("model_training", journaled("model_training", _fit_all))
    graph.add_edge(START, "model_training")
    graph.add_edge("model_training", END)
    return GraphSpec(
        name="pipeline",
        version=1,
        graph=graph.compile(),
        initial=lambda facts: {},
        make_context=lambda step: step,
        result=lambda state: {"scores": state["scores"]},
    )


if __name__ == "__main__":
    settings, queue = load_settings(), sys.argv[1]
    configure_logging(settings.log_level, settings.log_format)
    serve(settings, (queue,), 16 if queue == "steps" else 1, lambda _: Graphs([spec()]), warm_cells=True)
