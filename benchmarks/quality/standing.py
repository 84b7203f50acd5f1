"""Pure: how contenders stand against each other, and whether what they claim is true."""

import math
from collections.abc import Mapping

from benchmarks.quality.home import Json
from benchmarks.quality.judge import GREATER_IS_BETTER

NAIVE = "naive"
PEERS = ("autogluon", "flaml", "skrub")
OURS = "labcrew"
_MIN_ERROR = 1e-4
"""Constant predictions have none at all."""


def normalised(row: Mapping[str, Json]) -> dict[str, float]:
    """Scores of one table's contenders: 0 is naive, 1 the best peer. Who failed is no better than naive."""
    if not _ok(row.get(NAIVE)):
        return {}
    gain = {name: _gain(result, row[NAIVE]) for name, result in row.items()}
    best = max((gain[name] for name in PEERS if name in gain), default=0.0)
    if best <= 0:
        return {}
    return {name: value / best for name, value in gain.items()}


def means(rows: Mapping[str, Mapping[str, Json]]) -> dict[str, float]:
    """Mean normalised score of each contender over the tables where it ran."""
    by_name: dict[str, list[float]] = {}
    for row in rows.values():
        for name, value in normalised(row).items():
            by_name.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in by_name.items()}


def duels(rows: Mapping[str, Mapping[str, Json]], ours: str = OURS) -> dict[str, tuple[int, int]]:
    """Wins and losses against each peer; a difference below a thousandth of the best peer's gain is neither."""
    count: dict[str, tuple[int, int]] = {}
    for row in rows.values():
        values = normalised(row)
        for peer in PEERS:
            if ours in values and peer in values:
                won, lost = count.get(peer, (0, 0))
                ahead = values[ours] - values[peer]
                count[peer] = (won + (ahead > 1e-3), lost + (ahead < -1e-3))
    return count


def surprise(result: Json) -> float | None:
    """How many standard errors the claim lies above (better than) the truth; None without a claim."""
    if not _ok(result) or result.get("claim") is None:
        return None
    low, high = result.get("claim_low"), result.get("claim_high")
    own = (high - low) / (2 * 1.96) if low is not None and high is not None else 0.0
    error = math.hypot(own, result["error"])
    sign = 1 if GREATER_IS_BETTER[result["metric"]] else -1
    return float(sign * (result["claim"] - result["score"]) / max(error, _MIN_ERROR))


def is_kept(result: Json) -> bool | None:
    """Whether the claim is within two standard errors of the truth."""
    away = surprise(result)
    return None if away is None else abs(away) <= 2


def overrun(result: Json) -> float | None:
    """Share by which the budget was broken (negative: time left)."""
    if not _ok(result) or not result["budget_s"] or result.get("fit_s") is None:
        return None
    return float(result["fit_s"] / result["budget_s"] - 1)


def _ok(result: Json | None) -> bool:
    return result is not None and result.get("score") is not None


def _gain(result: Json, naive: Json) -> float:
    if not _ok(result):
        return 0.0
    sign = 1 if GREATER_IS_BETTER[naive["metric"]] else -1
    return float(sign * (result["score"] - naive["score"]))
