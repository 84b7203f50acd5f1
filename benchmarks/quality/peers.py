"""Run a peer in a process of its own, on two processors."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pandas as pd
from benchmarks.quality.resource_usage import ResourceMonitor
from benchmarks.quality.run_folders import ROOT, Json, RunFolders

MODULES = {
    "naive": "benchmarks.quality.contenders.naive",
    "skrub": "benchmarks.quality.contenders.skrub_hgb",
    "flaml": "benchmarks.quality.contenders.flaml_automl",
    "autogluon": "benchmarks.quality.contenders.autogluon_tabular",
}
CORES = sorted(os.sched_getaffinity(0))[:2]
MAX_BUDGET_RATIO = 10
"""Time limit of a peer as a multiple of its budget, to which five minutes are added."""


def run_peer(folders: RunFolders, name: str, table: str, budget_s: float) -> tuple[pd.DataFrame, Json]:
    """Return predictions of the test rows and measurements; raises RuntimeError with the log's last line."""
    output_folder = folders.contender_folder(table, name, budget_s)
    command = [
        str(folders.python),
        "-m",
        MODULES[name],
        str(folders.table(table)),
        str(output_folder),
        str(budget_s),
    ]
    cores = ",".join(map(str, CORES))
    started = time.monotonic()
    with (output_folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            ["taskset", "--cpu-list", cores, *command],
            cwd=ROOT,
            env=_environment(),
            stdout=log,
            stderr=log,
        )
        with ResourceMonitor(process.pid, started) as monitor:
            succeeded = _wait(process, budget_s * MAX_BUDGET_RATIO + 300)
        usage = monitor.finish(time.monotonic())
    wall_s = time.monotonic() - started
    if not succeeded:
        raise RuntimeError(_last_log_line(output_folder / "log.txt"))
    predictions = pd.read_csv(output_folder / "prediction.csv")
    shutil.rmtree(output_folder / "models", ignore_errors=True)
    reported: Json = json.loads((output_folder / "measurements.json").read_text())
    return predictions, {**reported, "wall_s": wall_s, **vars(usage)}


def _wait(process: subprocess.Popen[bytes], max_wait_s: float) -> bool:
    try:
        return process.wait(max_wait_s) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def _environment() -> dict[str, str]:
    threads = {name: str(len(CORES)) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    return {**os.environ, **threads, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


def _last_log_line(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "its log is empty"
