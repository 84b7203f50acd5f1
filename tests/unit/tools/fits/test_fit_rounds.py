"""Candidates of a round: named, and given their share of the time."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from app.errors import ToolRefused
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.sessions.in_memory import MemoryStep
from app.sessions.step_scope import FitOutcome, SessionFacts
from app.tools.context.tool_context import ToolContext, TrainingContext
from app.tools.fits.fit_rounds import (
    MAX_LATE_ROUND_S,
    MIN_ROUND_S,
    Candidate,
    longest_first,
    make_fit,
    model_artifact,
    name_candidates,
    run_round,
    time_left_s,
    time_shares_s,
)

FOLDS = FoldPlan(SplitKind.RANDOM)
PROBLEM = Problem("y", ProblemKind.CLASSIFICATION, "roc_auc")


def fit_facts(name: str, **more: Any) -> dict[str, Any]:
    """The facts of a finished fit."""
    scores = {"metric": "rmse", "greater_is_better": False, "fold_scores": [], "fit_s": 1.0}
    return {"name": name, "estimator": name, **scores, "folds": FOLDS.to_json(), **more}


def context(until_s: float, fit_slots: int = 1, **preferences: bool) -> ToolContext:
    facts = SessionFacts(UUID(int=1), UUID(int=2), "", preferences, (), 0, datetime.now(UTC))
    settled = TrainingContext(PROBLEM, FOLDS, until_s, fit_slots)
    return ToolContext("model_trainer", MemoryStep(facts), None, None, None, training_context=settled)  # type: ignore[arg-type]


def test_candidates_of_one_estimator_get_unique_names():
    candidates = [
        Candidate(estimator="XGBoost"),
        Candidate(estimator="XGBoost"),
        Candidate(estimator="Ridge", name="XGBoost-2"),
    ]
    assert [name for name, _ in name_candidates(candidates)] == ["XGBoost", "XGBoost-2", "XGBoost-2-2"]


def test_the_fits_of_a_round_share_its_time_between_all_workers():
    four = ["LightGBM", "LightGBMExtra", "LightGBM", "LightGBM"]
    assert time_shares_s(context(30.0, fit_slots=2), 30.0, four) == [15.0] * 4
    assert time_shares_s(context(30.0, fit_slots=8), 30.0, four) == [30.0] * 4


def test_a_family_that_takes_longer_gets_a_larger_share_and_the_baseline_hardly_any():
    naive, quick, slow = time_shares_s(context(30.0), 30.0, ["baseline", "LightGBM", "XGBoost"])
    assert naive < 2 < quick < slow
    assert naive + quick + slow == pytest.approx(30.0)


async def test_the_time_left_is_recorded_once_and_has_a_minimum():
    ctx = context(until_s=30.0)
    first = await time_left_s(ctx)
    assert 25 < first <= 30
    later = replace(ctx, step=replace(ctx.step, started=ctx.step.started - 20))  # type: ignore[type-var]
    assert await time_left_s(later) == first
    assert await time_left_s(context(until_s=0.0)) == MIN_ROUND_S


def test_a_deterministic_session_gives_no_limit_by_the_clock():
    limits = {}
    for deterministic in (False, True):
        ctx = context(10.0, deterministic=deterministic)
        fit = make_fit(ctx, "d", FOLDS, time_shares_s(ctx, 10.0, ["XGBoost"])[0], name="x", estimator="XGBoost")
        limits[deterministic] = fit.params["time_limit_s"]
    assert limits == {False: 10.0, True: None}


def test_several_slots_start_with_the_longest_fits_and_one_slot_keeps_the_given_order():
    limits = {"LightGBM": 3.9, "Network": 10.0, "XGBoost": 5.0, "baseline": 0.2}
    fits = [
        make_fit(context(13.0), "d", FOLDS, limit_s, name=name, estimator=name)
        for name, limit_s in limits.items()
    ]
    assert longest_first(fits, fit_slots=2) == [3, 1, 2, 0]
    assert longest_first(fits, fit_slots=1) == [0, 1, 2, 3]


def test_the_first_part_of_a_candidate_is_a_model_and_later_folds_are_parts():
    files = {
        "model.skops": {"digest": "m", "size_bytes": 1, "media_type": "x"},
        "oof.parquet": {"digest": "o", "size_bytes": 1, "media_type": "x"},
    }
    known: set[str] = set()
    made = [
        model_artifact(FitOutcome("A", "done", fit_facts("A", run=run), files), known)
        for run in ([0], [1, 2], [])
    ]
    assert [(each.kind, each.name) for each in made] == [("model", "A"), ("part", "A[1,2]"), ("part", "A[]")]


class Rounds(MemoryStep):
    """Fits but `quick` ones come from the second round on; how long each round could wait is noted."""

    def __init__(self, session: SessionFacts, quick: tuple[str, ...] = ()) -> None:
        super().__init__(session)
        self.quick = quick
        self.rounds: list[list[str]] = []
        self.waits: list[float] = []

    async def fan_out(self, key, fits, deadline_s):
        self.waits.append(deadline_s)
        self.rounds.append([fit.name for fit in fits])
        return [self.outcome(fit) for fit in fits]

    def outcome(self, fit):
        if len(self.waits) == 1 and fit.name not in self.quick:
            return FitOutcome(fit.name, "left_out")
        files = {
            name: {"digest": name, "size_bytes": 1, "media_type": "x"}
            for name in ("model.skops", "oof.parquet")
        }
        facts = fit_facts(fit.name, score=0.5)
        return FitOutcome(fit.name, "done", facts, files)


class Frames:
    def __init__(self, models: list[str]) -> None:
        self.models = [SimpleNamespace(name=name) for name in models]

    async def artifacts(self, kind):
        return self.models


async def first_or_further_round(models: list[str]) -> tuple[list[float], int]:
    ctx = context(13.0)
    step = Rounds(ctx.session)
    fits = [make_fit(ctx, "d", FOLDS, 2.0, name="Ridge", estimator="Ridge")]
    answered = await run_round(replace(ctx, step=step, frames=Frames(models)), fits, 2.0)
    return step.waits, len(answered.artifacts)


async def test_a_first_round_without_results_is_tried_once_more():
    waits, models = await first_or_further_round([])
    assert waits[1:] == [MAX_LATE_ROUND_S]
    assert models == 1


@pytest.mark.parametrize(
    ("quick", "rounds"),
    [
        (("baseline",), [["baseline", "Ridge", "XGBoost"], ["Ridge", "XGBoost"]]),
        (("Ridge",), [["baseline", "Ridge", "XGBoost"]]),
    ],
)
async def test_a_first_round_with_the_baseline_alone_is_tried_once_more(quick, rounds):
    ctx = context(13.0)
    step = Rounds(ctx.session, quick)
    names = rounds[0]
    fits = [make_fit(ctx, "d", FOLDS, 2.0, name=name, estimator=name) for name in names]
    answered = await run_round(replace(ctx, step=step, frames=Frames([])), fits, 2.0)
    assert step.rounds == rounds
    assert [fit["name"] for fit in answered.value["fits"]] == [
        n for n in names if len(rounds) > 1 or n in quick
    ]


async def test_a_later_round_without_results_is_not_tried_again():
    with pytest.raises(ToolRefused, match="No candidate was fitted"):
        await first_or_further_round(["Ridge"])
