"""The suite of strangers: eligible tables, the choice of held-out tasks, and the outcome of a task."""

import hashlib
from typing import Any

import numpy as np
import pytest
from benchmarks.quality.strangers.eligibility import (
    TUNING_TABLES,
    IndexEntry,
    IneligibleTable,
    check_eligible,
    check_other_package,
    is_in_eligible_half,
)
from benchmarks.quality.strangers.held_out import HELD_OUT_COUNT, PEER_TASK_COUNT, held_out_tasks, peer_tasks
from benchmarks.quality.strangers.outcomes import (
    Outcome,
    SubsetSummary,
    compare_with_peers,
    is_learnable,
    is_overfitted,
    summarise,
)
from benchmarks.quality.strangers.results_page import render_results_page
from benchmarks.quality.strangers.tasks.registry import TASKS

MIN_TASKS = 60
"""Tasks that the suite has at least, so that the means of its halves can be told apart."""


def name_in_half(eligible: bool, start: str = "table") -> str:
    """An item of package `p` in one half."""
    return next(
        f"{start}{number}"
        for number in range(1000)
        if (int(hashlib.sha256(f"p/{start}{number}".encode()).hexdigest(), 16) % 2 == 0) == eligible
    )


ELIGIBLE, INELIGIBLE = name_in_half(True), name_in_half(False)


def test_every_table_of_the_suite_lies_in_the_eligible_half_and_was_not_tuned_on() -> None:
    keys = {task.source for task in TASKS.values() if "/" in task.source}
    assert len(keys) >= 50
    assert all(is_in_eligible_half(key) for key in keys)
    assert not keys & TUNING_TABLES


def test_no_table_of_the_older_suite_is_among_the_strangers() -> None:
    assert {"modeldata/lending_club", "sampleSelection/nlswork", "survival/flchain"} <= TUNING_TABLES


def test_the_suite_has_enough_tasks_of_each_way_to_choose_test_rows() -> None:
    splits = [task.split.kind for task in TASKS.values()]
    assert len(splits) >= MIN_TASKS + HELD_OUT_COUNT
    assert all(splits.count(kind) >= 15 for kind in ("random", "new groups", "latest"))
    assert {task.kind for task in TASKS.values()} == {"binary", "multiclass", "regression"}


def test_the_crew_is_not_told_how_test_rows_are_chosen() -> None:
    for task in TASKS.values():
        words = set(task.goal.lower().replace(",", " ").replace(".", " ").split())
        assert not words & {"future", "coming", "later", "latest", "unseen", "forecast", "groups"}, task.name


def test_a_table_of_the_other_half_is_refused() -> None:
    with pytest.raises(IneligibleTable, match="other half"):
        check_eligible(f"p/{INELIGIBLE}", [IndexEntry("p", INELIGIBLE, "A title", 10)])


@pytest.mark.parametrize(
    ("namesake", "reason"),
    [
        (IndexEntry("p", INELIGIBLE, "Wages of Men", 10), "title"),
        (IndexEntry("p", INELIGIBLE, "Another", 4_321), "number of rows"),
        (IndexEntry("p", f"{INELIGIBLE} ({ELIGIBLE.upper()})", "Another", 10), "name"),
    ],
)
def test_a_table_with_a_namesake_in_the_other_half_is_refused(namesake: IndexEntry, reason: str) -> None:
    entry = IndexEntry("p", ELIGIBLE, "Wages of men.", 4_321)
    check_eligible(entry.key, [entry])
    with pytest.raises(IneligibleTable, match=reason):
        check_eligible(entry.key, [entry, namesake])


def test_a_table_of_another_package_is_refused_with_a_namesake_only() -> None:
    index = [IndexEntry("p", INELIGIBLE, "A title", 4_321)]
    check_other_package("orders", 4_000, index)
    for name, rows in ((INELIGIBLE.upper(), 0), ("orders", 4_321)):
        with pytest.raises(IneligibleTable):
            check_other_package(name, rows, index)


def test_tasks_are_held_out_by_their_names_alone() -> None:
    names = list(TASKS)
    assert held_out_tasks(names) == held_out_tasks(reversed(names))
    assert len(held_out_tasks(names)) == HELD_OUT_COUNT
    assert len(peer_tasks(names)) == PEER_TASK_COUNT


def scored(score: float, **more: Any) -> dict[str, Any]:
    draws = (score + np.random.default_rng(0).normal(0, 0.01, 200)).tolist()
    return {"score": score, "error": 0.01, "draws": draws, "metric": "rmse", **more}


RANDOM = {"cut": "random", "by": None, "metric": "rmse"}
ENTITIES = {"cut": "new groups", "by": "person", "metric": "rmse"}


def test_a_task_that_no_peer_can_learn_is_dropped() -> None:
    other_draws = np.random.default_rng(1).normal(0.99, 0.01, 200).tolist()
    not_learnable = {"naive": scored(1.0), "skrub": {**scored(0.99), "draws": other_draws}}
    assert is_learnable({"naive": scored(1.0), "skrub": scored(0.5)}, ("skrub",))
    assert not is_learnable(not_learnable, ("skrub",))


def test_a_normalised_score_is_one_for_the_reference_and_is_cut() -> None:
    row = {"naive": scored(1.0), "skrub": scored(0.5), "labcrew": scored(0.45)}
    outcome = compare_with_peers("t", RANDOM, row, ("skrub",))
    assert outcome is not None
    assert outcome.score == pytest.approx(1.1)
    assert outcome.difference_error == pytest.approx(0, abs=1e-9)
    row["labcrew"] = scored(9.0)
    outcome = compare_with_peers("t", RANDOM, row, ("skrub",))
    assert outcome is not None
    assert outcome.score == -1.0
    assert outcome.is_worse


def test_a_condition_counts_as_the_claim_only_if_it_names_the_tasks_own_column() -> None:
    claim = {"claim": 0.2, "claim_low": 0.18, "claim_high": 0.22}
    condition = {"kind": "entities", "column": "person", "chosen": "holds", "otherwise_score": 0.5}
    row = {"naive": scored(1.0), "skrub": scored(0.5)}
    for column, is_consistent in (("person", True), ("shop", False)):
        labcrew = scored(0.5, **claim, assumptions=[{**condition, "column": column}])
        outcome = compare_with_peers("t", ENTITIES, {**row, "labcrew": labcrew}, ("skrub",))
        assert outcome is not None
        assert outcome.names_split is is_consistent
        assert outcome.claim_error is not None
        assert (abs(outcome.claim_error) <= 2) is is_consistent


def outcome_of_claim(**labcrew: Any) -> Outcome:
    row = {"naive": scored(1.0), "skrub": scored(0.5), "labcrew": scored(0.5, **labcrew)}
    outcome = compare_with_peers("t", RANDOM, row, ("skrub",))
    assert outcome is not None
    return outcome


@pytest.mark.parametrize(("half_width", "is_narrow"), [(0.02, True), (0.06, False)])
def test_the_interval_of_a_claim_is_held_against_the_bootstrap_of_the_test_rows(
    half_width: float, is_narrow: bool
) -> None:
    bounds = {"claim": 0.5, "claim_low": 0.5 - half_width, "claim_high": 0.5 + half_width}
    outcome = outcome_of_claim(**bounds)
    # Test scores have a standard error of 0.01, so their 95% interval is about 0.039 wide.
    assert outcome.width_ratio == pytest.approx(half_width / 0.0196, rel=0.2)
    summary = summarise([outcome])
    assert summary is not None
    assert (summary.widths, summary.narrow) == (1, int(is_narrow))
    assert outcome_of_claim(claim=0.5).width_ratio is None


def test_a_column_left_out_without_a_figure_is_listed() -> None:
    figures = {"holds_score": 0.4, "otherwise_score": 0.5}
    assumptions = [
        {"kind": "column", "column": "grade", "columns": ["grade", "subgrade"], **figures},
        {"kind": "column", "column": "code", "columns": ["code"], **figures, "otherwise_score": None},
    ]
    outcome = outcome_of_claim(left_out=["grade", "subgrade", "code", "note"], assumptions=assumptions)
    assert outcome.unmeasured == ("code", "note")
    complete = outcome_of_claim(left_out=["grade"], assumptions=assumptions)
    summary = summarise([outcome, complete, outcome_of_claim()])
    assert summary is not None
    # The third result line is from before columns that were left out were stored.
    assert (summary.with_exclusions, summary.fully_measured) == (2, 1)


def test_the_expected_score_of_the_delivered_model_is_the_claim_of_the_other_side() -> None:
    expected = {"value": 0.5, "low": 0.45, "high": 0.55}
    condition = {"kind": "entities", "column": "person", "chosen": "holds", "otherwise_score": 0.8}
    claim_errors = []
    for extra in ({}, {"expected": expected}):
        labcrew = scored(0.5, claim=0.2, claim_low=0.18, claim_high=0.22, assumptions=[{**condition, **extra}])
        row = {"naive": scored(1.0), "skrub": scored(0.5), "labcrew": labcrew}
        outcome = compare_with_peers("t", ENTITIES, row, ("skrub",))
        assert outcome is not None
        claim_errors.append(outcome.claim_error)
    assert abs(claim_errors[0] or 0) > 4
    assert claim_errors[1] == pytest.approx(0)


def test_subsets_differ_only_beyond_their_errors() -> None:
    tuned = SubsetSummary(40, 1.05, 0.01, 40, 38, 0, 2)
    assert is_overfitted(tuned, SubsetSummary(20, 0.90, 0.03, 20, 18, 0, 2))
    assert not is_overfitted(tuned, SubsetSummary(20, 1.01, 0.03, 20, 18, 0, 2))
    assert summarise([]) is None


def test_the_page_names_no_held_out_task() -> None:
    names = list(TASKS)
    row = {"naive": scored(1.0), "skrub": scored(0.5), "labcrew": scored(0.45)}
    facts = dict.fromkeys(names, RANDOM)
    page = render_results_page(dict.fromkeys(names, row), facts, 60, names)
    assert not [name for name in held_out_tasks(names) if f"| {name} |" in page]
    assert "held out, against plain boosting | 20 | 1.100" in page
    assert "| 0 of 0 |" in page
