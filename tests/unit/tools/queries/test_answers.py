"""Figures that an answer states: each is of a recorded result."""

from app.recorded_call import RecordedCall
from app.tools.queries.answers import find_unknown_figures

ROWS = {"columns": [{"name": "mean_fare"}], "rows": [[32.2], [28.5]], "row_count": 2}
CALL = RecordedCall(4, "answering", "tool:0.0", "answer_by_sql", "data_analyst", {}, ROWS)


def test_stated_zeros_and_ones_need_a_result_and_truth_values_do_not() -> None:
    stated = {"fare": 32.2, "winners": 0, "best_place": 1.0, "is_higher": True}
    unknown = find_unknown_figures([CALL], ["mean fare"], "", stated)
    assert [figure.text for figure in unknown] == ["0", "1.0"]
