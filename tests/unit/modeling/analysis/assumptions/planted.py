"""Tables with a planted structure and a known truth."""

from typing import Any

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.late_columns import measure_columns
from app.modeling.analysis.leakage.leaking_columns import find_leaks
from app.modeling.analysis.univariate import score_columns
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.problem_definition.resolve_problem import resolve_problem


def tracks(count: int = 160, length: int = 15, seed: int = 0) -> pd.DataFrame:
    """Tracks of entities that a name and a year tell apart; each has a level that no other column tells."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        level, north = rng.normal(scale=10), rng.uniform(10, 40)
        drift = rng.normal(scale=0.5, size=length).cumsum()
        for step in range(length):
            place = north + 0.3 * step, 1000 + 3 * np.sin(7.3 * number) + rng.normal()
            rows.append((f"name {number % 50}", 1975 + number // 8, step % 12 + 1, *place, level + drift[step]))
    return pd.DataFrame(rows, columns=["name", "year", "month", "north", "pressure", "wind"])


def ratings(users: int = 200, length: int = 15, seed: int = 0) -> pd.DataFrame:
    """Ratings in shuffled order, of users with a level of their own."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), length)
    price, age = rng.normal(size=len(user)), rng.integers(18, 70, len(user)) * 1.0
    rating = rng.normal(size=users)[user] + 0.5 * price + 0.5 * rng.normal(size=len(user))
    frame = pd.DataFrame({"user_id": user, "price": price, "age": age, "rating": rating})
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def incomes(rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Incomes of survey years that rise faster and faster, in a file sorted by year."""
    rng = np.random.default_rng(seed)
    year = np.sort(rng.integers(1990, 2015, rows))
    schooling = rng.normal(size=rows)
    income = 10_000 * schooling + (year - 1990) ** 2 * 100 + 5_000 * rng.normal(size=rows)
    return pd.DataFrame({"year": year, "schooling": schooling, "income": income})


def panel(countries: int = 100, years: int = 20, drift: float = 0.8, seed: int = 0) -> pd.DataFrame:
    """Countries one after the other, whose levels (deviation 8) rise by `drift` a year."""
    rng = np.random.default_rng(seed)
    country = np.repeat(np.arange(countries), years)
    year = np.tile(np.arange(2000, 2000 + years), countries)
    wealth, noise = rng.normal(size=(2, len(year)))
    life = 8 * rng.normal(size=countries)[country] + 2 * wealth + drift * (year - 2000) + noise
    names = [f"country {number}" for number in country]
    return pd.DataFrame({"country": names, "year": year, "wealth": wealth, "life": life})


def measure_known_columns(frame: pd.DataFrame, target: str, **wish: Any) -> dict[str, AssumptionJson]:
    """Measure the doubted columns of a table; keys are their names, joined by a plus sign."""
    problem = resolve_problem(frame, {"target": target, **wish})
    scores = score_columns(frame, problem)
    assumptions = measure_columns(frame, problem, scores, find_leaks(frame, problem, scores))
    return {"+".join(entry["columns"]): entry for entry in assumptions}


def is_inside(assumption: AssumptionJson, side: str, truth: float, slack: float = 0.02) -> bool:
    """Return true if the known score of a side lies in its interval; `slack`: that of a sample's own luck."""
    bounds: Any = assumption["holds_interval" if side == "holds" else "otherwise_interval"]
    return bool(bounds["low"] - slack <= truth <= bounds["high"] + slack)


def customers(rows: int = 1500, seed: int = 0) -> pd.DataFrame:
    """Customers who leave by a risk that is known: its ROC AUC is about 0.85."""
    rng = np.random.default_rng(seed)
    risk = rng.normal(size=rows)
    has_left = (rng.random(rows) < 1 / (1 + np.exp(-2 * risk))).astype(int)
    return pd.DataFrame({"risk": risk, "tenure": rng.gamma(2, 9, rows), "left": has_left})


def auc_of_risk(frame: pd.DataFrame) -> float:
    """Return the ROC AUC of the known risk (0 to 1): the best score without what is planted beside it."""
    ranks = frame["risk"].rank()
    positives = frame["left"].sum()
    return float((ranks[frame["left"] == 1].sum() / positives - (positives + 1) / 2) / (len(frame) - positives))
