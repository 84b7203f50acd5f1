"""The request that `labcrew fork` makes of its options."""

from dataclasses import dataclass

import pytest

from app.cli.api_client.fork_request import ForkOptions, find_point
from app.errors import InvalidInput
from app.sessions.forks.schemas import ForkCreate


@dataclass(frozen=True)
class Step:
    step: int
    node: str


NODES = ("planning", "data_retrieval", "split", "data_analysis", "model_training", "model_evaluation")
STEPS = [Step(number, node) for number, node in enumerate((*NODES, "model_evaluation"), start=1)]


@pytest.mark.parametrize(
    ("at", "step"),
    [("training", 5), ("Data analysis", 4), ("model-evaluation", 7), ("evaluation", 7), (" 3 ", 3)],
)
def test_a_stage_is_its_last_step(at: str, step: int) -> None:
    assert find_point(at, STEPS) == {"step": step}


@pytest.mark.parametrize(
    ("at", "problem"),
    [
        (None, "Name the point"),
        ("data", "may be data retrieval or data analysis"),
        ("tuning", "No step is called"),
    ],
)
def test_a_point_that_is_none_lists_those_that_there_are(at: str | None, problem: str) -> None:
    with pytest.raises(InvalidInput, match=f"{problem}.*1 planning, 2 data retrieval.*--at training"):
        find_point(at, STEPS)


def test_a_number_is_a_step_and_a_key_begins_with_its_step() -> None:
    assert ForkOptions("4").make_request() == {"at": {"step": 4}, "change": {}}
    answered = ForkOptions("1.ask:1", answer="species").make_request()
    assert answered == {"at": {"question": "1.ask:1"}, "change": {"answer": "species"}}
    with pytest.raises(InvalidInput, match="--at"):
        ForkOptions(" ").make_request()


def test_options_become_settings_and_preferences_that_the_service_takes() -> None:
    options = ForkOptions("4", ["tenure"], "f1", ["Ridge"], 20.0, "Leave out the fee.")
    request = options.make_request()
    assert request["change"] == {
        "settings": {"leave_out": ["tenure"], "metric": "f1", "families": ["Ridge"]},
        "preferences": {"time_budget_s": 20.0},
        "note": "Leave out the fee.",
    }
    ForkCreate.model_validate(request)


@pytest.mark.parametrize(
    ("text", "value"), [("5", 5), ("[1]", [1]), ("true", True), ("species", "species"), ("a, b", "a, b")]
)
def test_an_answer_is_a_json_value_or_text(text: str, value: object) -> None:
    assert ForkOptions("1.q", answer=text).make_request()["change"]["answer"] == value
