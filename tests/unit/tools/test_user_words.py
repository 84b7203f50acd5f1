"""What counts as asked for by the user: their message of the turn, and nothing that a chat model says."""

import pytest

from app.tools.conversations.user_words import asks_to_retry, is_own_answer, is_own_request

GATE = ("approve", "reject")


@pytest.mark.parametrize(
    ("message", "options", "answer", "own"),
    [
        ("yes", GATE, "approve", True),
        ("Approve.", GATE, "approve", True),
        ("no thanks", GATE, "reject", True),
        ("2", GATE, "reject", True),
        ("no", GATE, "approve", False),
        ("do not approve it", GATE, "approve", False),
        ("how is it going?", GATE, "approve", False),
        ("how is it going?", ("approve", "reject", "always in this session"), "always in this session", False),
        ("by next spring", (), "by next spring", True),
        ("take the column revenue, please", ("price", "revenue"), "revenue", True),
        ("take the second one of them", ("price", "revenue"), "price", False),
        ("show the table", ("price", "revenue"), "price", False),
        ("the prices", ("price", "revenue"), "price", False),
    ],
)
def test_an_answer_is_the_users_where_their_message_says_it(
    message: str, options: tuple[str, ...], answer: str, own: bool
) -> None:
    assert is_own_answer(message, options, answer) is own


URL = "https://api.example.com/prices"
SAVED = [{"url": URL, "secret": "prices", "params": {"day": "1"}}]


@pytest.mark.parametrize(
    ("config", "own"),
    [
        ({"url": URL, "secret": "prices", "params": {"day": "1"}}, True),
        ({"url": URL, "secret": "prices", "params": {"day": "ada@example.com"}}, False),
        ({"url": "https://api.example.com/new", "records": "/rows"}, True),
        ({"url": "https://api.example.com/new", "secret": "prices"}, False),
        ({"url": "https://api.example.com/new", "params": {"q": "ada"}}, False),
        ({"url": "https://api.example.com/new?q=1"}, True),
        ({"url": "https://api.example.com/new?q=1&of=ada"}, False),
        ({"url": "https://api.example.com/new?q=ada"}, False),
        ({"url": "https://api.example.com/new?q"}, False),
        ({"url": "https://ada@api.example.com/new"}, False),
        ({"url": "https://other.example.com/prices"}, True),
        ({"url": "https://other.example.com/prices", "method": "POST"}, False),
        ({}, False),
    ],
)
def test_a_request_is_the_users_where_nothing_is_added_to_it(config: dict[str, object], own: bool) -> None:
    assert is_own_request("fetch https://api.example.com/new?q=1.", SAVED, config) is own


def test_a_run_is_retried_by_words_that_say_so() -> None:
    assert asks_to_retry("please try again")
    assert not asks_to_retry("why did it fail? do not retry it")
