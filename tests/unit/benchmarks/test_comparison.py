from typing import Any

from benchmarks.quality.comparison import (
    budget_overrun,
    is_claim_consistent,
    mean_normalised_scores,
    normalised_scores,
    pairwise_wins_and_losses,
    standardised_claim_error,
)


def result(score: float | None, metric: str = "rmse", **more: Any) -> dict[str, Any]:
    return {"score": score, "error": 0.1, "metric": metric, "budget_s": 60.0, **more}


def row(**scores: float | None) -> dict[str, dict[str, Any]]:
    return {name: result(score) for name, score in scores.items()}


def test_naive_is_zero_and_the_best_peer_one_where_less_error_is_better() -> None:
    assert normalised_scores(row(naive=10.0, skrub=6.0, flaml=8.0, labcrew=5.0)) == {
        "naive": 0.0,
        "skrub": 1.0,
        "flaml": 0.5,
        "labcrew": 1.25,
    }


def test_a_contender_that_failed_is_no_better_than_naive() -> None:
    assert normalised_scores(row(naive=10.0, skrub=6.0, labcrew=None))["labcrew"] == 0.0


def test_a_table_on_which_no_peer_beats_naive_has_no_normalised_scores() -> None:
    assert normalised_scores(row(naive=10.0, skrub=11.0, labcrew=9.0)) == {}


def test_means_and_wins_count_only_tables_where_both_ran() -> None:
    rows = {
        "a": row(naive=10.0, skrub=6.0, labcrew=5.0),
        "b": row(naive=10.0, skrub=6.0, flaml=6.0, labcrew=8.0),
    }
    assert mean_normalised_scores(rows)["labcrew"] == (1.25 + 0.5) / 2
    assert pairwise_wins_and_losses(rows) == {"skrub": (1, 1), "flaml": (0, 1)}


def test_a_claim_is_consistent_within_two_standard_errors_of_claim_and_truth() -> None:
    good = result(0.80, "roc_auc", claim=0.9, claim_low=0.8, claim_high=1.0)
    good["error"] = 0.01
    assert is_claim_consistent(good)
    assert not is_claim_consistent({**good, "claim_low": 0.89, "claim_high": 0.91})


def test_a_claimed_error_below_the_true_one_is_an_error_above_zero() -> None:
    claim_error = standardised_claim_error(result(1.0, claim=0.7))
    assert claim_error is not None
    assert claim_error > 2


def test_an_overrun_is_the_share_beyond_the_budget() -> None:
    assert budget_overrun(result(1.0, fit_s=66.0)) == 66 / 60 - 1
    assert budget_overrun({**result(1.0, fit_s=66.0), "budget_s": 0.0}) is None
