"""Run a peer in a process of its own, on two processors."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pandas as pd
from benchmarks.quality.home import ROOT, Home, Json
from benchmarks.quality.watch import Watch

MODULES = {
    "naive": "benchmarks.quality.contenders.naive",
    "skrub": "benchmarks.quality.contenders.skrub_hgb",
    "flaml": "benchmarks.quality.contenders.flaml_automl",
    "autogluon": "benchmarks.quality.contenders.autogluon_tabular",
}
CORES = sorted(os.sched_getaffinity(0))[:2]
PATIENCE = 10
"""A peer that takes this many times its budget, and five minutes, is ended."""


def run_peer(home: Home, name: str, table: str, budget_s: float) -> tuple[pd.DataFrame, Json]:
    """Predictions of the test rows and facts of the run; raises RuntimeError with the peer's last words."""
    out = home.out(table, name, budget_s)
    command = [str(home.python), "-m", MODULES[name], str(home.table(table)), str(out), str(budget_s)]
    cores = ",".join(map(str, CORES))
    started = time.monotonic()
    with (out / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            ["taskset", "--cpu-list", cores, *command],
            cwd=ROOT,
            env=_environment(),
            stdout=log,
            stderr=log,
        )
        with Watch(process.pid, started) as watch:
            ended_well = _wait(process, budget_s * PATIENCE + 300)
        seen = watch.close(time.monotonic())
    wall_s = time.monotonic() - started
    if not ended_well:
        raise RuntimeError(_last_words(out / "log.txt"))
    prediction = pd.read_csv(out / "prediction.csv")
    shutil.rmtree(out / "models", ignore_errors=True)
    said: Json = json.loads((out / "said.json").read_text())
    return prediction, {**said, "wall_s": wall_s, **vars(seen)}


def _wait(process: subprocess.Popen[bytes], at_most_s: float) -> bool:
    try:
        return process.wait(at_most_s) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def _environment() -> dict[str, str]:
    threads = {name: str(len(CORES)) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    return {**os.environ, **threads, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


def _last_words(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"
