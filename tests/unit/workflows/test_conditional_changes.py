"""Sentences with conditions become branches of a workflow that do what the words say."""

import pytest
from tests.corpora.conditions import COLUMNS, WORKFLOWS, ConditionPhrase, load_condition_phrases
from tests.corpora.judged_conditions import judge

from app.workflows.differences import compare_documents
from app.workflows.phrases.change import ChangedDocument, ChangeQuestion
from app.workflows.phrases.reader import read_change
from app.workflows.phrases.word_tests import read_test


@pytest.mark.parametrize("phrase", load_condition_phrases("tuned"), ids=lambda phrase: phrase.phrase)
def test_a_sentence_of_the_tuned_half_does_what_it_says(phrase: ConditionPhrase) -> None:
    judged = judge(phrase)
    assert judged.is_right, (judged.reply, judged.effects)


@pytest.mark.parametrize(
    ("words", "described"),
    [
        ("there are twelve or more orders", "rows >= 12"),
        ("no more than three rows come", "rows <= 3"),
        ("it is not empty", "rows > 0"),
        ("nothing is found", "rows = 0"),
        ("every price is above 10", "min of price > 10"),
        ("any price is under 1,000", "min of price < 1000"),
        ("the price is over 5", "max of price > 5"),
        ("the status is not paid", "some status != paid"),
    ],
)
def test_a_test_is_read(words: str, described: str) -> None:
    test = read_test(words, [*COLUMNS])
    assert test is not None
    assert test.describe() in (described, f"{described}.0")


@pytest.mark.parametrize("words", ["the weather changes", "the price drops", "it fails", "the moon is full"])
def test_what_is_no_test_of_the_table_is_none(words: str) -> None:
    assert read_test(words, [*COLUMNS]) is None


@pytest.mark.parametrize(
    ("workflow", "phrase"),
    [
        ("plain", "otherwise tell ops"),
        ("branch", "otherwise sing a song"),
        ("figure", "send the email if there are between 2 and 3 rows, otherwise tell ops"),
    ],
)
def test_an_other_branch_that_is_not_clear_is_asked_about(workflow: str, phrase: str) -> None:
    change = read_change(phrase, WORKFLOWS[workflow], [*COLUMNS])
    assert isinstance(change, ChangeQuestion), change


def test_a_condition_and_a_schedule_come_together() -> None:
    document = WORKFLOWS["plain"]
    change = read_change("every weekday at 9 email me if there are more than 10 rows", document, [*COLUMNS])
    assert isinstance(change, ChangedDocument), change
    lines = compare_documents(document, change.document).text.splitlines()
    assert {"+ trigger (trigger)", "+ sorted -> email if rows > 10"} <= {*lines}
