"""Messages about runs of workflows: what is run, what is asked first, and a run in words."""

from typing import Any

import pytest

from app.agents.assistant.brief import ChatBrief, EarlierTurn
from app.agents.assistant.workflows.runs import RunCall, WhichWorkflow, describe_run, read_run_message
from app.tools.context.conversation_workflows import (
    MessageLane,
    NamedWorkflow,
    NodeOutcome,
    RequestedRun,
    RunCard,
    RunPrompt,
    WorkflowCard,
)

FIRST, SECOND = NamedWorkflow("1", "Weekly report"), NamedWorkflow("2", "Weekly churn report")
CARDS = [WorkflowCard("1", "Weekly report", 1), WorkflowCard("2", "Weekly churn report", 1)]
ANSWER = EarlierTurn(message="top cities", sql="SELECT 1", plan={})
CHANGE = EarlierTurn(message="add a step", workflow="2")
RAN = EarlierTurn(message="run it", sql="SELECT * FROM weekly", workflow="1", run="r")
QUESTION = RunPrompt("k", "Go on?", ["approve", "reject"])
RUN = RunCard("r", "1", "Weekly report", 3, "completed", "succeeded")


def ask(message: str, run: RequestedRun | None, *earlier: EarlierTurn, **more: Any) -> Any:
    brief = ChatBrief(message, earlier=earlier, lane=MessageLane(run=run), **{"workflows": CARDS, **more})
    return read_run_message(brief)


def test_a_workflow_that_is_named_is_run_and_several_are_asked_about() -> None:
    named = RequestedRun([FIRST], is_named=True)
    assert ask("run the weekly report", named) == RunCall("run_workflow", {"workflow": "1"})
    both = ask("run weekly", RequestedRun([FIRST, SECOND], is_named=True))
    assert isinstance(both, WhichWorkflow)
    assert both.find_id("Weekly churn report") == "2"
    near = ask("run the weekly reprot workflow", RequestedRun([FIRST], True, True, is_guess=True))
    assert isinstance(near, WhichWorkflow)
    unknown = ask("run the sales workflow", RequestedRun([], is_named=True, says_workflow=True))
    assert unknown == "There is no workflow of that name. There are: Weekly report, Weekly churn report."
    none = ask("run the workflow", RequestedRun([], says_workflow=True), workflows=[])
    assert str(none).startswith("There is no saved workflow yet.")


def test_it_is_the_workflow_of_the_conversation() -> None:
    it, the_workflow = RequestedRun(), RequestedRun([FIRST, SECOND], says_workflow=True)
    assert ask("run it", it, ANSWER, CHANGE) == RunCall("run_workflow", {"workflow": "2"})
    assert ask("run it", it, CHANGE, ANSWER) is None
    assert ask("run it", it, ANSWER, RAN) == RunCall("run_workflow", {"workflow": "1"})
    assert ask("run the workflow", the_workflow, CHANGE, ANSWER) == RunCall("run_workflow", {"workflow": "2"})
    assert isinstance(ask("run the workflow", the_workflow), WhichWorkflow)
    assert ask("run it", it) is None
    assert ask("run it", it, workflows=CARDS[:1]) == RunCall("run_workflow", {"workflow": "1"})


@pytest.mark.parametrize(("message", "answer"), [("approve", "approve"), ("yes", "approve"), ("no", "reject")])
def test_an_answer_to_the_run_is_passed_on(message: str, answer: str) -> None:
    asking = RunCard("r", "1", "Weekly report", 3, "awaiting_user", question=QUESTION)
    assert ask(message, None, RAN, runs=[asking]) == RunCall(
        "answer_run", {"run": "r", "question": QUESTION.key, "answer": answer}
    )
    assert ask(message, None, RAN, runs=[RUN]) is None


def test_a_failed_run_is_tried_again_from_its_failure() -> None:
    failed = RunCard("r", "1", "Weekly report", 3, "completed", "failed")
    assert ask("retry it", None, RAN, runs=[failed]) == RunCall("retry_run", {"run": "r"})
    assert ask("please try again", None, RAN, runs=[failed]) == RunCall("retry_run", {"run": "r"})
    assert ask("try again", None, RAN, runs=[RUN]) is None
    assert ask("try again", None, RAN, ANSWER, runs=[failed]) is None


def test_the_result_of_the_last_run_is_read_right_after_it() -> None:
    assert ask("is it done?", None, RAN, runs=[RUN]) == RunCall("read_run", {"run": "r"})
    assert ask("is it done?", None, RAN, ANSWER, runs=[RUN]) is None
    assert ask("how many runs are there", None, RAN, runs=[RUN]) is None


def test_a_run_is_described_by_its_nodes() -> None:
    nodes = [
        NodeOutcome("read", "done", 4),
        NodeOutcome("tell", "failed", error="Refused", notes=["Tried twice."]),
    ]
    failed = RunCard("r", "1", "Weekly report", 3, "completed", "failed", nodes=nodes, table="weekly_report")
    assert describe_run(failed) == (
        "The workflow 'Weekly report', version 3, has failed. Its table is `weekly_report` from now on. "
        "Say `retry it` to go on from the failure."
        "\n- **read**: 4 rows\n- **tell**: failed. Refused. Tried twice."
    )
    asking = RunCard("r", "1", "Weekly report", 3, "awaiting_user", question=QUESTION)
    assert describe_run(asking).endswith("asks: Go on? Answer `approve` or `reject`.")
    waiting = RunCard("r", "1", "Weekly report", 3, "waiting", waits_for="s")
    assert "waits for its study" in describe_run(waiting)
