import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.scoring.score_log import Record, Score, newest_scores
from app.cli.scoring.score_table import accuracy, document
from app.cli.scoring.suite import Suite, read_suite
from app.errors import InvalidInput

SCORE = Score("one", "value", "d", True, [], "completed", 7, 0.5, 0, 1.5, "s", ["offline"])


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    item = {"id": "one", "goal": "How many?", "tables": [], "expect": {"value": 1}}
    (tmp_path / "suite.jsonl").write_text(json.dumps(item))
    return read_suite(str(tmp_path))


def test_what_was_kept_is_read_again_and_a_line_cut_by_a_crash_is_not_there(tmp_path):
    record = Record(tmp_path / "deep" / "scores.jsonl")
    record.append(SCORE)
    with record.path.open("a") as file:
        file.write('{"item": "tw')
    assert record.scores() == [SCORE]
    record.drop_partial_line()
    record.append(replace(SCORE, item="two"))
    assert [score.item for score in record.scores()] == ["one", "two"]


def test_a_file_of_something_else_is_refused_by_its_line(tmp_path):
    record = Record(tmp_path / "scores.jsonl")
    record.path.write_text('{"no": "score"}\n{"nor": "this"}\n')
    with pytest.raises(InvalidInput, match="line 1 is no score"):
        record.scores()


def test_a_score_counts_only_for_the_item_that_it_was_given_to(suite):
    [item] = suite.items
    own = replace(SCORE, digest=suite.digest(item))
    assert newest_scores(suite, suite.items, [SCORE]) == {}
    assert newest_scores(suite, suite.items, [own, replace(own, right=False)]) == {
        "one": replace(own, right=False)
    }


def test_sums_are_of_all_items():
    scores = [SCORE, replace(SCORE, item="two", right=False, misses=["4, not 3"])]
    assert accuracy(scores) == 0.5
    told = document("basics", scores)
    assert (told["right"], told["items"], told["tokens"], told["cost_usd"]) == (1, 2, 14, 1.0)
