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
"""Standard deviation of the changes of the drift, by which the next hour can be predicted."""
_SESSIONS = "/api/v1/lab/agent/sessions"
_DAY = 86_400 // STEP_S
_WITHIN = 5
"""Budgets after which a session that has not ended is given up."""


@dataclass(frozen=True)
class MarketStudy:
    """Market data and goal of the session."""

    days: int
    interval: str
    drift: float
    budget_s: float

    @property
    def goal(self) -> str:
        return f"Will {', '.join(COINS)} rise in the next hour? Use {self.interval} bars, fees 1 bp."


def bars(coin: str, rows: int, seed: int, drift: float) -> pd.DataFrame:
    """A geometric random walk whose mean moves slowly, by `drift`, so that the past tells of the next hour."""
    rng = np.random.default_rng(seed)
    trend = pd.Series(rng.normal(0, drift, rows)).ewm(alpha=0.03).mean() * 33
    close = 100 * np.exp(np.cumsum(rng.normal(0, 1.2e-3, rows) + trend - trend.mean()))
    open_prices = np.concatenate([[100.0], close[:-1]])
    above, below = 1 + np.abs(rng.normal(0, 6e-4, rows)), 1 - np.abs(rng.normal(0, 6e-4, rows))
    return pd.DataFrame(
        {
            "symbol": coin,
            "time": END_S + STEP_S * (np.arange(rows) - rows),
            "open": open_prices,
            "high": np.maximum(open_prices, close) * above,
            "low": np.minimum(open_prices, close) * below,
            "close": close,
            "volume": rng.lognormal(3, 0.6, rows),
        }
    )


def write_market(path: Path, study: MarketStudy) -> None:
    for n, coin in enumerate(COINS):
        table = bars(coin, study.days * _DAY, n, study.drift)
        table.to_csv(path, index=False, header=n == 0, mode="w" if n == 0 else "a", float_format="%.6g")


async def run_session(running: Service, token: str, study: MarketStudy) -> tuple[dict[str, Any], float]:
    """Run the session; return it with the peak memory (MB) of the service, its servers and cells."""
    client = await Client.connect(running.port, token)
    preferences = {"time_budget_s": study.budget_s, "clarify": "never", "seed": 1}
    created = await client.call("POST", _SESSIONS, {"goal": study.goal, "preferences": preferences})
    deadline, peak = time.monotonic() + _WITHIN * study.budget_s, 0
    session: dict[str, Any] = {}
    while not session.get("ended_at"):
        if time.monotonic() > deadline:
            raise RuntimeError(
                f"still {session.get('status')} at {session.get('node')} after {_WITHIN} budgets"
            )
        await asyncio.sleep(0.5)
        peak = max(peak, memory_bytes([pid for pid in process_tree(os.getpid()) if pid != os.getpid()]))
        session = await client.call("GET", f"{_SESSIONS}/{created['id']}")
    messages = await client.call("GET", f"{_SESSIONS}/{created['id']}/messages?limit=200")
    client.close()
    return {**session, "messages": messages}, peak / 2**20


async def measure(running: Service, file: Path, study: MarketStudy) -> None:
    token = await sign_in(running.port)
    client = await Client.connect(running.port, token)
    started = time.perf_counter()
    imported = await client.send_file("/api/v1/prices/import", file)
    client.close()
    say(f"  {imported['added']:,} bars imported through the API in {time.perf_counter() - started:.1f} s")
    with Load() as load:
        session, peak = await run_session(running, token, study)
    if session["status"] != "completed":
        raise RuntimeError(session["error"])
    print_session(session, study, peak, load.summary)


def print_session(session: dict[str, Any], study: MarketStudy, peak: float, load: str) -> None:
    result, duration_s = session["result"], session_duration_s(session)
    holdout = result["holdout"]
    budget_note = "within" if duration_s <= study.budget_s else "NOT within"
    problem = result["problem"]
    say(f"  ended after {duration_s:.1f} s, {budget_note} its budget of {study.budget_s:g} s; {load}")
    choice = f"{result['model_name']} of {len(result['leaderboard'])} candidates"
    say(f"  {choice}, split by {result['split']['kind']}")
    say(
        f"  hold-out {problem['metric']} {holdout['value']:.3f} ({holdout['low']:.3f} to {holdout['high']:.3f})"
    )
    say(f"  at most {peak:,.0f} MB, servers and cells included")
    last_message = session["messages"]["items"][-1]["text"]
    say(f"  it says: {last_message[:300]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--interval", default="5-minute")
    parser.add_argument("--drift", type=float, default=DRIFT)
    parser.add_argument("--budget", type=float, default=120.0)
    options = parser.parse_args()
    study = MarketStudy(options.days, options.interval, options.drift, options.budget)
    with tempfile.TemporaryDirectory(prefix="labcrew-bench-") as folder, service() as running:
        file = Path(folder) / "market.csv"
        write_market(file, study)
        say(f"{len(COINS)} coins, {study.days} days of 5-minute bars. {study.goal}")
        running.start("steps", STEPS)
        running.start("compute", COMPUTE)
        asyncio.run(measure(running, file, study))


if __name__ == "__main__":
    main()
