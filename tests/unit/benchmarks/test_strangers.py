"""The suite of strangers: which tables it may use, which tasks are kept aside, and how a task is judged."""

import hashlib
from typing import Any

import numpy as np
import pytest
from benchmarks.quality.strangers.halves import KEPT_ASIDE, PEER_TASKS, kept_aside, peer_tasks
from benchmarks.quality.strangers.outcomes import (
    HalfMean,
    Outcome,
    is_tuned_to_tables,
    is_worth_running,
    judge_outcome,
    summarise,
)
from benchmarks.quality.strangers.ownership import (
    BURNT,
    IndexEntry,
    NotUsable,
    check_other_package,
    check_usable,
    in_usable_half,
)
from benchmarks.quality.strangers.page import write_page
from benchmarks.quality.strangers.tasks.registry import TASKS

MIN_TASKS = 60
"""Tasks that the suite has at least, so that the means of its halves can be told apart."""


def name_in_half(usable: bool, start: str = "table") -> str:
    """An item of package `p` in one half."""
    return next(
        f"{start}{number}"
        for number in range(1000)
        if (int(hashlib.sha256(f"p/{start}{number}".encode()).hexdigest(), 16) % 2 == 0) == usable
    )


OURS, THEIRS = name_in_half(True), name_in_half(False)


def test_every_table_of_the_suite_lies_in_the_usable_half_and_is_not_burnt() -> None:
    keys = {task.source for task in TASKS.values() if "/" in task.source}
    assert len(keys) >= 50
    assert all(in_usable_half(key) for key in keys)
    assert not keys & BURNT


def test_no_table_of_the_older_suite_is_among_the_strangers() -> None:
    assert {"modeldata/lending_club", "sampleSelection/nlswork", "survival/flchain"} <= BURNT


def test_the_suite_has_enough_tasks_of_each_way_to_choose_test_rows() -> None:
    cuts = [task.cut.kind for task in TASKS.values()]
    assert len(cuts) >= MIN_TASKS + KEPT_ASIDE
    assert all(cuts.count(kind) >= 15 for kind in ("random", "new groups", "latest"))
    assert {task.kind for task in TASKS.values()} == {"binary", "multiclass", "regression"}


def test_the_crew_is_not_told_how_test_rows_are_chosen() -> None:
    for task in TASKS.values():
        words = set(task.goal.lower().replace(",", " ").replace(".", " ").split())
        assert not words & {"future", "coming", "later", "latest", "unseen", "forecast", "groups"}, task.name


def test_a_table_of_the_other_half_is_refused() -> None:
    with pytest.raises(NotUsable, match="other half"):
        check_usable(f"p/{THEIRS}", [IndexEntry("p", THEIRS, "A title", 10)])


@pytest.mark.parametrize(
    ("namesake", "reason"),
    [
        (IndexEntry("p", THEIRS, "Wages of Men", 10), "title"),
        (IndexEntry("p", THEIRS, "Another", 4_321), "number of rows"),
        (IndexEntry("p", f"{THEIRS} ({OURS.upper()})", "Another", 10), "name"),
    ],
)
def test_a_table_with_a_namesake_in_the_other_half_is_refused(namesake: IndexEntry, reason: str) -> None:
    entry = IndexEntry("p", OURS, "Wages of men.", 4_321)
    check_usable(entry.key, [entry])
    with pytest.raises(NotUsable, match=reason):
        check_usable(entry.key, [entry, namesake])


def test_a_table_of_another_package_is_refused_with_a_namesake_only() -> None:
    index = [IndexEntry("p", THEIRS, "A title", 4_321)]
    check_other_package("orders", 4_000, index)
    for name, rows in ((THEIRS.upper(), 0), ("orders", 4_321)):
        with pytest.raises(NotUsable):
            check_other_package(name, rows, index)


def test_tasks_are_kept_aside_by_their_names_alone() -> None:
    names = list(TASKS)
    assert kept_aside(names) == kept_aside(reversed(names))
    assert len(kept_aside(names)) == KEPT_ASIDE
    assert len(peer_tasks(names)) == PEER_TASKS


def scored(score: float, **more: Any) -> dict[str, Any]:
    draws = (score + np.random.default_rng(0).normal(0, 0.01, 200)).tolist()
    return {"score": score, "error": 0.01, "draws": draws, "metric": "rmse", **more}


RANDOM = {"cut": "random", "by": None, "metric": "rmse"}
ENTITIES = {"cut": "new groups", "by": "person", "metric": "rmse"}


def test_a_task_that_no_peer_can_learn_is_dropped() -> None:
    other_draws = np.random.default_rng(1).normal(0.99, 0.01, 200).tolist()
    unlearnt = {"naive": scored(1.0), "skrub": {**scored(0.99), "draws": other_draws}}
    assert is_worth_running({"naive": scored(1.0), "skrub": scored(0.5)}, ("skrub",))
    assert not is_worth_running(unlearnt, ("skrub",))


def test_a_normalised_score_is_one_for_the_reference_and_is_cut() -> None:
    row = {"naive": scored(1.0), "skrub": scored(0.5), "labcrew": scored(0.45)}
    outcome = judge_outcome("t", RANDOM, row, ("skrub",))
    assert outcome is not None
    assert outcome.score == pytest.approx(1.1)
    assert outcome.lead_error == pytest.approx(0, abs=1e-9)
    row["labcrew"] = scored(9.0)
    outcome = judge_outcome("t", RANDOM, row, ("skrub",))
    assert outcome is not None
    assert outcome.score == -1.0
    assert outcome.is_below


def test_a_condition_counts_as_the_claim_only_if_it_names_the_tasks_own_column() -> None:
    claim = {"claim": 0.2, "claim_low": 0.18, "claim_high": 0.22}
    condition = {"kind": "entities", "column": "person", "chosen": "holds", "otherwise_score": 0.5}
    row = {"naive": scored(1.0), "skrub": scored(0.5)}
    for column, held in (("person", True), ("shop", False)):
        ours = scored(0.5, **claim, assumptions=[{**condition, "column": column}])
        outcome = judge_outcome("t", ENTITIES, {**row, "labcrew": ours}, ("skrub",))
        assert outcome is not None
        assert outcome.named is held
        assert outcome.surprise is not None
        assert (abs(outcome.surprise) <= 2) is held


def judged_claim(**ours: Any) -> Outcome:
    row = {"naive": scored(1.0), "skrub": scored(0.5), "labcrew": scored(0.5, **ours)}
    outcome = judge_outcome("t", RANDOM, row, ("skrub",))
    assert outcome is not None
    return outcome


@pytest.mark.parametrize(("half_width", "is_narrow"), [(0.02, True), (0.06, False)])
def test_the_interval_of_a_claim_is_held_against_the_bootstrap_of_the_test_rows(
    half_width: float, is_narrow: bool
) -> None:
    bounds = {"claim": 0.5, "claim_low": 0.5 - half_width, "claim_high": 0.5 + half_width}
    outcome = judged_claim(**bounds)
    # Test scores have a standard error of 0.01, so their 95% interval is about 0.039 wide.
    assert outcome.width_ratio == pytest.approx(half_width / 0.0196, rel=0.2)
    half = summarise([outcome])
    assert half is not None
    assert (half.widths, half.narrow) == (1, int(is_narrow))
    assert judged_claim(claim=0.5).width_ratio is None


def test_a_column_left_out_without_a_figure_is_listed() -> None:
    figures = {"holds_score": 0.4, "otherwise_score": 0.5}
    assumptions = [
        {"kind": "column", "column": "grade", "columns": ["grade", "subgrade"], **figures},
        {"kind": "column", "column": "code", "columns": ["code"], **figures, "otherwise_score": None},
    ]
    outcome = judged_claim(left_out=["grade", "subgrade", "code", "note"], assumptions=assumptions)
    assert outcome.unexplained == ("code", "note")
    complete = judged_claim(left_out=["grade"], assumptions=assumptions)
    half = summarise([outcome, complete, judged_claim()])
    assert half is not None
    # The third result line is from before columns that were left out were stored.
    assert (half.listed, half.explained) == (2, 1)


def test_the_expected_score_of_the_delivered_model_is_the_claim_of_the_other_side() -> None:
    expected = {"value": 0.5, "low": 0.45, "high": 0.55}
    condition = {"kind": "entities", "column": "person", "chosen": "holds", "otherwise_score": 0.8}
    surprises = []
    for extra in ({}, {"expected": expected}):
        ours = scored(0.5, claim=0.2, claim_low=0.18, claim_high=0.22, assumptions=[{**condition, **extra}])
        row = {"naive": scored(1.0), "skrub": scored(0.5), "labcrew": ours}
        outcome = judge_outcome("t", ENTITIES, row, ("skrub",))
        assert outcome is not None
        surprises.append(outcome.surprise)
    assert abs(surprises[0] or 0) > 4
    assert surprises[1] == pytest.approx(0)


def test_halves_differ_only_beyond_their_errors() -> None:
    tuned = HalfMean(40, 1.05, 0.01, 40, 38, 0, 2)
    assert is_tuned_to_tables(tuned, HalfMean(20, 0.90, 0.03, 20, 18, 0, 2))
    assert not is_tuned_to_tables(tuned, HalfMean(20, 1.01, 0.03, 20, 18, 0, 2))
    assert summarise([]) is None


def test_the_page_names_no_task_that_is_kept_aside() -> None:
    names = list(TASKS)
    row = {"naive": scored(1.0), "skrub": scored(0.5), "labcrew": scored(0.45)}
    facts = dict.fromkeys(names, RANDOM)
    page = write_page(dict.fromkeys(names, row), facts, 60, names)
    assert not [name for name in kept_aside(names) if f"| {name} |" in page]
    assert "kept aside, against plain boosting | 20 | 1.100" in page
    assert "| 0 of 0 |" in page
