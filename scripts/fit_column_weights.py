"""Fits `backend/app/agents/goals/column_weights.json` to the tuned half of the corpus of goals.

`PYTHONPATH=. python scripts/fit_column_weights.py [--check]`: a conditional logit with a ridge penalty, by
maximum likelihood (McFadden 1974). With `--check` the accuracy and calibration on tables that a fit has not
seen are printed instead of writing: ten folds by table.
"""

import argparse
import json
import re
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from tests.corpora.goals import Goal, load_goals
from tests.corpora.planned_goals import make_schema

from app.agents.goals import lexicon
from app.agents.goals.column_features import GoalWords, column_features, name_scores, no_column_features
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables import make_table_profile

TARGET = Path(__file__).parents[1] / "backend/app/agents/goals/column_weights.json"
TUNED_FILES = frozenset({"general.txt"})
"""Files of the lexicon that were written with the tuned goals at hand. The weights are fitted without them, or
they would trust the lexicon more than it deserves on goals that nobody has seen."""
RIDGE = 0.5
"""Penalty of half the squared weights: the best of 0.3 to 3 in ten folds by table, which differ by 0.01."""
FOLDS = 10
_COLUMN = re.compile(r"(`[^`]+`|\w+)\s*(?:>=|<=|==|=|>|<|!=|in\b|not in\b|is\b)")
Example = tuple[str, list[dict[str, float]], np.ndarray]
"""Table, the features of its columns, and which of them a goal may mean."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    lexicon.leave_out(TUNED_FILES)
    examples = load_examples()
    names = sorted({name for _, features, _ in examples for row in features for name in row})
    if parser.parse_args().check:
        print_check(examples, names)
        return
    weights = fit(examples, names)
    rounded = {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}
    TARGET.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


def load_examples() -> list[Example]:
    """Return the goals of the tuned half that have a target or none at all; the last row stands for none."""
    examples = []
    for file in load_goals("tuned"):
        tables = [make_table_profile(make_schema(table)) for table in file.tables]
        columns = [(table, column) for table in tables for column in table.columns]
        names = {column.name for _, column in columns}
        for entry in file.goals:
            targets = meant_columns(entry, names)
            if entry.aim in ("question", "other_language") or (entry.readings and not targets):
                continue
            goal = parse_goal(entry.goal)
            words, scores = GoalWords(goal), name_scores(goal, columns)
            rows = [
                column_features(words, table, column, score, max(scores))
                for (table, column), score in zip(columns, scores, strict=True)
            ]
            rows.append(no_column_features(words, tables, rows))
            # Where asking is right, nobody can tell one of the columns: that none is meant counts as right too.
            is_open = not targets
            examples.append((file.id, rows, np.array([*(c.name in targets for _, c in columns), is_open])))
    return examples


def meant_columns(entry: Goal, names: set[str]) -> set[str]:
    """Return the columns that the readings of a goal have as target, measure, or left side of a comparison."""
    expressions = [reading.target or "" for reading in entry.readings]
    for reading in entry.readings:
        if reading.aggregation and ":" in reading.aggregation.measure:
            expressions.append(reading.aggregation.measure.split(":", 1)[1])
    compared = [match[1] for text in expressions if (match := _COLUMN.match(text))]
    return {text.strip("`") for text in (*expressions, *compared)} & names


def fit(examples: list[Example], names: list[str]) -> np.ndarray:
    """Fit the weights by maximum likelihood of the columns that are meant."""
    matrices = [to_matrix(rows, names) for _, rows, _ in examples]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        total, gradient = RIDGE / 2 * float(weights @ weights), RIDGE * weights
        for matrix, (_, _, meant) in zip(matrices, examples, strict=True):
            shares = softmax(matrix @ weights)
            hit = float(shares[meant].sum()) + 1e-12
            total -= np.log(hit)
            gradient = gradient - (np.where(meant, shares, 0.0) / hit - shares) @ matrix
        return total, gradient

    return np.asarray(minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x)


def to_matrix(rows: list[dict[str, float]], names: list[str]) -> np.ndarray:
    return np.array([[row.get(name, 0.0) for name in names] for row in rows])


def softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits - logits.max())
    return np.asarray(shares / shares.sum())


def print_check(examples: list[Example], names: list[str]) -> None:
    tables = sorted({table for table, _, _ in examples})
    confidences, hits, has_target = [], [], []
    for fold in range(FOLDS):
        held_out = set(tables[fold::FOLDS])
        weights = fit([example for example in examples if example[0] not in held_out], names)
        for table, rows, meant in examples:
            if table in held_out:
                shares = softmax(to_matrix(rows, names) @ weights)[:-1]
                confidences.append(shares.max())
                hits.append(meant[shares.argmax()])
                has_target.append(meant[:-1].any())
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
