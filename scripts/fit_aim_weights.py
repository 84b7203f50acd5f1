"""Fits `backend/app/agents/goals/aims/weights.json` to goals whose aim is known.

`PYTHONPATH=. python scripts/fit_aim_weights.py [--check]`: a multinomial logit with a ridge penalty over the
tuned halves of the corpora of goals, questions and series, and the goals written for training. With `--check`
accuracy and calibration on tables that a fit has not seen are printed instead of writing: ten folds by table.
"""

import argparse
import json
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import cast

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from tests.corpora.labelled_goals import LabelledGoal, load_labelled_goals

from app.agents.goals.aims.classifier import AIMS, Aim, weigh_aims
from app.agents.goals.aims.features import aim_features
from app.agents.goals.parser import parse_goal

TARGET = Path(__file__).parents[1] / "backend/app/agents/goals/aims/weights.json"
INVERSE_RIDGE = 1.0
"""Inverse of the ridge penalty: the best of 0.1 to 3 in ten folds by table, which differ by 0.03."""
MIN_GOALS = 2
"""Goals that a feature needs: a word of one goal says nothing of others."""
MIN_WEIGHT = 0.02
"""Features whose weights are all smaller are left out."""
CORPUS_WEIGHTS = {"goals": 1.0, "training": 1.0, "questions": 0.15, "series": 0.3}
"""Weights of the goals of each corpus: those of one aim alone would shift the shares of the aims."""
QUESTION_PRIOR = 1.8
"""Added to the logit of a question. A question that is taken for a model is answered by something else, a model
that is taken for a question is asked about. Of 0, 0.8 and 1.8 this one leaves the fewest wrong: 53, 50 and 45
of 325 untuned questions, and 57, 54 and 52 of 460 untuned goals."""
FOLDS = 10

Weights = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    goals = load_labelled_goals()
    with ProcessPoolExecutor() as pool:
        features = list(pool.map(read_features, goals, chunksize=100))
    if parser.parse_args().check:
        print_check(goals, cross_validate(goals, features))
        return
    weights = fit(features, goals)
    lines = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(weights.items()))
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read_features(goal: LabelledGoal) -> dict[str, float]:
    return aim_features(parse_goal(goal.text), goal.tables)


def fit(features: Sequence[dict[str, float]], goals: Sequence[LabelledGoal]) -> Weights:
    """Fit the weights of all features, rounded, with those that hardly count left out."""
    counts = Counter(name for row in features for name in row)
    names = ["bias", *sorted(name for name, count in counts.items() if count >= MIN_GOALS)]
    places = {name: place for place, name in enumerate(names)}
    cells = [
        (row, places[name], value)
        for row, entry in enumerate(features)
        for name, value in {**entry, "bias": 1.0}.items()
        if name in places
    ]
    rows, columns, values = zip(*cells, strict=True)
    matrix = csr_matrix((values, (rows, columns)), shape=(len(features), len(names)))
    model = LogisticRegression(C=INVERSE_RIDGE, fit_intercept=False, max_iter=500)
    model.fit(matrix, [AIMS.index(goal.aim) for goal in goals], [CORPUS_WEIGHTS[g.corpus] for g in goals])
    table = np.zeros((len(names), len(AIMS)))
    table[:, model.classes_] = model.coef_.T
    table[places["bias"], AIMS.index("question")] += QUESTION_PRIOR
    return {
        name: [round(float(weight), 2) for weight in table[place]]
        for name, place in places.items()
        if np.abs(table[place]).max() >= MIN_WEIGHT
    }


def cross_validate(
    goals: Sequence[LabelledGoal], features: Sequence[dict[str, float]]
) -> list[dict[Aim, float]]:
    """Return the probabilities of the aims of each goal by a fit without its table."""
    probabilities: list[dict[Aim, float]] = [{} for _ in goals]
    for fold in folds({goal.source for goal in goals}):
        training = [place for place, goal in enumerate(goals) if goal.source not in fold]
        weights = fit([features[place] for place in training], [goals[place] for place in training])
        for place, goal in enumerate(goals):
            if goal.source in fold:
                probabilities[place] = weigh_aims(features[place], weights)
    return probabilities


def folds(sources: Collection[str]) -> list[set[str]]:
    ordered = sorted(sources)
    return [set(ordered[fold::FOLDS]) for fold in range(FOLDS)]


def print_check(goals: Sequence[LabelledGoal], probabilities: Sequence[dict[Aim, float]]) -> None:
    for name, rows_of_part in (
        ("all", [True] * len(goals)),
        ("tuned goals", [goal.corpus == "goals" for goal in goals]),
        ("training goals", [goal.corpus == "training" for goal in goals]),
    ):
        pairs = [(goal, p) for goal, p, keep in zip(goals, probabilities, rows_of_part, strict=True) if keep]
        if not pairs:
            continue
        hits = [max(p, key=p.__getitem__) == goal.aim for goal, p in pairs]
        loss = -np.mean([np.log(p[goal.aim]) for goal, p in pairs])
        print(f"{name}: {len(pairs)} goals, {np.mean(hits):.1%} right, log loss {loss:.3f}")
    highest = np.array([max(p.values()) for p in probabilities])
    right = np.array([max(p, key=p.__getitem__) == g.aim for g, p in zip(goals, probabilities, strict=True)])
    for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        inside = (highest >= low) & (highest < high)
        if inside.any():
            print(f"  {inside.sum():4} at {highest[inside].mean():.2f}: {right[inside].mean():.2f} right")
    confusion = Counter((g.aim, max(p, key=p.__getitem__)) for g, p in zip(goals, probabilities, strict=True))
    for aim in AIMS:
        print(
            f"  {aim:9}", {other: confusion[aim, cast(Aim, other)] for other in AIMS if confusion[aim, other]}
        )


if __name__ == "__main__":
    main()
