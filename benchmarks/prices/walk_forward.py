"""Twelve coins from a sentence to a verdict: `python -m benchmarks.prices.walk_forward [--budget 120]`.

The service with its servers, one worker for steps and one for fits, and the offline model. A user imports a
year of 5-minute bars of 12 coins through the API and says one sentence; the crew plans, fetches, locks the
latest fifth away, makes features, walks forward over the rest within the session's time budget, opens the
hold-out once and backtests. Every coin has a drift that moves slowly, so there is something to find;
`--drift 0` has none.
"""

import argparse
import asyncio
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.client import Client
from benchmarks.prices.run import END_S, STEP_S, say
from benchmarks.quality.labcrew_client import session_duration_s
from benchmarks.quality.resource_usage import memory_bytes, process_tree
from benchmarks.service import COMPUTE, STEPS, Load, Service, service, sign_in

COINS = ("BTC", "ETH", "SOL", "DOGE", "ADA", "XRP", "LTC", "BNB", "TRX", "XLM", "XMR", "BCH")
DRIFT = 8e-4
_SESSIONS = "/api/v1/lab/agent/sessions"
_DAY = 86_400 // STEP_S
_WITHIN = 5
"""Budgets after which a session that has not ended is given up."""


@dataclass(frozen=True)
class Asked:
    days: int
    interval: str
    drift: float
    budget_s: float

    @property
    def goal(self) -> str:
        return f"Will {', '.join(COINS)} rise in the next hour? Use {self.interval} bars, fees 1 bp."


def bars(coin: str, rows: int, seed: int, drift: float) -> pd.DataFrame:
    """A geometric random walk whose mean moves slowly, by `drift`, so that the past tells of the next hour."""
    chance = np.random.default_rng(seed)
    trend = pd.Series(chance.normal(0, drift, rows)).ewm(alpha=0.03).mean() * 33
    close = 100 * np.exp(np.cumsum(chance.normal(0, 1.2e-3, rows) + trend - trend.mean()))
    opened = np.concatenate([[100.0], close[:-1]])
    above, below = 1 + np.abs(chance.normal(0, 6e-4, rows)), 1 - np.abs(chance.normal(0, 6e-4, rows))
    return pd.DataFrame(
        {
            "symbol": coin,
            "time": END_S + STEP_S * (np.arange(rows) - rows),
            "open": opened,
            "high": np.maximum(opened, close) * above,
            "low": np.minimum(opened, close) * below,
            "close": close,
            "volume": chance.lognormal(3, 0.6, rows),
        }
    )


def write_market(path: Path, asked: Asked) -> None:
    for n, coin in enumerate(COINS):
        table = bars(coin, asked.days * _DAY, n, asked.drift)
        table.to_csv(path, index=False, header=n == 0, mode="w" if n == 0 else "a", float_format="%.6g")


async def finished(running: Service, token: str, asked: Asked) -> tuple[dict[str, Any], float]:
    """The session, ended, and the most memory (MB) that the service had with servers and cells."""
    client = await Client.connect(running.port, token)
    wish = {"time_budget_s": asked.budget_s, "clarify": "never", "seed": 1}
    created = await client.call("POST", _SESSIONS, {"goal": asked.goal, "preferences": wish})
    until, peak = time.monotonic() + _WITHIN * asked.budget_s, 0
    session: dict[str, Any] = {}
    while not session.get("ended_at"):
        if time.monotonic() > until:
            raise RuntimeError(
                f"still {session.get('status')} at {session.get('node')} after {_WITHIN} budgets"
            )
        await asyncio.sleep(0.5)
        peak = max(peak, memory_bytes([pid for pid in process_tree(os.getpid()) if pid != os.getpid()]))
        session = await client.call("GET", f"{_SESSIONS}/{created['id']}")
    messages = await client.call("GET", f"{_SESSIONS}/{created['id']}/messages?limit=200")
    client.close()
    return {**session, "messages": messages}, peak / 2**20


async def measure(running: Service, file: Path, asked: Asked) -> None:
    token = await sign_in(running.port)
    client = await Client.connect(running.port, token)
    started = time.perf_counter()
    loaded = await client.send_file("/api/v1/prices/import", file)
    client.close()
    say(f"  {loaded['added']:,} bars imported through the API in {time.perf_counter() - started:.1f} s")
    with Load() as load:
        session, peak = await finished(running, token, asked)
    if session["status"] != "completed":
        raise RuntimeError(session["error"])
    tell(session, asked, peak, load.said)


def tell(session: dict[str, Any], asked: Asked, peak: float, load: str) -> None:
    result, took = session["result"], session_duration_s(session)
    held = result["holdout"]
    kept = "within" if took <= asked.budget_s else "NOT within"
    problem = result["problem"]
    say(f"  ended after {took:.1f} s, {kept} its budget of {asked.budget_s:g} s; {load}")
    tried = f"{result['model_name']} of {len(result['leaderboard'])} candidates"
    say(f"  {tried}, split by {result['split']['kind']}")
    say(f"  hold-out {problem['metric']} {held['value']:.3f} ({held['low']:.3f} to {held['high']:.3f})")
    say(f"  at most {peak:,.0f} MB, servers and cells included")
    last = session["messages"]["items"][-1]["text"]
    say(f"  it says: {last[:300]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--interval", default="5-minute")
    parser.add_argument("--drift", type=float, default=DRIFT)
    parser.add_argument("--budget", type=float, default=120.0)
    given = parser.parse_args()
    asked = Asked(given.days, given.interval, given.drift, given.budget)
    with tempfile.TemporaryDirectory(prefix="labcrew-bench-") as folder, service() as running:
        file = Path(folder) / "market.csv"
        write_market(file, asked)
        say(f"{len(COINS)} coins, {asked.days} days of 5-minute bars. {asked.goal}")
        running.start("steps", STEPS)
        running.start("compute", COMPUTE)
        asyncio.run(measure(running, file, asked))


if __name__ == "__main__":
    main()
