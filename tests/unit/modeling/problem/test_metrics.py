"""The table of metrics: its parts agree, and reports can print it."""

import re
from typing import get_args

from app.modeling.problem.kinds import Outlook, OutlookName, ProblemKind, ProblemKindName
from app.modeling.problem.metrics import METRICS, QUANTILE_LEVELS, metric_names
from app.reporting.claims import STYLES


def test_names_of_kinds_and_outlooks_equal_their_enumerations() -> None:
    assert get_args(ProblemKindName) == tuple(ProblemKind)
    assert get_args(OutlookName) == tuple(Outlook)


def test_every_metric_belongs_to_one_kind_of_problem() -> None:
    names = [name for kind in ProblemKind for name in metric_names(kind)]
    assert sorted(names) == sorted(METRICS)


def test_metrics_have_styles_of_reports_and_meanings_without_numerals() -> None:
    assert {metric.style for metric in METRICS.values()} <= set(STYLES)
    assert not any(re.search(r"\d", metric.meaning) for metric in METRICS.values())


def test_pinball_metrics_are_named_after_their_quantile() -> None:
    assert QUANTILE_LEVELS["pinball_05"] == 0.05
    assert all(float(name.removeprefix("pinball_")) / 100 == level for name, level in QUANTILE_LEVELS.items())
