"""Candidates of a round: named, and given their share of the time."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.sessions.memory import MemoryStep
from app.sessions.scope import SessionFacts
from app.tools.context import Study, ToolContext
from app.tools.rounds import Candidate, fit_of, named, share

PROBLEM = {"target": "y"}


def context(time_left_s: float, **preferences: bool) -> ToolContext:
    facts = SessionFacts(UUID(int=1), UUID(int=2), "", preferences, (), 0, datetime.now(UTC))
    settled = Study(PROBLEM, {"kind": "random"}, time_left_s)
    return ToolContext("model_trainer", MemoryStep(facts), None, None, None, settled=settled)  # type: ignore[arg-type]


def test_candidates_of_one_estimator_get_names_of_their_own():
    candidates = [
        Candidate(estimator="XGBoost"),
        Candidate(estimator="XGBoost"),
        Candidate(estimator="Ridge", name="XGBoost-2"),
    ]
    assert [name for name, _ in named(candidates)] == ["XGBoost", "XGBoost-2", "XGBoost-2-2"]


@pytest.mark.parametrize(
    ("estimators", "seconds"),
    [(["baseline", "Ridge"], 30.0), (["XGBoost"], 30.0), (["baseline", *["RandomForest"] * 4], 15.0)],
)
def test_slow_candidates_share_the_time_between_two_hands(estimators, seconds):
    assert share(context(30.0), estimators) == seconds


def test_a_deterministic_session_gives_no_limit_by_the_clock():
    limits = {}
    for deterministic in (False, True):
        ctx = context(10.0, deterministic=deterministic)
        fit = fit_of(ctx, "d", {}, share(ctx, ["XGBoost"]), name="x", estimator="XGBoost")
        limits[deterministic] = fit.params["time_limit_s"]
    assert limits == {False: 10.0, True: None}
