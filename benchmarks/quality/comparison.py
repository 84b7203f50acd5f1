"""Normalised scores, pairwise wins and losses, and standardised errors of claimed scores. Pure functions."""

import math
from collections.abc import Mapping

from benchmarks.quality.run_folders import Json
from benchmarks.quality.scoring import GREATER_IS_BETTER

NAIVE = "naive"
PEERS = ("autogluon", "flaml", "skrub")
LABCREW = "labcrew"
_MIN_STANDARD_ERROR = 1e-4
"""Lower bound of a claim's standard error: constant predictions have none at all."""


def normalised_scores(row: Mapping[str, Json]) -> dict[str, float]:
    """Scores of one table's contenders: 0 is naive, 1 the best peer. A failure counts as naive."""
    if not _has_score(row.get(NAIVE)):
        return {}
    gain = {name: _gain(result, row[NAIVE]) for name, result in row.items()}
    best_gain = max((gain[name] for name in PEERS if name in gain), default=0.0)
    if best_gain <= 0:
        return {}
    return {name: value / best_gain for name, value in gain.items()}


def mean_normalised_scores(rows: Mapping[str, Mapping[str, Json]]) -> dict[str, float]:
    """Mean normalised score of each contender over the tables where it ran."""
    by_name: dict[str, list[float]] = {}
    for row in rows.values():
        for name, value in normalised_scores(row).items():
            by_name.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in by_name.items()}


def pairwise_wins_and_losses(
    rows: Mapping[str, Mapping[str, Json]], contender: str = LABCREW
) -> dict[str, tuple[int, int]]:
    """Count wins and losses against each peer.

    A difference below a thousandth of the best peer's gain is a tie.
    """
    counts: dict[str, tuple[int, int]] = {}
    for row in rows.values():
        values = normalised_scores(row)
        for peer in PEERS:
            if contender in values and peer in values:
                wins, losses = counts.get(peer, (0, 0))
                difference = values[contender] - values[peer]
                counts[peer] = (wins + (difference > 1e-3), losses + (difference < -1e-3))
    return counts


def standardised_claim_error(result: Json) -> float | None:
    """Claimed minus test score, in standard errors of both; positive is optimistic. None without a claim."""
    if not _has_score(result) or result.get("claim") is None:
        return None
    low, high = result.get("claim_low"), result.get("claim_high")
    claim_standard_error = (high - low) / (2 * 1.96) if low is not None and high is not None else 0.0
    standard_error = math.hypot(claim_standard_error, result["error"])
    sign = 1 if GREATER_IS_BETTER[result["metric"]] else -1
    return float(sign * (result["claim"] - result["score"]) / max(standard_error, _MIN_STANDARD_ERROR))


def is_claim_consistent(result: Json) -> bool | None:
    """Return true if the claim is within two standard errors of the test score; None without a claim."""
    claim_error = standardised_claim_error(result)
    return None if claim_error is None else abs(claim_error) <= 2


def budget_overrun(result: Json) -> float | None:
    """Share of the budget by which fitting exceeded it; negative if time was left."""
    if not _has_score(result) or not result["budget_s"] or result.get("fit_s") is None:
        return None
    return float(result["fit_s"] / result["budget_s"] - 1)


def _has_score(result: Json | None) -> bool:
    return result is not None and result.get("score") is not None


def _gain(result: Json, naive: Json) -> float:
    if not _has_score(result):
        return 0.0
    sign = 1 if GREATER_IS_BETTER[naive["metric"]] else -1
    return float(sign * (result["score"] - naive["score"]))
