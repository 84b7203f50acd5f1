"""The hold-out is not opened for a model that breaks a requirement of the user."""

from dataclasses import replace
from typing import Any

import pytest

from app.agents.planner.output import Plan
from app.errors import InvalidInput
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.pipeline.requirement_check import allows_fits_by_entity, check_requirements
from app.tools.context.tool_context import TrainingContext

FOLDS = FoldPlan(SplitKind.RANDOM, 5, 0)
PROBLEM = Problem("y", ProblemKind.CLASSIFICATION, "roc_auc", classes=("no", "yes"), exclude=("leak",))
TRAINING = TrainingContext(PROBLEM, FOLDS)
PLAN = Plan(target="y", tables=["t"], exclude=["secret"])


def fitted(**facts: Any) -> CandidateFit:
    schema = [{"name": "x"}]
    common = {"name": "A", "estimator": "LightGBM", "metric": "roc_auc", "folds": FOLDS, "fit_s": 1.0}
    return CandidateFit(**{**common, "schema": schema, **facts})


def test_a_model_that_meets_everything_is_delivered():
    check_requirements(fitted(), PLAN, TRAINING)


@pytest.mark.parametrize(
    ("fit", "plan", "training", "reason"),
    [
        ({"schema": [{"name": "secret"}]}, {}, {}, "It reads secret"),
        ({"schema": [{"name": "leak"}]}, {}, {}, "It reads leak"),
        ({"metric": "f1"}, {}, {}, "chosen by f1 instead of roc_auc"),
        ({}, {}, {"families": ("Ridge",)}, "made of LightGBM, and only Ridge"),
        ({"weights": {"A": 0.5, "B": 0.5}}, {}, {"is_single_model": True}, "blends several"),
        ({}, {"horizon": 3}, {}, "does not predict 3 rows ahead"),
        ({}, {"costs": {"false_alarm": 1, "missed": 2}}, {}, "ignores the costs"),
    ],
)
def test_a_broken_requirement_is_named(fit, plan, training, reason):
    with pytest.raises(InvalidInput) as refused:
        check_requirements(fitted(**fit), PLAN.model_copy(update=plan), replace(TRAINING, **training))
    assert reason in refused.value.detail


@pytest.mark.parametrize(
    ("plan", "training", "is_allowed"),
    [
        ({}, {}, True),
        ({"exclude": ["artist"]}, {}, False),
        ({}, {"families": ("Ridge",)}, False),
        ({}, {"is_single_model": True}, False),
    ],
)
def test_known_entities_get_fits_of_their_own_only_where_the_user_chose_no_models(plan, training, is_allowed):
    grouped = replace(TRAINING, problem=replace(PROBLEM, group_column="artist"), **training)
    assert allows_fits_by_entity(PLAN.model_copy(update=plan), grouped) is is_allowed
