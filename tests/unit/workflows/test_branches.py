"""Tests of values by the conditions of edges."""

import pytest

from app.errors import InvalidInput
from app.workflows.document import EdgeCondition
from app.workflows.runs.branches import holds


@pytest.mark.parametrize(
    ("value", "op", "tested", "expected"),
    [
        (3, ">", 2, True),
        (3, ">=", 3, True),
        (2.5, "<", 2.5, False),
        (-1, "<=", 0, True),
        (3, "=", 3.0, True),
        ("Oslo", "=", "Oslo", True),
        ("Oslo", "!=", "oslo", True),
        (True, "=", True, True),
        (1, "=", True, False),
        (True, "=", 1, False),
        ("3", "=", 3, False),
    ],
)
def test_a_condition_holds(value: object, op: str, tested: object, expected: bool) -> None:
    condition = EdgeCondition.model_validate({"field": "x", "op": op, "value": tested})
    assert holds(condition, value) is expected


@pytest.mark.parametrize("value", ["3", True, [3]])
def test_what_is_no_number_has_no_order(value: object) -> None:
    with pytest.raises(InvalidInput, match="compares numbers"):
        holds(EdgeCondition(field="x", op=">", value=2), value)
