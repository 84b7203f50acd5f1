"""Do a session again by hand: its computations as one small object, for notebooks and scripts.

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
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd

from app.computations import evaluate, explain, query, split, train
from app.computations.bench import Bench
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.custom_code.functions import Interpreter, allow_code

Facts = dict[str, Any]


@dataclass(frozen=True)
class Split:
    """The rows that teach, the rows that judge at the end, and how they were chosen (`results.SplitFacts`)."""

    train: Path
    holdout: Path
    facts: Facts


@dataclass(frozen=True)
class Fitted:
    """A model, what it said of rows that did not teach it, and its `results.FitFacts`."""

    model: Path
    oof: Path
    facts: Facts


class Workbench:
    """What it makes lies in a folder that goes when it goes. `threads`: how many cores a fit may use.

    `code`: how code that an agent wrote is read (`app.sandbox.policy.definitions.define`); without it such a
    recipe or estimator is refused. It runs in this process, with no cell around it.
    """

    def __init__(self, seed: int = 0, threads: int = 1, code: Interpreter | None = None) -> None:
        self.seed = seed
        self.threads = threads
        self._code = code
        self._folder = Path(mkdtemp(prefix="labcrew-"))
        self._cells = 0
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def open(self, path: str | Path, sha256: str | None = None) -> Path:
        """A table as Parquet; raises InvalidInput where it is missing, or is not the one that was meant."""
        file = Path(path)
        if not file.is_file():
            raise InvalidInput("no_file", f"There is no file {path}: run this beside the session's data.")
        if sha256 is not None and hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
            raise InvalidInput("another_file", f"{path} is not the file that the session worked on.")
        return file

    def query(self, sql: str, **tables: Path) -> Path:
        """One SELECT (DuckDB) over these tables."""
        return self._run(query.run_sql, tables, sql=sql)[1] / "result.parquet"

    def split(self, table: Path, problem: Mapping[str, Any]) -> Split:
        """Lock the hold-out away before anyone looks. `problem` needs a `target` only."""
        facts, left = self._run(split.lock_holdout, {"table": table}, problem=dict(problem), seed=self.seed)
        return Split(left / "train.parquet", left / "holdout.parquet", facts)

    def fit(self, split: Split, problem: Mapping[str, Any] | None = None, **candidate: Any) -> Fitted:
        """One candidate, or some folds of it: `estimator`, `hyperparameters`, `recipe`, `run`, `settings`.

        With `settings` nothing is decided by the clock.
        """
        given = {"folds": split.facts["folds"], **candidate, "problem": dict(problem or split.facts["problem"])}
        return self._fitted(self._run(train.fit_candidate, {"frame": split.train}, seed=self.seed, **given))

    def blend(self, parts: Sequence[Fitted], name: str = "Ensemble") -> Fitted:
        """Fitted parts as one model, weighted by how they do on rows that did not teach them."""
        inputs = {f"model_{place}": part.model for place, part in enumerate(parts)}
        inputs |= {f"oof_{place}": part.oof for place, part in enumerate(parts)}
        first = parts[0].facts
        given = {"problem": first["problem"], "folds": first["folds"], "fits": [part.facts for part in parts]}
        return self._fitted(self._run(train.blend, inputs, seed=self.seed, name=name, **given))

    def judge(self, split: Split, model: Fitted) -> Facts:
        """Open the hold-out for this model (`results.EvaluationFacts`)."""
        inputs = {"train": split.train, "holdout": split.holdout, "model": model.model}
        return self._run(evaluate.final_evaluation, inputs, seed=self.seed)[0]

    def refit(self, split: Split, model: Fitted) -> Path:
        """The model file of the same settings, weights and threshold, learned again from all rows."""
        inputs = {"train": split.train, "holdout": split.holdout}
        return self._run(train.refit, inputs, fit=model.facts, seed=self.seed)[1] / "model.skops"

    def explain(self, split: Split, model: Fitted) -> Facts:
        """What it relies on and where it errs, on the hold-out (`explanation.facts.ExplanationFacts`)."""
        return self._run(
            explain.explain_model, {"holdout": split.holdout, "model": model.model}, seed=self.seed
        )[0]

    def _run(
        self, function: Callable[..., JsonValue], inputs: Mapping[str, Path], **params: Any
    ) -> tuple[Facts, Path]:
        self._cells += 1
        left = self._folder / f"{self._cells}"
        left.mkdir()
        with allow_code(self._code) if self._code else nullcontext():
            facts: Any = function(Bench(dict(inputs), left, self.threads), **params)
        return facts, left

    def _fitted(self, made: tuple[Facts, Path]) -> Fitted:
        facts, left = made
        return Fitted(left / "model.skops", left / "oof.parquet", facts)


def scores(fitted: Sequence[Fitted]) -> dict[str, float]:
    """The cross-validated score of each candidate: the mean over the folds of all its parts."""
    by_name: dict[str, list[float]] = {}
    for each in fitted:
        known = [score for score in each.facts["fold_scores"] if score is not None]
        by_name.setdefault(str(each.facts["name"]), []).extend(known)
    return {name: statistics.fmean(known) for name, known in by_name.items() if known}


class NotReproduced(Exception):
    """What came out is not what was recorded."""


def compared(
    recorded: Mapping[str, float | None], now: Mapping[str, float | None], tolerance: float = 1e-3
) -> pd.DataFrame:
    """Both side by side; raises NotReproduced where they are apart by more than this share."""
    names = [name for name, value in recorded.items() if value is not None]
    table = pd.DataFrame(
        {"recorded": [recorded[name] for name in names], "now": [now.get(name) for name in names]},
        index=names,
        dtype="float64",
    )
    table["difference"] = table["now"] - table["recorded"]
    apart = table["difference"].abs() > tolerance * table["recorded"].abs().clip(lower=1e-3)
    if (apart | table["now"].isna()).any():
        raise NotReproduced(f"What came out is not what was recorded:\n{table}")
    return table
