"""Studies with a chat model that thinks 6 s an answer, against the crew without one: the score on the hold-out.

    .venv/bin/python -m benchmarks.thinking.run [--budgets 60 120] [--thinking 6] [--tables penguins ...]

The model answers as the offline policies do, so that any difference is that of its thinking. Beside each score
is its interval: where both overlap, nothing is worse beyond the error. Runs take about budget plus thinking.
"""

import argparse
import asyncio
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.client import Client
from benchmarks.service import COMPUTE, STEPS, UNMETERED, Load, service, sign_in
from tests.scripted_chat import ScriptedChat, serving

SESSIONS = "/api/v1/lab/agent/sessions"
ENDED = ("completed", "failed", "cancelled")
BOKEH = Path(str(files("bokeh_sampledata"))) / "_data"
TABLES = {
    "auto-mpg": "Predict the fuel economy mpg.",
    "titanic_all": "Predict who survived.",
    "penguins": "Predict the body mass of penguins.",
}


async def study(port: int, table: str, budget_s: float) -> dict[str, Any]:
    """Run a study to its end and return its result, with the number of fitted candidates."""
    client = await Client.connect(port, await sign_in(port))
    path = BOKEH / f"{table}.csv"
    dataset = await client.send_file(f"/api/v1/datasets?filename={path.name}", path)
    wish: dict[str, object] = {
        "goal": TABLES[table],
        "dataset_ids": [dataset["id"]],
        "preferences": {"time_budget_s": budget_s, "clarify": "never", "seed": 1},
    }
    session = (await client.call("POST", SESSIONS, wish))["id"]
    while True:
        view = await client.call("GET", f"{SESSIONS}/{session}")
        if view["status"] in ENDED:
            break
        await asyncio.sleep(0.5)
    client.close()
    if view["status"] != "completed":
        raise RuntimeError(f"{table}: {view['error']}")
    return view


def measure(table: str, budget_s: float, thinking_s: float) -> str:
    """Describe a study by its score, its candidates and its seconds; `thinking_s` 0: without a chat model."""
    chat = ScriptedChat(hear=lambda _: time.sleep(thinking_s))
    with serving(chat):
        model = {"LLM_MODEL": "openai:scripted", "LLM_BASE_URL": chat.base_url, "OPENAI_API_KEY": "none"}
        settings = model if thinking_s else {"LLM_MODEL": "offline"}
        with service(**UNMETERED, **settings) as running:
            running.start("steps", STEPS)
            running.start("compute", COMPUTE)
            began = time.monotonic()
            result = asyncio.run(study(running.port, table, budget_s))["result"]
    holdout, rows = result["holdout"], [row for row in result["leaderboard"] if not row["baseline"]]
    return (
        f"{result['metric']} {holdout['value']:.5g} ({holdout['low']:.5g} to {holdout['high']:.5g}), "
        f"{len(rows)} candidates, {len(chat.asked)} answers, {time.monotonic() - began:.0f} s"
    )


def run(tables: list[str], budgets_s: list[float], thinking_s: float) -> None:
    for table in tables:
        for budget_s in budgets_s:
            for seconds in (0.0, thinking_s):
                who = f"thinking {seconds:g} s an answer" if seconds else "offline"
                print(f"{table}, {budget_s:g} s, {who}: {measure(table, budget_s, seconds)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--budgets", type=float, nargs="+", default=[60.0, 120.0])
    parser.add_argument("--thinking", type=float, default=6.0)
    parser.add_argument("--tables", nargs="+", default=[*TABLES], choices=[*TABLES])
    options = parser.parse_args()
    with Load() as load:
        run(options.tables, options.budgets, options.thinking)
    print(load.summary)


if __name__ == "__main__":
    main()
