"""Faults planted in a table are named or neutralised on the way from table to verdict; a clean one passes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import evaluate, train
from app.computations.preparation import explore, split

Study = Callable[..., "Done"]


class Done:
    """One table on its way: locked, looked at and, on demand, fitted and judged on the hold-out."""

    def __init__(self, folder: Path, frame: pd.DataFrame, wish: dict[str, Any]) -> None:
        self.folder = folder
        frame.to_parquet(folder / "table.parquet")
        self.locked: Any = split.split_table(self._bench("lock", table=folder / "table.parquet"), wish)
        self.train, self.holdout = folder / "lock" / "train.parquet", folder / "lock" / "holdout.parquet"

    @property
    def leaks(self) -> dict[str, str]:
        seen: Any = explore.perform_eda(self._bench("look", frame=self.train), self.locked["problem"])
        return {leak["column"]: leak["kind"] for leak in seen["leaks"]}

    def judged(self, estimator: str, recipe: list[dict[str, Any]] | None = None) -> tuple[Any, Any]:
        """The fit's facts, and what the hold-out says of it."""
        fit: Any = train.fit_candidate(
            self._bench("fit", frame=self.train),
            self.locked["problem"],
            estimator,
            self.locked["folds"],
            recipe,
        )
        inputs = {"train": self.train, "holdout": self.holdout, "model": self.folder / "fit" / "model.skops"}
        return fit, evaluate.final_evaluation(self._bench("judge", **inputs))

    def _bench(self, name: str, **inputs: Path) -> CellWorkspace:
        (self.folder / name).mkdir()
        return CellWorkspace(inputs, self.folder / name)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    def begin(frame: pd.DataFrame, **wish: Any) -> Done:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        return Done(folder, frame, {"target": "y", **wish})

    return begin


def clean(rows: int = 500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 4)), columns=["a", "b", "c", "d"]).round(4)
    frame["plan"] = rng.choice(["x", "y", "z"], rows)
    odds = 1.5 * frame["a"] - frame["b"] + (frame["plan"] == "x") + rng.logistic(size=rows)
    return frame.assign(y=np.where(odds > 0.3, "yes", "no"))


def test_a_clean_table_gives_no_warning_and_its_expected_score(study: Study) -> None:
    done = study(clean(800))
    assert (done.locked["kind"], done.locked["notes"], done.leaks) == ("stratified", [], {})
    fit, verdict = done.judged("LogisticRegression")
    assert (verdict["beats_baseline"], verdict["agrees_with_cv"], verdict["notes"]) == (True, True, [])
    assert fit["threshold_text"].startswith("The positive class is predicted from")


def test_a_leak_is_named(study: Study) -> None:
    frame = clean()
    known = frame["y"] == "yes"
    frame["exit_code"] = np.where(known, 7.0, 3.0) + np.random.default_rng(1).normal(size=500) * 0.3
    assert study(frame).leaks == {"exit_code": "nearly_perfect"}


@pytest.mark.parametrize("target", ["y", "a"])
def test_a_file_sorted_by_the_target_is_noted_and_row_numbers_are_no_input(target: str, study: Study) -> None:
    frame = clean().sort_values(target, kind="stable").assign(row=np.arange(500))
    done = study(frame, target=target)
    assert any(f"sorted by '{target}'" in note for note in done.locked["notes"])
    assert done.leaks["row"] == ("near_copy" if target == "a" else "row_order")
    judged = study(clean().sample(frac=1, random_state=0), target=target)
    assert judged.locked["notes"] == []


def test_a_target_in_free_text_is_named(study: Study) -> None:
    frame = clean()
    note = np.where(frame["y"] == "yes", "signed up", "turned away")
    frame["note"] = [f"spoke for {place} minutes, {said}" for place, said in enumerate(note)]
    assert study(frame).leaks == {"note": "target_in_text"}


def test_grouped_rows_do_not_inflate_the_cross_validated_score(study: Study) -> None:
    """Each patient has an outcome and a fingerprint of numbers; nothing else tells it."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(80), 6)
    fingerprint = rng.normal(size=(80, 3))[who]
    frame = pd.DataFrame(fingerprint, columns=["a", "b", "c"])
    frame = frame.assign(patient_id=who + 100, y=rng.integers(0, 2, 80)[who])
    done = study(frame.sample(frac=1, random_state=0))
    assert done.locked["kind"] == "grouped"
    assert "'patient_id'" in done.locked["reason"]
    fit, verdict = done.judged("RandomForest")
    assert fit["score"] < 0.7
    assert not verdict["beats_baseline"]


def test_a_rule_that_changes_with_time_is_evaluated_on_the_future_and_noted(study: Study) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=1500, freq="h")})
    frame["a"] = rng.normal(size=1500)
    frame["y"] = frame["a"] * np.where(np.arange(1500) < 1250, 1.0, -1.0) + 0.3 * rng.normal(size=1500)
    done = study(frame, metric="mae")
    assert done.locked["kind"] == "time"
    assert "the file is sorted by it" in done.locked["reason"]
    fit, verdict = done.judged("Ridge")
    assert verdict["agrees_with_cv"] is False
    assert any("conditions have changed" in note for note in verdict["notes"])
    assert verdict["metrics"]["mae"]["high"] > fit["score"]


def test_a_stable_rule_gives_no_warning(study: Study) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(1200, 3)), columns=["a", "b", "c"])
    frame = frame.assign(day=pd.date_range("2018-01-01", periods=1200), y=frame["a"] + rng.normal(size=1200))
    done = study(frame, metric="rmse")
    assert (done.locked["kind"], done.locked["notes"], done.leaks) == ("time", [], {})
    _, verdict = done.judged("Ridge")
    assert (verdict["beats_baseline"], verdict["agrees_with_cv"], verdict["notes"]) == (True, True, [])
    low, high = verdict["metrics"]["rmse"]["low"], verdict["metrics"]["rmse"]["high"]
    assert low < 1.0 < high < 1.35 * low


def test_words_of_the_future_order_a_shuffled_file(study: Study) -> None:
    frame = clean().assign(day=pd.date_range("2020-01-01", periods=500))
    goal = "Who will say yes in the coming weeks?"
    assert study(frame.sample(frac=1, random_state=0), goal=goal).locked["kind"] == "time"


def test_repeated_rows_are_on_no_two_sides(study: Study) -> None:
    frame = clean()
    done = study(pd.concat([frame, frame.head(200)], ignore_index=True))
    assert done.locked["repeated_rows"] == {"equal": 400, "on_one_side": 400}
    assert done.locked["folds"]["equal_rows_together"]
    assert pd.read_parquet(done.train).merge(pd.read_parquet(done.holdout)).empty


def test_a_shuffled_target_is_called_no_better_than_the_baseline(study: Study) -> None:
    frame = clean()
    frame["y"] = frame["y"].sample(frac=1, random_state=1).to_numpy()
    fit, verdict = study(frame).judged("LogisticRegression")
    assert abs(fit["score"] - 0.5) < 0.08
    assert not verdict["beats_baseline"]
    assert "naive baseline" in verdict["notes"][0]


def test_features_learned_from_noise_score_at_chance(study: Study) -> None:
    """Shares of 200 values that mean nothing: fitted on all rows they would tell the target."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"code{place}": rng.integers(0, 60, 400).astype(str) for place in range(4)})
    frame["y"] = rng.integers(0, 2, 400)
    recipe = [{"op": "frequency", "columns": [f"code{place}" for place in range(4)]}]
    fit, verdict = study(frame).judged("LogisticRegression", recipe)
    assert abs(fit["score"] - 0.5) < 0.1
    assert not verdict["beats_baseline"]


def test_prediction_intervals_have_their_stated_coverage(study: Study) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(1, 10, 1500), "b": rng.normal(size=1500)})
    frame["y"] = 5 * frame["a"] + frame["a"] * rng.normal(size=1500)
    fit, verdict = study(frame).judged("Ridge")
    assert fit["prediction_intervals"]["method"] == "scaled"
    assert verdict["intervals"]["coverage"]["value"] == pytest.approx(0.9, abs=0.05)
    assert verdict["notes"] == []
