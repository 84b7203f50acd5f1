"""From uploaded bars to a strategy judged after costs: what is planted is found, a random walk is not sold."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

BARS = 2500
QUICK = {"time_budget_s": 8}
FIGURES = {f"backtest_{name}.svg" for name in ("price", "signal", "equity", "drawdown")}


def bars(strength: float, seed: int = 0) -> pd.DataFrame:
    """Hourly bars whose next return has this correlation with the column `flow`."""
    chance = np.random.default_rng(seed)
    flow, noise = chance.normal(size=BARS), chance.normal(size=BARS)
    moved = 0.004 * (strength * np.roll(flow, 1) + np.sqrt(1 - strength**2) * noise)
    close = 100 * np.exp(np.cumsum(moved))
    opened = np.concatenate([[100.0], close[:-1]])
    wide = 1 + np.abs(chance.normal(0, 0.001, BARS))
    return pd.DataFrame(
        {
            "time": pd.date_range("2025-01-01", periods=BARS, freq="h"),
            "open": opened,
            "high": np.maximum(opened, close) * wide,
            "low": np.minimum(opened, close) / wide,
            "close": close,
            "volume": chance.lognormal(3, 0.5, BARS),
            "flow": flow,
        }
    )


def traded(drive: Any) -> dict[str, Any]:
    recorded = drive.journal.recorded
    return next(json.loads(json.dumps(made.value)) for call, made in recorded if call.name == "backtest_model")


async def test_a_planted_signal_is_found_and_pays(lab, tmp_path):
    bars(0.5).to_csv(tmp_path / "bars.csv", index=False)
    await lab.upload(tmp_path / "bars.csv")
    drive = lab.drive("Will the close be higher in the next hour? Fees are 2 bps, slippage 1 bp.", QUICK)
    result = drive.spec.result(await drive.run())
    assert drive.journal.questions == []
    found = traded(drive)
    assert found["terms"] == {"fee_bps": 2, "slippage_bps": 1, "low": -1, "high": 1}
    assert found["edge"], found["verdict"]
    assert "An edge after costs" in drive.journal.messages[-1][1]
    assert {draft.name for draft in drive.journal.artifacts if draft.kind == "figure"} >= FIGURES
    assert result["headline"].startswith("An edge after costs")


async def test_a_random_walk_has_no_edge_and_the_report_says_so_first(lab, tmp_path):
    bars(0.0, seed=1).to_csv(tmp_path / "walk.csv", index=False)
    lab.shelf.datasets.clear()
    await lab.upload(tmp_path / "walk.csv")
    drive = lab.drive("Will the close be higher in the next hour?", QUICK | {"clarify": "never"})
    result = drive.spec.result(await drive.run())
    assert not traded(drive)["edge"]
    assert result["headline"].startswith("No edge after costs")
