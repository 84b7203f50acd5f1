"""Changes account for the words that carry meaning, or a question names those that they do not."""

import pytest
from tests.corpora.conditions import COLUMNS, WORKFLOWS

from app.workflows.phrases.change import ChangedDocument, ChangeQuestion
from app.workflows.phrases.reader import read_change

MAIL = WORKFLOWS["mail"]


@pytest.mark.parametrize(
    ("phrase", "unread"),
    [
        ("send me an email, but not on weekends", "not"),
        ("run it every weekday at 8 except friday", "except"),
        ("run it every day at 8 until december", "until"),
        ("email bob@example.com and cc alice@example.com", "alice@example.com"),
        ("send a slack message to ops instead of the email", "instead"),
        ("send an email if it fails, but only the second time", "only"),
        ("email me at most 3 times", "3"),
        ("tell Maria and Peter when price drops", "Peter"),
        ("send me an email 10 minutes after it ends", "10"),
        ("draw a chart of amount every tuesday at 9 and 17", "17"),
        ("notify ops on slack if the filter fails", "filter"),
        ("do it each morning at 6:45 and drop duplicates first", "duplicates"),
        ("put the orders before the mail", "takes no input"),
        ("sort by price and status at the end", "status"),
    ],
)
def test_a_word_that_carries_meaning_is_not_passed_over(phrase: str, unread: str) -> None:
    change = read_change(phrase, MAIL, [*COLUMNS])
    assert isinstance(change, ChangeQuestion), change
    assert unread in change.text


@pytest.mark.parametrize(
    "phrase",
    [
        "please could you run it every weekday morning at 8",
        "make it run twice a day at 8",
        "I would like to get a mail whenever there are more than 1,000 orders",
        "let the team know on slack if something goes wrong",
        "add a filter that keeps only the orders with a price above 50",
        "don't email me if there are no rows",
        "if the filter fails, retry it twice",
        'rename cheap to "bargains" instead',
    ],
)
def test_words_that_a_change_accounts_for_raise_no_question(phrase: str) -> None:
    change = read_change(phrase, MAIL, [*COLUMNS])
    assert isinstance(change, ChangedDocument), change
