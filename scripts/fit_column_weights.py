"""Fits `columns/weights.json` of `backend/app/agents/goals` to the tuned goals and the training goals.

`PYTHONPATH=. python scripts/fit_column_weights.py FOLDS [--check]`: a conditional logit with a ridge penalty.
`FOLDS` is the folder that `scripts/fit_column_links.py --folds` has written: the links of a training goal are
those of a fit that has not seen its table, as they will be on tables of users. With `--check` accuracy and
calibration on tables that a fit has not seen are printed instead of writing: five folds by table.

With `--update`, and without folds, the stored weights are fitted further to the training goals on tables that
the stored links have not seen, with a penalty on what changes; the aims are those of the stored classifier.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scripts.fit_aim_weights import cross_validate
from tests.corpora.goals import Goal, GoalTable, load_goals
from tests.corpora.labelled_goals import load_labelled_goals
from tests.corpora.planned_goals import make_schema
from tests.corpora.training import TrainingGoal, TrainingTables, fold_of, load_training_goals

from app.agents.goals.aims.classifier import Aim
from app.agents.goals.aims.features import aim_features
from app.agents.goals.columns import links as column_links
from app.agents.goals.columns.features import GoalWords, column_features, name_scores, no_column_features
from app.agents.goals.columns.link_features import link_features
from app.agents.goals.lexicon import concept_matches as lexicon
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import make_table_profile
from app.agents.goals.words import sentence_encoder

TARGET = Path(__file__).parents[1] / "backend/app/agents/goals/columns/weights.json"
TUNED_FILES = frozenset({"general.txt"})
"""Files of the lexicon that were written with the tuned goals at hand. The weights are fitted without them, or
they would trust the lexicon more than it deserves on goals that nobody has seen."""
RIDGE = 0.5
"""Penalty of half the squared weights: the best of 0.3 to 3 in ten folds by table, which differ by 0.01."""
UPDATE_RIDGE = 6.0
"""Penalty of half the squared changes of the stored weights. Those of 0.5 to 12 differ by 0.01 in four folds by
table; it is a high one, since the tables of the update have more cryptic names than most."""
UNSEEN_BY_LINKS = ("x2_", "z4_")
"""Beginnings of the ids of training goals that the stored links are not fitted to."""
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


class Example(NamedTuple):
    """A goal: its table, the features of its columns and of none, and which of these rows it may mean."""

    table: str
    rows: list[dict[str, float]]
    meant: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folds", type=Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    lexicon.leave_out(TUNED_FILES)
    if arguments.update:
        write(update(load_unseen_examples()))
        return
    examples = load_examples(arguments.folds)
    names = sorted({name for example in examples for row in example.rows for name in row})
    if arguments.check:
        print_check(examples, names)
        return
    write(dict(zip(names, fit(examples, names), strict=True)))


def write(weights: Mapping[str, float]) -> None:
    rounded = {name: round(float(weight), 3) for name, weight in weights.items()}
    TARGET.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


def load_unseen_examples() -> list[Example]:
    files = [file for file in load_training_goals() if file.id.startswith(UNSEEN_BY_LINKS)]
    return [example for file in files for example in _examples(file, None)]


def update(examples: list[Example]) -> dict[str, float]:
    """Fit the stored weights further; what changes is penalised."""
    stored: dict[str, float] = json.loads(TARGET.read_text(encoding="utf-8"))
    names = sorted({name for example in examples for row in example.rows for name in row} | set(stored))
    start, stacked = np.array([stored.get(name, 0.0) for name in names]), _Stacked(examples, names)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        likelihood, slope = stacked.log_likelihood(weights)
        change = weights - start
        return UPDATE_RIDGE / 2 * float((change**2).sum()) - likelihood, UPDATE_RIDGE * change - slope

    return dict(zip(names, minimize(loss, start, jac=True, method="L-BFGS-B").x, strict=True))


def load_examples(folds: Path) -> list[Example]:
    """Return the goals that have a target or none at all; the last row stands for none."""
    aims = _cross_validated_aims()
    examples = []
    for folder in (None, *sorted(folds.iterdir())):
        with _links_of(folder):
            files = [
                file
                for file in (load_goals("tuned") if folder is None else load_training_goals())
                if folder is None or str(fold_of(file.id)) == folder.name
            ]
            for file in files:
                examples += _examples(file, aims)
    return examples


@contextmanager
def _links_of(folder: Path | None) -> Iterator[None]:
    """Have goals linked with columns by the fit of a folder; None is the product's own."""
    files = sentence_encoder.FILE, column_links.FILE
    if folder is not None:
        sentence_encoder.FILE, column_links.FILE = (folder / file.name for file in files)
    sentence_encoder.forget()
    column_links.forget()
    yield
    sentence_encoder.FILE, column_links.FILE = files
    sentence_encoder.forget()
    column_links.forget()


def _examples(
    file: GoalTable | TrainingTables, aims: Mapping[tuple[str, str], dict[Aim, float]] | None
) -> Iterator[Example]:
    tables = tuple(make_table_profile(make_schema(table)) for table in file.tables)
    columns = [(table, column) for table in tables for column in table.columns]
    names = {column.name for _, column in columns}
    for entry in file.goals:
        if entry.aim in ("question", "other_language"):
            continue
        targets = set(entry.targets) if isinstance(entry, TrainingGoal) else meant_columns(entry, names)
        if isinstance(entry, Goal) and entry.readings and not targets:
            continue
        if entry.aim == "forecast" and not targets:
            continue  # counts of rows, which are no column's values
        goal = parse_goal(entry.goal)
        words = FittedGoalWords(goal, tables, aims[file.id, entry.goal]) if aims else GoalWords(goal, tables)
        scores = name_scores(goal, columns)
        links = link_features(goal, columns)
        rows = [
            {**column_features(words, table, column, score, max(scores)), **linked}
            for (table, column), score, linked in zip(columns, scores, links.columns, strict=True)
        ]
        rows.append({**no_column_features(words, tables, rows), **links.none})
        # Where asking is right, nobody can tell one of the columns: that none is meant counts as right too.
        meant = np.array([*(column.name in targets for _, column in columns), not targets])
        yield Example(file.id, rows, meant)


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
        matrix = np.concatenate([to_matrix(example.rows, names) for example in examples])
        without = matrix.copy()
        without[:, [name.startswith(LEXICON_FEATURES) for name in names]] = 0.0
        sizes = [len(example.meant) for example in examples] * 2
        self.matrix = np.vstack([matrix, without])
        self.meant = np.tile(np.concatenate([example.meant for example in examples]), 2)
        self.sizes, self.starts = np.array(sizes), np.cumsum([0, *sizes[:-1]])
        self.example = np.repeat(np.arange(len(sizes)), sizes)
        self.shares = np.repeat([1 - LEXICON_SHARE, LEXICON_SHARE], len(examples))

    def loss(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the penalised negative log likelihood of the meant columns, and its gradient."""
        likelihood, slope = self.log_likelihood(weights)
        return RIDGE / 2 * float((weights**2).sum()) - likelihood, RIDGE * weights - slope

    def log_likelihood(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log likelihood of the meant columns, and its gradient."""
        logits = self.matrix @ weights
        shares = np.exp(logits - np.repeat(np.maximum.reduceat(logits, self.starts), self.sizes))
        shares /= np.repeat(np.add.reduceat(shares, self.starts), self.sizes)
        hits = np.add.reduceat(shares * self.meant, self.starts) + 1e-12
        slope = (shares * self.meant / hits[self.example] - shares) * self.shares[self.example]
        return float((self.shares * np.log(hits)).sum()), self.matrix.T @ slope


def fit(examples: list[Example], names: list[str]) -> np.ndarray:
    """Fit the weights of the features by maximum likelihood of the columns that are meant."""
    result = minimize(_Stacked(examples, names).loss, np.zeros(len(names)), jac=True, method="L-BFGS-B")
    return np.asarray(result.x)


def predict(example: Example, weights: np.ndarray, names: list[str]) -> np.ndarray:
    """Return the probabilities of the columns and of none."""
    return softmax(to_matrix(example.rows, names) @ weights)


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
    confidence, is_hit, with_target = np.array(confidences), np.array(hits), np.array(has_target)
    print(
        f"{with_target.sum()} goals with a target: {is_hit[with_target].mean():.1%} mean the likeliest column"
    )
    for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        inside = (confidence >= low) & (confidence < high)
        mean, right = confidence[inside].mean(), is_hit[inside].mean()
        print(
            f"  probability {low:.1f} to {high:.1f}: {inside.sum():4} goals, mean {mean:.2f}, {right:.2f} right"
        )
    for limit in (0.3, 0.4, 0.5, 0.6):
        planned = confidence >= limit
        right = (is_hit & planned & with_target).sum() / with_target.sum()
        wrong = (planned & ~is_hit).mean()
        print(f"  from {limit}: {right:.1%} of the goals with a target right, {wrong:.1%} wrong")


if __name__ == "__main__":
    main()
