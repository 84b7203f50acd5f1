"""Where a session goes next, and how its time is shared."""

import pytest

from app.agents.budget import budget_of
from app.pipeline.graph import EDGES, NODES
from app.pipeline.routing import after_evaluation


@pytest.mark.parametrize(("tune", "node"), [(True, "hyperparameter_tuning"), (False, "final_evaluation")])
def test_tuning_comes_before_the_hold_out_is_opened(tune, node):
    assert after_evaluation({"verdict": {"tune": tune}}) == node


def test_nothing_but_reporting_follows_the_opened_hold_out():
    after = {end for start, end in EDGES if start == "final_evaluation"}
    assert after == {"reporting"}
    assert {end for start, end in EDGES if start == "reporting"} == {"__end__"}


def test_the_hold_out_is_locked_before_the_analyst_looks():
    order = list(NODES)
    assert order.index("data_retrieval") < order.index("split") < order.index("data_analysis")


def test_time_that_is_spent_is_gone():
    fresh = budget_of({"preferences": {"time_budget_s": 60}})
    later = budget_of({"preferences": {"time_budget_s": 60}, "spent_s": 55.0})
    assert (fresh.for_training_s, fresh.allows_tuning) == (30.0, True)
    assert (later.left_s, later.allows_tuning) == (5.0, False)


def test_a_deterministic_session_does_not_look_at_the_clock():
    state = {"preferences": {"time_budget_s": 60, "deterministic": True}, "spent_s": 55.0}
    assert budget_of(state).left_s == 60.0
