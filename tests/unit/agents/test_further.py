"""What is worth fitting next, by weights, folds and seconds."""

from typing import Any

import pytest

from app.agents.fit_summaries import merge_fits
from app.agents.model_evaluator.next_fits import (
    FoldRequest,
    TuningState,
    VariantRequest,
    estimate_makespan_s,
    next_round,
)
from app.agents.training_context import preferred_model
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import FitSummary

FOLDS = {"kind": "stratified", "count": 5, "seed": 0}


def fit(name: str, run: list[int], fold_s: float = 1.0, score: float = 0.8, **more: Any) -> FitSummary:
    scores = [score if fold in run else None for fold in range(5)]
    facts = {
        "name": name,
        "estimator": name,
        "metric": "roc_auc",
        "score": score,
        "greater_is_better": True,
        "run": run,
        "fit_s": fold_s * len(run),
        "fold_scores": scores,
        "folds": FOLDS,
        "limited": None,
        **more,
    }
    return parse_facts(FitSummary, facts)


def standing(
    fits: list[FitSummary], seconds: float | None, references: list[FitSummary] | None = None, **more: Any
) -> TuningState:
    """The state of these fits; the references, baseline alone if None, have every fold of the others."""
    if references is None:
        references = [fit("baseline", sorted({fold for each in fits for fold in each.fitted_folds}), 0.1, 0.5)]
    settings = {"weights": {"A": 0.6, "B": 0.38, "C": 0.02}, "fold_order": range(5), "fit_slots": 2, **more}
    return TuningState([*references, *fits], time_left_s=seconds, **settings)


def folds_of(models: list[str], folds: list[int]) -> FoldRequest:
    """A request for folds of these models and of the baseline, which gets those that any other gets."""
    return FoldRequest([*models, "baseline"], folds)


FIRST = [fit("A", [0]), fit("B", [0]), fit("C", [0])]


@pytest.mark.parametrize(("seconds", "folds"), [(6.0, [1, 2, 3, 4]), (3.4, [1, 2, 3]), (1.2, [1])])
def test_candidates_with_weight_get_as_many_folds_as_there_is_time_for(
    seconds: float, folds: list[int]
) -> None:
    assert next_round(standing(FIRST, seconds)) == folds_of(["A", "B"], folds)


@pytest.mark.parametrize("seconds", [100.0, None])
def test_where_folds_are_cheap_everyone_gets_them_for_one_fold_says_little(seconds: float | None) -> None:
    assert next_round(standing(FIRST, seconds)) == folds_of(["A", "B", "C"], [1, 2, 3, 4])


def test_the_references_get_every_fold_that_a_candidate_gets() -> None:
    references = [fit("baseline", [0], 0.1, 0.5), fit("PlainBoosting", [0], 0.1)]
    request = next_round(standing(FIRST, 6.0, references))
    assert request == FoldRequest(["A", "B", "baseline", "PlainBoosting"], [1, 2, 3, 4])


def test_a_reference_that_has_all_weight_after_one_fold_does_not_end_the_fits() -> None:
    references = [fit("baseline", [0], 0.1, 0.5), fit("PlainBoosting", [0], 0.1, 0.99)]
    request = next_round(standing(FIRST, 9.0, references, weights={"PlainBoosting": 1.0, "A": 0.0}))
    assert request == FoldRequest(["A", "B", "C", "baseline", "PlainBoosting"], [1, 2, 3, 4])


def test_references_that_a_round_left_out_come_before_variants() -> None:
    every = [0, 1, 2, 3, 4]
    whole = [fit("A", every), fit("B", every)]
    request = next_round(standing(whole, 60.0, [fit("baseline", [0], 0.1, 0.5)]))
    assert request == FoldRequest(["baseline"], [1, 2, 3, 4])


def test_with_time_for_one_more_fit_the_heaviest_gets_it() -> None:
    slow = [fit("A", [0], 1.0), fit("B", [0], 3.0)]
    assert next_round(standing(slow, 1.5)) == folds_of(["A"], [1])


def test_without_time_nothing_is_fitted() -> None:
    assert next_round(standing(FIRST, 0.5)) is None
    assert next_round(standing([fit("A", [0], 30.0), fit("B", [0], 30.0)], 20.0)) is None


def test_in_time_order_folds_are_taken_from_the_latest_back() -> None:
    fits = [fit("A", [4]), fit("B", [4])]
    assert next_round(standing(fits, 2.3, fold_order=[4, 3, 2, 1, 0])) == folds_of(["A", "B"], [3, 2])


def test_in_time_order_what_counts_is_fitted_on_all_rows_before_anything_else() -> None:
    fits = [fit("A", [4], refitted=True), fit("B", [4])]
    order = [4, 3, 2, 1, 0]
    assert next_round(standing(fits, 60.0, fold_order=order, is_time_ordered=True)) == FoldRequest(["B"], [])
    done = [fit("A", [4], refitted=True), fit("B", [4], refitted=True)]
    found = next_round(standing(done, 60.0, fold_order=order, is_time_ordered=True))
    assert found == folds_of(["A", "B"], [3, 2, 1, 0])


def test_a_variant_that_earned_weight_gets_the_folds_that_the_others_have() -> None:
    fits = [fit("A", [0, 1, 2, 3, 4]), fit("B", [0])]
    assert next_round(standing(fits, 60.0)) == folds_of(["A", "B"], [1, 2, 3, 4])


def test_with_every_fold_fitted_variants_are_tried_on_all_folds_as_many_as_can_be_finished() -> None:
    every = [0, 1, 2, 3, 4]
    whole = [fit("A", every), fit("B", every)]
    assert next_round(standing(whole, 60.0)) == VariantRequest(["A", "B"], every, 6)
    assert next_round(standing(whole, 6.0)) == VariantRequest(["A", "B"], every, 2)
    assert next_round(standing(whole, 5.0)) is None


def test_the_search_for_variants_ends_before_it_only_finds_who_was_lucky() -> None:
    crowd = [fit(f"A{place}", [0, 1, 2, 3, 4]) for place in range(24)]
    assert next_round(standing(crowd, 3600.0, weights={"A0": 0.5, "A1": 0.5})) is None


def test_for_one_simple_model_the_two_best_go_on_whatever_they_would_weigh() -> None:
    fits = [fit("A", [0], score=0.7), fit("B", [0], score=0.8), fit("C", [0], score=0.9)]
    found = next_round(standing(fits, 60.0, is_single_model=True, weights={}))
    assert found == folds_of(["C", "B"], [1, 2, 3, 4])


@pytest.mark.parametrize(("hands", "seconds"), [(1, 6.0), (2, 3.0), (3, 3.0)])
def test_jobs_are_shared_out_between_the_hands(hands: int, seconds: float) -> None:
    assert estimate_makespan_s([1.0, 3.0, 2.0], hands) == seconds


@pytest.mark.parametrize(
    ("goal", "preferences", "wish"),
    [
        ("Predict the price.", {}, "ensemble"),
        ("Predict the price with a simple model.", {}, "single"),
        ("Predict it, no ensemble please", {}, "single"),
        ("I need an interpretable model of churn", {}, "interpretable"),
        ("Predict which model of car sells", {}, "ensemble"),
        ("Predict the price with a simple model.", {"model": "ensemble"}, "ensemble"),
    ],
)
def test_a_wish_for_one_model_is_read_from_preferences_and_then_from_the_goal(
    goal: str, preferences: dict[str, str], wish: str
) -> None:
    assert preferred_model(goal, preferences) == wish


def test_parts_of_a_candidate_count_as_one_with_all_their_folds() -> None:
    [a, b] = merge_fits([fit("A", [0], score=0.8), fit("B", [0])], [fit("A", [1, 2], score=0.6)])
    assert (a.run, a.fold_count, a.fit_s) == ([0, 1, 2], 3, 3.0)
    assert a.fold_scores == [0.8, 0.6, 0.6, None, None]
    assert a.score == pytest.approx(2.0 / 3)
    assert b.run == [0]


def test_a_candidate_fitted_on_all_rows_stays_so_whatever_comes_later() -> None:
    fits = merge_fits([fit("A", [4])], [fit("A", [])])
    later = merge_fits(fits, [fit("B", [4]), fit("A", [3])])
    assert [candidate.refitted for candidate in later] == [True, False]
