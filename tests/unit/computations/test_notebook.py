"""A session's notebook, run by Jupyter beside its data alone, comes to the same."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbclient import NotebookClient
from tests.patience import HANG_GUARD_S

from app.computations import report
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import evaluate, train
from app.computations.notebook_workbench import NotReproduced, Workbench, compared
from app.computations.preparation import split
from app.errors import InvalidInput
from app.modeling.custom_code.functions import allow_code
from app.recorded_call import RecordedCall
from app.reporting.script import notebook_to_script
from app.sandbox.policy.custom_functions import define

Compute = Callable[..., tuple[Any, Path]]


@pytest.fixture
def compute(tmp_path: Path) -> Compute:
    def run(function: Any, inputs: Mapping[str, Path], **params: Any) -> tuple[Any, Path]:
        output = tmp_path / f"cell-{len(list(tmp_path.iterdir()))}"
        output.mkdir()
        return json.loads(json.dumps(function(CellWorkspace(inputs, output), **params))), output

    return run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = 400
    made = pd.DataFrame({name: rng.normal(size=rows) for name in ("a", "b", "c")})
    y = np.sign(made["a"]) * 2 + made["b"] + rng.normal(size=rows)
    path = tmp_path / "archive" / "data" / "table.parquet"
    path.parent.mkdir(parents=True)
    made.assign(y=np.where(y > 0, "yes", "no")).to_parquet(path)
    return path


def session(compute: Compute, source: Path, recipe: Sequence[Mapping[str, Any]] = ()) -> list[RecordedCall]:
    """A session in short: rounds that the clock decided, an ensemble, the hold-out.

    `recipe`: of LightGBM alone.
    """
    calls: list[RecordedCall] = []

    def record(tool: str, result: Any, node: str = "model_training", request: Any = None) -> None:
        calls.append(RecordedCall(len(calls) + 1, node, "tool:0.0", tool, "agent", request or {}, result))

    record("fetch_dataset", {"frame": "data"}, "data_retrieval", {"dataset": "table"})
    locked, files = compute(split.split_table, {"table": source}, problem={"target": "y"}, seed=7)
    record("lock_holdout", locked, "split")
    given = {"problem": locked["problem"], "folds": locked["folds"], "seed": 7}
    made: list[tuple[Any, Path]] = []

    def fitted(tool: str, **candidate: Any) -> None:
        fit, left = compute(train.fit_candidate, {"frame": files / "train.parquet"}, **given, **candidate)
        made.append((fit, left))
        record(tool, {"fits": [{key: fit[key] for key in fit if key != "schema"}], "left_out": []})

    fitted("train_classification_model", estimator="baseline", run=[0])
    own = {"recipe": list(recipe)} if recipe else {}
    fitted("train_classification_model", estimator="LightGBM", run=[0], time_limit_s=1.5, **own)
    fitted("train_classification_model", estimator="LogisticRegression", run=[0], time_limit_s=1.5)
    fitted("add_folds", estimator="LightGBM", run=[1], settings=made[1][0]["settings"], **own)
    fitted("add_folds", estimator="LogisticRegression", run=[1], settings=made[2][0]["settings"])
    voices = made[1:]
    inputs = {f"model_{place}": left / "model.skops" for place, (_, left) in enumerate(voices)}
    inputs |= {f"oof_{place}": left / "oof.parquet" for place, (_, left) in enumerate(voices)}
    blend, blended = compute(train.blend, inputs, fits=[fit for fit, _ in voices], **given)
    record("build_ensemble", blend, "model_evaluation")
    compared_facts, _ = compute(evaluate.compare_models, {}, fits=[made[0][0], blend])
    record("compare_models", {**compared_facts, "chosen": "Ensemble"}, "model_evaluation")
    opened = {
        "train": files / "train.parquet",
        "holdout": files / "holdout.parquet",
        "model": blended / "model.skops",
    }
    final, _ = compute(evaluate.final_evaluation, opened, seed=7)
    record("final_evaluation", {**final, "model": "Ensemble"}, "final_evaluation")
    return calls


def written(compute: Compute, calls: list[RecordedCall], source: Path, tmp_path: Path) -> dict[str, Any]:
    digest = sha256(source.read_bytes()).hexdigest()
    about = {"id": "s", "goal": "Predict it.", "seed": 7, "created_at": "2026-03-14T00:00:00+00:00"}
    about |= {"datasets": [{"name": "table", "table": "table", "rows": 400, "columns": 4, "digest": digest}]}
    own = RecordedCall(99, "reporting", "tool:1.0", "generate_summary", "reporter", None, {"session": about})
    journal = tmp_path / "calls.json"
    journal.write_text(json.dumps([dataclasses.asdict(call) for call in calls]))
    _, left = compute(report.write_report, {"calls": journal}, own=dataclasses.asdict(own))
    made: dict[str, Any] = json.loads((left / "notebook.ipynb").read_text())
    return made


def executed(notebook: dict[str, Any], folder: Path, home: Path) -> Any:
    """The notebook with its outputs, run by a kernel that works in `folder`; CellExecutionError if it stops."""
    # The session ran with these kernels of OpenBLAS; others round otherwise, in the third digit of a log loss.
    blas = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    kernel = {"HOME": str(home), "PATH": os.environ["PATH"], **blas}
    given = nbformat.from_dict(notebook)
    place = {"metadata": {"path": folder}}
    client = NotebookClient(
        given, timeout=HANG_GUARD_S, startup_timeout=HANG_GUARD_S, kernel_name="python3", resources=place
    )
    return client.execute(env=kernel)


def test_the_notebook_of_a_session_reproduces_the_recorded_results(
    compute: Compute, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "jupyter"))
    calls = session(compute, source)
    notebook = written(compute, calls, source, tmp_path)
    nbformat.validate(nbformat.from_dict(notebook))
    folder = source.parents[1]
    look = "print('APART', compared(LEADERBOARD, scores([*fitted, model])).difference.abs().max())"
    asking = {**notebook, "cells": [*notebook["cells"], nbformat.v4.new_code_cell(look, id="apart")]}

    ran = executed(asking, folder, tmp_path)

    assert ran.cells[-1].outputs[0].text == "APART 0.0\n"
    assert [path.name for path in folder.iterdir()] == ["data"]

    (folder / "session.py").write_text(notebook_to_script(notebook))
    source.write_bytes(source.read_bytes() + b" ")
    refused = subprocess.run(
        [sys.executable, "-I", "session.py"], cwd=folder, capture_output=True, text=True, timeout=HANG_GUARD_S
    )
    assert refused.returncode == 1
    assert "not the file that the session worked on" in refused.stderr


SUM = """
def transform(frame, state):
    return frame.assign(total=frame["a"] + frame["b"])
"""
FEATURE = {"op": "python", "name": "total", "columns": ["a", "b"], "source": SUM}


def test_code_of_the_crew_runs_only_where_the_reader_asks_for_it_by_name(
    compute: Compute, source: Path, tmp_path: Path
) -> None:
    with allow_code(define):
        calls = session(compute, source, [FEATURE])
    notebook = written(compute, calls, source, tmp_path)
    nbformat.validate(nbformat.from_dict(notebook))
    folder = source.parents[1]
    # Whoever turns source into functions says so: code that is not read by it does not run.
    marked = notebook_to_script(notebook).replace(
        "from app.sandbox.policy.custom_functions import define", MARKED
    )
    (folder / "session.py").write_text(marked)

    def ran(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-I", "session.py", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANG_GUARD_S)

    by_default = ran()
    assert by_default.returncode == 0, by_default.stderr
    assert "CREW CODE READ" not in by_default.stdout
    assert "Left out, because they run code of the crew: LightGBM" in by_default.stdout
    assert "--run-crew-code" in by_default.stdout
    assert "LogisticRegression [0]" in by_default.stdout

    by_name = ran("--run-crew-code")
    assert by_name.returncode == 0, by_name.stderr
    assert "CREW CODE READ" in by_name.stdout
    assert "Left out" not in by_name.stdout


MARKED = """from app.sandbox.policy.custom_functions import define as policy_define

def define(source):
    print("CREW CODE READ")
    return policy_define(source)
"""


def test_a_difference_to_the_recorded_results_is_reported() -> None:
    table = compared({"roc_auc": 0.81, "f1": None}, {"roc_auc": 0.8101})
    assert table.loc["roc_auc", "difference"] == pytest.approx(0.0001)

    with pytest.raises(NotReproduced, match=r"0\.81"):
        compared({"roc_auc": 0.81}, {"roc_auc": 0.82})
    with pytest.raises(NotReproduced):
        compared({"roc_auc": 0.81}, {})


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no file"):
        Workbench().open(tmp_path / "none.parquet")
