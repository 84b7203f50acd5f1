"""Small tables with a known truth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem


def people(rows: int = 300, seed: int = 0, noise: float = 1.0) -> pd.DataFrame:
    """A binary outcome `left` that depends on age and plan, with gaps and a name that says nothing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows).astype("float64")
    plan = rng.choice(["basic", "plus", "pro"], rows)
    risk = (age - 50) / 12 + (plan == "basic") * 1.5 + noise * rng.normal(size=rows)
    age[rng.random(rows) < 0.1] = np.nan
    names = [f"person {number}" for number in rng.permutation(rows)]
    return pd.DataFrame(
        {
            "name": names,
            "age": age,
            "plan": plan,
            "visits": rng.poisson(3, rows),
            "left": (risk > 0.5).astype(int),
        }
    )


def houses(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """A price that depends on area and town."""
    rng = np.random.default_rng(seed)
    area = rng.uniform(30, 200, rows)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], rows)
    price = 2000 * area + (town == "Bonn") * 80_000 + rng.normal(scale=20_000, size=rows)
    return pd.DataFrame({"area": area, "town": town, "rooms": (area // 25).astype(int), "price": price})


def series(rows: int = 200, seed: int = 0, shops: int = 1) -> pd.DataFrame:
    """Daily sales with a weekly rhythm that carries over to the next day; several shops share the days."""
    rng = np.random.default_rng(seed)
    frames = []
    for shop in range(shops):
        day = np.arange(rows)
        sales = 100 + 10 * shop + 20 * np.sin(2 * np.pi * day / 7) + rng.normal(scale=2, size=rows)
        dates = pd.date_range("2024-01-01", periods=rows, freq="D")
        frames.append(pd.DataFrame({"day": dates, "shop": f"shop {shop}", "sales": sales}))
    return pd.concat(frames, ignore_index=True).sort_values("day", kind="stable", ignore_index=True)


def problem(frame: pd.DataFrame, target: str, **wish: object) -> Problem:
    return resolve_problem(frame, {"target": target, **wish})


def candidate_fit(name: str, scores: Sequence[float | None] = (), **more: Any) -> CandidateFit:
    """The facts of a fit with these scores of folds."""
    scored = [score for score in scores if score is not None]
    facts = {
        "name": name,
        "estimator": "XGBoost",
        "metric": "roc_auc",
        "score": sum(scored) / len(scored) if scored else None,
        "std": 0.01,
        "fold_scores": list(scores),
        "folds": {"kind": "random", "count": len(scores), "seed": 0},
        "fit_s": 1.0,
        **more,
    }
    return CandidateFit.from_json(facts)
