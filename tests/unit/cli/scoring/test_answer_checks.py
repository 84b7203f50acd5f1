from typing import Any

import pytest

from app.cli.api_client.responses import SessionError, SessionResult
from app.cli.scoring.answer_checks import SessionOutcome, find_misses
from app.cli.scoring.suite import Expected


def done(**result: Any) -> SessionOutcome:
    return SessionOutcome("completed", SessionResult(**result))


def rows(*found: list[Any]) -> SessionOutcome:
    return done(answer={"rows": [*found]})


def plan_rows(measures: dict[str, str], *cells: list[Any]) -> SessionOutcome:
    """An answer by a plan, which tells the measure of each column that it computed."""
    columns = [{"name": name, "type": "number"} for name in measures]
    return done(answer={"columns": columns, "rows": [*cells], "measures": measures})


SHARE = {"share": "share", "rows that meet it": "count"}
GROUPED_SHARE = {"kind": "key", **SHARE}
NAMED = {"name": "mean", "type": "number"}
ASKED = SessionOutcome("asked", questions=("How is the question meant? Nothing is known of 'salary'.",))
FAILED = SessionOutcome("failed", error=SessionError(code="single_class", detail="Only one class."))
SCORED = done(metrics={"rmse": {"value": 2.0}}, problem={"target": "y", "kind": "regression"})


@pytest.mark.parametrize(
    ("expected", "outcome", "right"),
    [
        ({"cells": {"mean": 2.5}}, done(answer={"values": {"mean": {"value": 2.5}}}), True),
        ({"cells": {"mean": 2.5}}, done(answer={"values": {"mean": {"value": 2.6}}}), False),
        ({"cells": {"mean": 2.5}}, done(answer={"columns": [NAMED], "rows": [[2.5]]}), True),
        ({"cells": {"mean": 2.5}}, rows([2.5], [2.5]), False),
        ({"text": "@mean[2.50]"}, done(headline="It is @mean[2.50]."), True),
        ({"text": "@mean[2.50]"}, done(headline="It is @mean[2.5]."), False),
        ({"value": 3}, rows([3]), True),
        ({"value": 3}, rows([3.1]), False),
        ({"value": 3, "abs": 0.2}, rows([3.1]), True),
        ({"value": 100, "rel": 0.01}, rows([100.9]), True),
        ({"value": 100, "rel": 0.01}, rows([101.1]), False),
        ({"value": 3}, rows([None]), False),
        ({"value": 1}, rows([True]), False),
        ({"value": "north"}, rows(["North", 12.5]), True),
        ({"value": 12.5}, rows(["North", 12.5]), True),
        ({"value": "2024-03-01"}, rows(["2024-03-01T00:00:00"]), True),
        ({"value": 3}, rows([3], [3]), False),
        ({"value": 3}, rows(), False),
        ({"values": ["a", "b"]}, rows(["b", 1], ["a", 9]), True),
        ({"values": ["a", "b"]}, rows(["a"], ["b"], ["c"]), False),
        ({"values": ["a", "b"]}, rows(["a"]), False),
        ({"table": {"a": 1.0}}, rows(["a", 1.0], [None, 7.0]), True),
        ({"table": {"a": 1.0}}, rows(["a", 1.0], ["b", 7.0]), False),
        ({"table": {"a / x": 1.0}}, rows(["a", "x", 1.0]), True),
        ({"value": 0.2}, plan_rows(SHARE, [0.2, 7]), True),
        ({"value": 7}, plan_rows(SHARE, [0.2, 7]), False),
        ({"value": 20}, plan_rows(SHARE, [0.2, 7]), True),
        ({"value": 20}, plan_rows({"mean": "figure"}, [0.2]), False),
        ({"table": {"a": 0.2}}, plan_rows(GROUPED_SHARE, ["a", 0.2, 7]), True),
        ({"table": {"a": 7}}, plan_rows(GROUPED_SHARE, ["a", 0.2, 7]), False),
        ({"metric": {"name": "rmse", "at_most": 2}}, SCORED, True),
        ({"metric": {"name": "rmse", "at_most": 1.9}}, SCORED, False),
        ({"metric": {"name": "rmse", "at_least": 2.1}}, SCORED, False),
        ({"metric": {"name": "r2", "at_least": 0}}, SCORED, False),
        ({"problem": {"target": "y"}}, SCORED, True),
        ({"problem": {"target": "y", "kind": "classification"}}, SCORED, False),
        ({"asks": "SALARY"}, ASKED, True),
        ({"asks": "fare"}, ASKED, False),
        ({"asks": "salary"}, rows([3]), False),
        ({"asks": "salary", "value": 3}, ASKED, False),
        (
            {"asks": "salary", "value": 3},
            SessionOutcome("completed", rows([3]).result, questions=ASKED.questions),
            True,
        ),
        ({"refuses": "single_class"}, FAILED, True),
        ({"refuses": "one class"}, FAILED, True),
        ({"refuses": "too little"}, FAILED, False),
        ({"refuses": "single_class"}, rows([3]), False),
        ({"value": 3}, FAILED, False),
        ({"value": 3}, ASKED, False),
    ],
)
def test_what_came_out_is_right_only_when_it_is_what_was_expected(expected, outcome, right):
    assert (not find_misses(Expected(**expected), outcome)) is right


def test_a_miss_says_what_came_instead():
    assert find_misses(Expected(value=3), rows([4])) == ["4, not 3"]
    assert find_misses(Expected(value=3), FAILED) == ["it ended failed: Only one class."]
