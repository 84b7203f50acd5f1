"""Fits `column_weights.json` and `column_projection.npz` of `backend/app/agents/goals` to the tuned goals.

`PYTHONPATH=. python scripts/fit_column_weights.py [--check]`: a conditional logit with a ridge penalty over the
tuned half of the corpus of goals and the goals written for training. One of its features is the product of the
encodings of goal and column, each projected to some components, which are fitted along. With `--check` accuracy
and calibration on tables that a fit has not seen are printed instead of writing: five folds by table.
"""

import argparse
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scripts.fit_aim_weights import cross_validate
from tests.corpora.goals import Goal, load_goals
from tests.corpora.labelled_goals import load_labelled_goals
from tests.corpora.planned_goals import make_schema
from tests.corpora.training import TrainingGoal, load_training_goals

from app.agents.goals import lexicon
from app.agents.goals.aims.classifier import Aim
from app.agents.goals.aims.features import aim_features
from app.agents.goals.column_features import GoalWords, column_features, name_scores, no_column_features
from app.agents.goals.encoded_columns import encode_columns, encode_goal, similarities
from app.agents.goals.parser import parse_goal
from app.agents.goals.sentence_encoder import DIMENSIONS
from app.agents.goals.tables import make_table_profile

TARGET = Path(__file__).parents[1] / "backend/app/agents/goals/column_weights.json"
PROJECTION = TARGET.with_name("column_projection.npz")
TUNED_FILES = frozenset({"general.txt"})
"""Files of the lexicon that were written with the tuned goals at hand. The weights are fitted without them, or
they would trust the lexicon more than it deserves on goals that nobody has seen."""
RIDGE = 0.5
"""Penalty of half the squared weights: the best of 0.3 to 3 in ten folds by table, which differ by 0.01."""
FOLDS = 5
_COLUMN = re.compile(r"(`[^`]+`|\w+)\s*(?:>=|<=|==|=|>|<|!=|in\b|not in\b|is\b)")
LEXICON_SHARE = 0.5
"""Share of the examples, by weight, whose evidence of the lexicon is left out: it was written beside the
training goals, and knows fewer of the words of goals that nobody has seen."""
LEXICON_FEATURES = (
    "concept",
    "value_c",
    "value_e",
    "next_c",
    "has_strong",
    "none_without_concept",
    "synonym",
    "class_",
)
"""Beginnings of the names of those features."""
COMPONENTS, COMPONENT_RIDGE = 8, 3.0
"""Components of the projections, and the penalty of half their squares. On tables that a fit had not seen the
log loss was 0.84, against 0.88 with 16 and 1.5, and 0.87 without projections."""
MAX_ITERATIONS = 60
"""Steps of a fit of both, which stop before it follows single goals."""
SEED = 0


class Example(NamedTuple):
    """A goal: its table, the features of its columns and of none, which rows it may mean, and the encodings of
    the goal (dimensions,) and of the columns (rows, dimensions; zero for none)."""

    table: str
    rows: list[dict[str, float]]
    meant: np.ndarray
    goal: np.ndarray
    columns: np.ndarray


class Fit(NamedTuple):
    """Weights of the features, and the projections (dimensions, components) of goals and of columns."""

    weights: np.ndarray
    goals: np.ndarray
    columns: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    lexicon.leave_out(TUNED_FILES)
    examples = load_examples()
    names = sorted({name for example in examples for row in example.rows for name in row})
    if parser.parse_args().check:
        print_check(examples, names)
        return
    fitted = fit(examples, names)
    rounded = {name: round(float(weight), 3) for name, weight in zip(names, fitted.weights, strict=True)}
    TARGET.write_text(json.dumps({**rounded, "meaning_learned": 1.0}, indent=1) + "\n", encoding="utf-8")
    np.savez_compressed(
        PROJECTION, goals=fitted.goals.astype("float16"), columns=fitted.columns.astype("float16")
    )


def load_examples() -> list[Example]:
    """Return the goals that have a target or none at all; the last row stands for none."""
    aims = _cross_validated_aims()
    examples = []
    for file in (*load_goals("tuned"), *load_training_goals()):
        tables = tuple(make_table_profile(make_schema(table)) for table in file.tables)
        columns = [(table, column) for table in tables for column in table.columns]
        names = {column.name for _, column in columns}
        encoded = encode_columns(columns)
        for entry in file.goals:
            if entry.aim in ("question", "other_language"):
                continue
            targets = set(entry.targets) if isinstance(entry, TrainingGoal) else meant_columns(entry, names)
            if isinstance(entry, Goal) and entry.readings and not targets:
                continue
            if entry.aim == "forecast" and not targets:
                continue  # counts of rows, which are no column's values
            goal = parse_goal(entry.goal)
            words, scores = FittedGoalWords(goal, tables, aims[file.id, entry.goal]), name_scores(goal, columns)
            rows = [
                column_features(words, table, column, score, max(scores))
                for (table, column), score in zip(columns, scores, strict=True)
            ]
            rows.append(no_column_features(words, tables, rows))
            for row, similar in zip(rows, similarities(encode_goal(goal), encoded), strict=False):
                row |= similar
            # Where asking is right, nobody can tell one of the columns: that none is meant counts as right too.
            is_open = not targets
            meant = np.array([*(c.name in targets for _, c in columns), is_open])
            mean = np.vstack([(encoded[0] + encoded[1]) / 2, np.zeros((1, DIMENSIONS))])
            examples.append(Example(file.id, rows, meant, encode_goal(goal)[0].astype(float), mean))
    return examples


@dataclass(frozen=True)
class FittedGoalWords(GoalWords):
    """Words of a goal whose aims are told by a fit without its table."""

    fitted_aims: Mapping[Aim, float]

    @cached_property
    def aims(self) -> Mapping[Aim, float]:
        return self.fitted_aims


def _cross_validated_aims() -> dict[tuple[str, str], dict[Aim, float]]:
    goals = load_labelled_goals()
    features = [aim_features(parse_goal(goal.text), goal.tables) for goal in goals]
    probabilities = cross_validate(goals, features)
    return {(goal.source, goal.text): p for goal, p in zip(goals, probabilities, strict=True)}


def meant_columns(entry: Goal, names: set[str]) -> set[str]:
    """Return the columns that the readings of a goal have as target, measure, or left side of a comparison."""
    expressions = [reading.target or "" for reading in entry.readings]
    for reading in entry.readings:
        if reading.aggregation and ":" in reading.aggregation.measure:
            expressions.append(reading.aggregation.measure.split(":", 1)[1])
    compared = [match[1] for text in expressions if (match := _COLUMN.match(text))]
    return {text.strip("`") for text in (*expressions, *compared)} & names


class _Stacked:
    """Examples below each other, once with the evidence of the lexicon and once without it."""

    def __init__(self, examples: list[Example], names: list[str]) -> None:
        whole = np.concatenate([to_matrix(example.rows, names) for example in examples])
        without = whole.copy()
        without[:, [name.startswith(LEXICON_FEATURES) for name in names]] = 0.0
        sizes = [len(example.meant) for example in examples] * 2
        self.matrix = np.vstack([whole, without])
        self.meant = np.tile(np.concatenate([example.meant for example in examples]), 2)
        self.columns = np.tile(np.concatenate([example.columns for example in examples]), (2, 1))
        self.goals = np.tile(np.array([example.goal for example in examples]), (2, 1))
        self.sizes, self.starts = np.array(sizes), np.cumsum([0, *sizes[:-1]])
        self.example = np.repeat(np.arange(len(sizes)), sizes)
        self.shares = np.repeat([1 - LEXICON_SHARE, LEXICON_SHARE], len(examples))

    def loss(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the penalised negative log likelihood of the meant columns, and its gradient."""
        fitted = _unpack(values, self.matrix.shape[1])
        goals, columns = self.goals @ fitted.goals, self.columns @ fitted.columns
        logits = self.matrix @ fitted.weights + (goals[self.example] * columns).sum(axis=1)
        shares = np.exp(logits - np.repeat(np.maximum.reduceat(logits, self.starts), self.sizes))
        shares /= np.repeat(np.add.reduceat(shares, self.starts), self.sizes)
        hits = np.add.reduceat(shares * self.meant, self.starts) + 1e-12
        slope = (shares - shares * self.meant / hits[self.example]) * self.shares[self.example]
        penalty = RIDGE / 2 * float((fitted.weights**2).sum())
        penalty += COMPONENT_RIDGE / 2 * float((fitted.goals**2).sum() + (fitted.columns**2).sum())
        by_goal = np.add.reduceat(slope[:, None] * columns, self.starts, axis=0)
        gradient = [
            RIDGE * fitted.weights + self.matrix.T @ slope,
            (COMPONENT_RIDGE * fitted.goals + self.goals.T @ by_goal).ravel(),
            (
                COMPONENT_RIDGE * fitted.columns + self.columns.T @ (slope[:, None] * goals[self.example])
            ).ravel(),
        ]
        return penalty - float((self.shares * np.log(hits)).sum()), np.concatenate(gradient)


def _unpack(values: np.ndarray, features: int) -> Fit:
    goals, columns = values[features:].reshape(2, DIMENSIONS, COMPONENTS)
    return Fit(values[:features], goals, columns)


def fit(examples: list[Example], names: list[str]) -> Fit:
    """Fit weights and projections by maximum likelihood of the columns that are meant."""
    small = np.random.default_rng(SEED).normal(0.0, 0.05, 2 * DIMENSIONS * COMPONENTS)
    stacked, start = _Stacked(examples, names), np.concatenate([np.zeros(len(names)), small])
    options = {"maxiter": MAX_ITERATIONS}
    result = minimize(stacked.loss, start, jac=True, method="L-BFGS-B", options=options)
    return _unpack(result.x, len(names))


def predict(example: Example, fitted: Fit, names: list[str]) -> np.ndarray:
    """Return the probabilities of the columns and of none."""
    projected = (example.columns @ fitted.columns) @ (example.goal @ fitted.goals)
    return softmax(to_matrix(example.rows, names) @ fitted.weights + projected)


def to_matrix(rows: list[dict[str, float]], names: list[str]) -> np.ndarray:
    return np.array([[row.get(name, 0.0) for name in names] for row in rows])


def softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits - logits.max())
    return np.asarray(shares / shares.sum())


def print_check(examples: list[Example], names: list[str]) -> None:
    tables = sorted({example.table for example in examples})
    confidences, hits, has_target = [], [], []
    for fold in range(FOLDS):
        held_out = set(tables[fold::FOLDS])
        fitted = fit([example for example in examples if example.table not in held_out], names)
        for example in examples:
            if example.table in held_out:
                shares = predict(example, fitted, names)[:-1]
                confidences.append(shares.max())
                hits.append(example.meant[shares.argmax()])
                has_target.append(example.meant[:-1].any())
    confidence, hit, with_target = np.array(confidences), np.array(hits), np.array(has_target)
    print(f"{with_target.sum()} goals with a target: {hit[with_target].mean():.1%} mean the likeliest column")
    for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        inside = (confidence >= low) & (confidence < high)
        mean, right = confidence[inside].mean(), hit[inside].mean()
        print(
            f"  probability {low:.1f} to {high:.1f}: {inside.sum():4} goals, mean {mean:.2f}, {right:.2f} right"
        )
    for limit in (0.3, 0.4, 0.5, 0.6):
        planned = confidence >= limit
        right = (hit & planned & with_target).sum() / with_target.sum()
        print(
            f"  from {limit}: {right:.1%} of the goals with a target right, {(planned & ~hit).mean():.1%} wrong"
        )


if __name__ == "__main__":
    main()
