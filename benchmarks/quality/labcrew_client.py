"""Client of a service of `labcrew up`, which it uses through the API only, as a user does."""

import contextlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pandas as pd
from benchmarks.quality.resource_usage import ResourceMonitor
from benchmarks.quality.run_folders import ROOT, Json, RunFolders

_ENDED = ("completed", "failed", "cancelled")
_PAUSE_S = 0.2
_MAX_START_S = 600.0
"""Seconds for the service to become ready: it imports for some seconds, and a loaded machine takes minutes."""


class LabcrewClient:
    """A signed-in user of the service whose processes are below `pid`."""

    def __init__(self, url: str, pid: int) -> None:
        self._http = httpx.Client(base_url=f"{url}/api/v1", timeout=600)
        self.pid = pid

    def sign_in(self) -> None:
        person = {"email": f"{uuid4().hex}@example.com", "password": uuid4().hex}
        self._request("POST", "/auth/register", json=person)
        token = self._request("POST", "/auth/token", json=person)["access_token"]
        self._http.headers["Authorization"] = f"Bearer {token}"
        key = self._request("POST", "/auth/api_keys", json={"name": "benchmark"})["key"]
        self._http.headers["Authorization"] = f"Bearer {key}"

    def fit_and_predict(self, folders: RunFolders, facts: Json, budget_s: float) -> tuple[pd.DataFrame, Json]:
        """Return predictions of the test rows and the session's measurements.

        Raises RuntimeError with the session's error if there is no model.
        """
        folder = folders.table(facts["name"])
        data = self.upload(folder / "train.csv")
        request = {
            "goal": facts["goal"],
            "dataset_ids": [data],
            "preferences": session_preferences(facts, budget_s),
        }
        started = time.monotonic()
        with ResourceMonitor(self.pid, started) as monitor:
            session = self.run_session(request, budget_s)
        usage = monitor.finish(time.monotonic())
        wall_s = time.monotonic() - started
        if session["status"] != "completed" or not session["result"].get("model"):
            raise RuntimeError(str(session["error"] or session["result"]))
        prediction_started = time.monotonic()
        predictions = self._predict(session["result"]["model"], self.upload(folder / "test.csv"))
        measurements = {
            "predict_s": time.monotonic() - prediction_started,
            "wall_s": wall_s,
            **vars(usage),
            **_describe_session(session),
        }
        return predictions, {**measurements, "left_out": self._left_out(session["result"]["model"])}

    def _left_out(self, model: str) -> list[str]:
        """List the columns that the model does not use: excluded before any fit, or dropped by its recipe."""
        detail = self.get_model(model)
        dropped = [name for step in detail["recipe"] if step["op"] == "drop" for name in step["columns"] or ()]
        return list(dict.fromkeys([*detail["problem"]["exclude"], *dropped]))

    def run_session(self, request: Json, budget_s: float) -> Json:
        """Start a session and return it when it has ended; raises RuntimeError when it does not end."""
        created = self._request("POST", "/lab/agent/sessions", json=request)["id"]
        deadline = time.monotonic() + 10 * budget_s + 600
        while True:
            session = self._request("GET", f"/lab/agent/sessions/{created}")
            if session["status"] in _ENDED:
                return session
            if time.monotonic() > deadline:
                self._request("DELETE", f"/lab/agent/sessions/{created}")
                raise RuntimeError(f"still {session['status']} at {session['node']} after ten budgets")
            time.sleep(_PAUSE_S)

    def upload(self, path: Path) -> str:
        """Upload a file and return the dataset's id."""
        with path.open("rb") as file:
            return str(self._request("POST", "/datasets", files={"file": (path.name, file)})["id"])

    def get_model(self, model: str) -> Json:
        """Return a model's problem, columns and recipe."""
        return self._request("GET", f"/models/{model}")

    def predict_rows(self, model: str, rows: list[Json]) -> Json:
        """Predict up to 1,000 rows in one request."""
        return self._request("POST", f"/models/{model}/predict", json={"rows": rows})

    def _predict(self, model: str, dataset: str) -> pd.DataFrame:
        answer = self._request("POST", f"/models/{model}/predict", json={"dataset_id": dataset})
        response = self._http.get(f"/artifacts/{answer['artifact_id']}")
        response.raise_for_status()
        frame = pd.read_parquet(io.BytesIO(response.content))
        shares = [name for name in frame.columns if name.startswith("probability_")]
        if not shares:
            return frame[["prediction"]]
        return frame[shares].rename(columns=lambda name: name.removeprefix("probability_"))

    def _request(self, method: str, path: str, **request: object) -> Json:
        try:
            response = self._http.request(method, path, **request)  # type: ignore[arg-type]  # passed on as given
        except httpx.TransportError as error:
            raise RuntimeError(f"{method} {path}: {error}") from error
        if response.is_error:
            raise RuntimeError(f"{method} {path}: {response.status_code} {response.text[:400]}")
        answer: Json = response.json() if response.content else {}
        return answer


def session_preferences(facts: Json, budget_s: float) -> Json:
    """Preferences of a session besides its goal; the crew infers kind, time and groups."""
    target = {"target": facts["target"]} if facts.get("tells_target") else {}
    return {"metric": facts["metric"], "time_budget_s": budget_s, "clarify": "never", "seed": 1, **target}


def session_duration_s(session: Json) -> float:
    """Seconds from the session's first claim to its end."""
    started, ended = (datetime.fromisoformat(session[name]) for name in ("started_at", "ended_at"))
    return (ended - started).total_seconds()


def _describe_session(session: Json) -> Json:
    """Claimed score, model choice and resource usage of a completed session."""
    result = session["result"]
    holdout = result["holdout"] or {}
    board = result["leaderboard"]
    return {
        "session": session["id"],
        "fit_s": session_duration_s(session),
        "claim": holdout.get("value"),
        "claim_low": holdout.get("low"),
        "claim_high": holdout.get("high"),
        "note": f"{result['model_name']} of {len(board)}",
        "split": (result["split"] or {}).get("kind"),
        "problem": result["problem"],
        "leaderboard": board,
        "cautions": result["cautions"],
        "assumptions": result.get("assumptions") or [],
        "usage": session["usage"],
    }


@contextlib.contextmanager
def running_service(folders: RunFolders) -> Iterator[LabcrewClient]:
    """`labcrew up` on a free port and an empty data folder of its own, until the block ends."""
    shutil.rmtree(folders.service, ignore_errors=True)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    environment = {**os.environ, "LABCREW_HOME": str(folders.service), "LOG_LEVEL": "WARNING"}
    command = [sys.executable, "-m", "app.cli.program", "up", "--quiet", "--port", str(port)]
    with (folders.folder / "service.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, process)
        client = LabcrewClient(url, process.pid)
        client.sign_in()
        yield client
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _MAX_START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("labcrew up ended at once: see service.log in the benchmark's folder")
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/readyz?strict=1", timeout=5).is_success:
                return
        time.sleep(_PAUSE_S)
    raise RuntimeError("labcrew up did not become ready")
