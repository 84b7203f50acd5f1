"""Columns that know the answer: too good to be true, each with its evidence."""

from collections.abc import Mapping

import pandas as pd

from app.modeling.problem import Problem
from app.modeling.results import Leak

NEARLY_PERFECT = 0.985
FAR_BEHIND = 0.08


def screen(frame: pd.DataFrame, problem: Problem, relations: Mapping[str, float]) -> list[Leak]:
    """Suspects, strongest first."""
    order = sorted(relations, key=lambda name: -relations[name])
    leaks: list[Leak] = []
    for place, name in enumerate(order):
        rest = [relations[other] for other in order[place + 1 :]]
        behind = relations[name] - (rest[0] if rest else (0.5 if problem.is_classification else 0.0))
        if relations[name] >= NEARLY_PERFECT and behind >= FAR_BEHIND:
            leaks.append(
                {
                    "column": name,
                    "kind": "nearly_perfect",
                    "text": f"{name!r} alone predicts the target almost perfectly ({relations[name]:.3f}) and the"
                    " next column is far behind: it may be known only after the outcome.",
                    "certain": False,
                    "evidence": {"score": relations[name], "next": rest[0] if rest else None},
                }
            )
    return leaks
