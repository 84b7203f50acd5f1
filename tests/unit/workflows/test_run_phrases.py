"""Wishes to run a saved workflow: which words are one, and which workflows they may name."""

import pytest

from app.tools.context.conversation_workflows import NamedWorkflow, RequestedRun
from app.workflows.conversations.lanes import make_requested_run
from app.workflows.phrases.run_phrases import NameMatch, RunWords, match_names, read_run_words

NAMES = ["Weekly report", "Weekly churn report", "do this every weekday at 8", "Numbers"]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("run my weekly report workflow", RunWords("weekly report", says_workflow=True)),
        ("Can you run the workflow called 'Weekly report' now?", RunWords("Weekly report", True, True)),
        ("start workflow weekly_report", RunWords("weekly_report", says_workflow=True)),
        ("do another run of the weekly report", RunWords("weekly report", says_workflow=False)),
        ("run it now", RunWords("", says_workflow=False)),
        ("rerun it once more, please", None),
        ("run the workflow again", RunWords("", says_workflow=True)),
        ("run my only workflow", RunWords("", says_workflow=True)),
        ("run the workflow every Monday", None),
        ("run it every weekday at 8", RunWords("it every weekday at 8", says_workflow=False)),
        ("how does the weekly report run?", None),
        ("run a regression", RunWords("a regression", says_workflow=False)),
        ("run " + "x" * 400, None),
    ],
)
def test_words_that_ask_for_a_run_are_read(message: str, words: RunWords | None) -> None:
    read = read_run_words(message)
    if words is None and read is not None:  # words that name nothing which could be a workflow
        assert match_names(read, NAMES).places == [], read
    else:
        assert read == words


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (RunWords("weekly report", says_workflow=False), NameMatch([0])),
        (RunWords("Weekly_Report", says_workflow=True), NameMatch([0])),
        (RunWords("weekly", says_workflow=True), NameMatch([0, 1])),
        (RunWords("report weekly", says_workflow=False), NameMatch([])),
        (RunWords("weekly reprot", says_workflow=True), NameMatch([0, 1], is_guess=True)),
        (RunWords("a regression", says_workflow=False), NameMatch([])),
    ],
)
def test_a_name_is_found_by_its_words_in_a_row(words: RunWords, match: NameMatch) -> None:
    assert match_names(words, NAMES) == match


def test_a_change_is_no_run_unless_it_says_that_it_is_a_workflow() -> None:
    workflows = [NamedWorkflow(str(place), name) for place, name in enumerate(NAMES)]
    name = "do this every weekday at 8"
    assert make_requested_run(RunWords(name, says_workflow=False), workflows, NAMES, "patch") is None
    requested = make_requested_run(RunWords(name, says_workflow=True), workflows, NAMES, "patch")
    assert requested == RequestedRun([workflows[2]], is_named=True, says_workflow=True)
    assert make_requested_run(RunWords("", says_workflow=True), workflows, NAMES, "execute") == RequestedRun(
        workflows, says_workflow=True
    )
