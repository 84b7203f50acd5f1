from typing import Any

import pytest

from app.errors import ToolRefused
from app.tools.queries.program_answer import MAX_ROWS, make_answer


@pytest.mark.parametrize(
    ("result", "columns", "rows"),
    [
        (3.5, [("value", "number")], [[3.5]]),
        ("north", [("value", "text")], [["north"]]),
        ([1, 2], [("value", "integer")], [[1], [2]]),
        ({"mean": 1.5, "n": 4}, [("mean", "number"), ("n", "integer")], [[1.5, 4]]),
        ({"a": [1, 2], "b": ["x", "y"]}, [("a", "integer"), ("b", "text")], [[1, "x"], [2, "y"]]),
        (
            {"north": {"mean": 1.5, "n": 4}, "south": {"mean": 2.5, "n": 3}},
            [("name", "text"), ("mean", "number"), ("n", "integer")],
            [["north", 1.5, 4], ["south", 2.5, 3]],
        ),
        (
            {"fit": {"slope": 0.5, "ci": [0.1, 0.9]}, "n": 3},
            [("name", "text"), ("value", "number")],
            [["fit.slope", 0.5], ["fit.ci.0", 0.1], ["fit.ci.1", 0.9], ["n", 3]],
        ),
        (
            {"columns": ["g", "m"], "rows": [["a", 1.0]], "row_count": 1},
            [("g", "text"), ("m", "number")],
            [["a", 1.0]],
        ),
        ([{"a": "x", "b": 1}, {"a": "y"}], [("a", "text"), ("b", "integer")], [["x", 1], ["y", None]]),
    ],
)
def test_a_result_of_a_program_becomes_a_table(result, columns, rows):
    told = make_answer(result)
    assert [(each["name"], each["type"]) for each in told["columns"]] == columns
    assert (told["rows"], told["row_count"], told["rows_used"]) == (rows, len(rows), None)


@pytest.mark.parametrize("result", [None, [], {}, [{"a": {"b": 1}}], [[1], [2]]])
def test_a_result_that_is_not_tabular_is_refused_with_the_accepted_types(result: Any):
    with pytest.raises(ToolRefused, match="Set `result` to"):
        make_answer(result)


def test_a_long_list_is_truncated_and_counted_in_full():
    told = make_answer([*range(MAX_ROWS + 1)])
    assert (len(told["rows"]), told["row_count"], told["truncated"]) == (MAX_ROWS, MAX_ROWS + 1, True)
