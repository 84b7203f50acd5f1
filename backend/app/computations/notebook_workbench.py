"""A session's computations as methods of one object, to repeat a session in notebooks and scripts.

lab = Workbench(seed=7)
table = lab.open("data/titanic.parquet", sha256="9f2c...")
split = lab.split(table, {"target": "survived"})
model = lab.fit(split, name="trees", estimator="LightGBM")
lab.judge(split, model)
"""

import hashlib
import shutil
import statistics
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import evaluate, explain, predict_table, train
from app.computations.preparation import split
from app.computations.queries import query
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.custom_code.functions import Interpreter, allow_code

Facts = dict[str, Any]


@dataclass(frozen=True)
class Split:
    """Training and hold-out rows, and the facts of the split (`computation_facts.SplitFacts`)."""

    train: Path
    holdout: Path
    facts: Facts


@dataclass(frozen=True)
class Fitted:
    """A model, its out-of-fold predictions, and its `computation_facts.FitFacts`."""

    model: Path
    oof: Path
    facts: Facts


class Workbench:
    """Computations in a temporary folder that is deleted with this object. `threads`: cores that a fit may use.

    `code`: the interpreter of agent-written code (`app.sandbox.policy.custom_functions.define`); without it,
    such a recipe or estimator is refused. The code runs in this process, not in a sandbox cell.
    """

    def __init__(self, seed: int = 0, threads: int = 1, code: Interpreter | None = None) -> None:
        self.seed = seed
        self.threads = threads
        self._code = code
        self._folder = Path(mkdtemp(prefix="labcrew-"))
        self._cells = 0
        # Unlike `__del__`, a finalizer also runs at the end of the interpreter.
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def open(self, path: str | Path, sha256: str | None = None) -> Path:
        """Check a Parquet table; raises InvalidInput if it is missing or not the file of the session."""
        file = Path(path)
        if not file.is_file():
            raise InvalidInput("no_file", f"There is no file {path}: run this beside the session's data.")
        if sha256 is not None and hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
            raise InvalidInput("another_file", f"{path} is not the file that the session worked on.")
        return file

    def query(self, sql: str, **tables: Path) -> Path:
        """Run one SELECT (DuckDB) over these tables."""
        return self._run(query.run_sql, tables, sql=sql)[1] / "result.parquet"

    def split(
        self, table: Path, problem: Mapping[str, Any], assumptions: Sequence[Mapping[str, Any]] | None = None
    ) -> Split:
        """Split off the hold-out. `problem` needs only a `target`; `assumptions`: those of a session that
        measured them."""
        options = {"problem": dict(problem), "assumptions": assumptions, "seed": self.seed}
        facts, folder = self._run(split.split_table, {"table": table}, **options)
        return Split(folder / "train.parquet", folder / "holdout.parquet", facts)

    def fit(self, split: Split, problem: Mapping[str, Any] | None = None, **candidate: Any) -> Fitted:
        """Fit a candidate, or some folds of it: `estimator`, `hyperparameters`, `recipe`, `run`, `settings`.

        With `settings` the result does not depend on time.
        """
        params = {
            "folds": split.facts["folds"],
            **candidate,
            "problem": dict(problem or split.facts["problem"]),
        }
        return self._fitted(self._run(train.fit_candidate, {"frame": split.train}, seed=self.seed, **params))

    def blend(self, parts: Sequence[Fitted], name: str = "Ensemble") -> Fitted:
        """Blend fitted parts into one model, weighted by their out-of-fold scores."""
        inputs = {f"model_{index}": part.model for index, part in enumerate(parts)}
        inputs |= {f"oof_{index}": part.oof for index, part in enumerate(parts)}
        first = parts[0].facts
        params = {"problem": first["problem"], "folds": first["folds"], "fits": [part.facts for part in parts]}
        return self._fitted(self._run(train.blend, inputs, seed=self.seed, name=name, **params))

    def judge(self, split: Split, model: Fitted) -> Facts:
        """Evaluate the model on the hold-out (`computation_facts.EvaluationFacts`)."""
        inputs = {"train": split.train, "holdout": split.holdout, "model": model.model}
        return self._run(evaluate.final_evaluation, inputs, seed=self.seed)[0]

    def refit(
        self, split: Split, model: Fitted, by_entity: bool = False, widening: float | None = None
    ) -> Path:
        """Fit the same settings, weights and threshold on all rows; return the model file. `by_entity`: rows of
        groups with training rows are predicted by fits that read the group's column. `widening`: the factor by
        which its intervals are wider."""
        inputs = {"train": split.train, "holdout": split.holdout}
        params = {"fit": model.facts, "seed": self.seed, "by_entity": by_entity, "widening": widening}
        return self._run(train.refit, inputs, **params)[1] / "model.skops"

    def predict(self, model: Fitted | Path, rows: pd.DataFrame, strict: bool = False) -> pd.DataFrame:
        """Predict rows like those of the table. A cell that cannot be read is a missing value, and is named in
        the column `problems` of its row; if `strict`, it is refused."""
        table = self._folder / "rows.parquet"
        # Problems name rows by place; an index of the caller's would be written as a column.
        rows.reset_index(drop=True).to_parquet(table)
        inputs = {"model": model if isinstance(model, Path) else model.model, "table": table}
        facts, folder = self._run(predict_table.predict_table, inputs, strict=strict)
        predictions = pd.read_parquet(folder / "predictions.parquet")
        if len(predictions) != len(rows):
            return predictions  # a forecast has rows of its own
        by_row: dict[int, list[str]] = {}
        for problem in facts["problems"]:
            by_row.setdefault(problem["row"], []).append(f"{problem['column']}: {problem['value']}")
        return predictions.assign(problems=["; ".join(by_row.get(row, ())) for row in range(len(predictions))])

    def explain(self, split: Split, model: Fitted) -> Facts:
        """Explain the model on the hold-out (`explanation_facts.ExplanationFacts`)."""
        return self._run(
            explain.explain_model, {"holdout": split.holdout, "model": model.model}, seed=self.seed
        )[0]

    def _run(
        self, function: Callable[..., JsonValue], inputs: Mapping[str, Path], **params: Any
    ) -> tuple[Facts, Path]:
        self._cells += 1
        folder = self._folder / f"{self._cells}"
        folder.mkdir()
        with allow_code(self._code) if self._code else nullcontext():
            facts: Any = function(CellWorkspace(dict(inputs), folder, self.threads), **params)
        return facts, folder

    def _fitted(self, outcome: tuple[Facts, Path]) -> Fitted:
        facts, folder = outcome
        return Fitted(folder / "model.skops", folder / "oof.parquet", facts)


def scores(fitted: Sequence[Fitted]) -> dict[str, float]:
    """Return the cross-validated score of each candidate: the mean over the folds of all its parts."""
    by_name: dict[str, list[float]] = {}
    for part in fitted:
        fold_scores = [score for score in part.facts["fold_scores"] if score is not None]
        by_name.setdefault(str(part.facts["name"]), []).extend(fold_scores)
    return {name: statistics.fmean(values) for name, values in by_name.items() if values}


class NotReproduced(Exception):
    """Results differ from the recorded ones."""


def compared(recorded: Mapping[str, Any], now: Mapping[str, Any], tolerance: float = 1e-3) -> pd.DataFrame:
    """Compare recorded with new figures, those of nested mappings too.

    Raises NotReproduced if they differ by more than `tolerance` (a share).
    """
    past, present = dict(_flat_figures(recorded)), dict(_flat_figures(now))
    names = list(past)
    table = pd.DataFrame(
        {"recorded": list(past.values()), "now": [present.get(name) for name in names]},
        index=names,
        dtype="float64",
    )
    table["difference"] = table["now"] - table["recorded"]
    # A share of a figure near 0 would be less than rounding, so those are compared with a millionth.
    differs = table["difference"].abs() > tolerance * table["recorded"].abs().clip(lower=1e-3)
    if (differs | table["now"].isna()).any():
        raise NotReproduced(f"The results differ from the recorded ones:\n{table}")
    return table


def _flat_figures(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield each number with its path of names, as in `repeated_rows.equal`."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from _flat_figures(value, f"{prefix}{name}.")
        elif isinstance(value, int | float):
            yield f"{prefix}{name}", float(value)
