"""The pipeline's state at its two ends: how a session starts, and what it shows when it is done."""

from collections.abc import Mapping
from typing import Any

from app.agents.state import LabState
from app.sessions.scope import SessionFacts


def initial(facts: SessionFacts) -> LabState:
    return {
        "step": 0,
        "goal": facts.goal,
        "preferences": dict(facts.preferences),
        "tuning_rounds": 0,
        "spent_s": 0.0,
    }


def result(state: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of a completed session."""
    final = state["final"]
    return {
        "problem": state["problem"],
        "model": state["verdict"]["chosen"],
        "reason": state["verdict"]["reason"],
        "metric": final["metric"],
        "score": final["metrics"][final["metric"]],
        "beats_baseline": final["beats_baseline"],
        "leaderboard": _leaderboard(state["fits"]),
        "left_out": state.get("left_out", []),
        "cautions": [*state["verdict"]["cautions"], *final["notes"]],
        "headline": state["report"]["headline"],
        "spent_s": round(state["spent_s"], 3),
    }


def _leaderboard(fits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Best first, those without a score last."""
    sign = -1 if fits and fits[0]["greater_is_better"] else 1
    ranked = sorted(fits, key=lambda fit: (fit["score"] is None, sign * (fit["score"] or 0.0)))
    return [{key: fit[key] for key in ("name", "estimator", "score", "std", "fit_s")} for fit in ranked]
