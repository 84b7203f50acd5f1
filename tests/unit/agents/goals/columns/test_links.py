"""Links of words with columns by meaning, without a word in common."""

import numpy as np
import pytest

from app.agents.goals.columns.links import MAX_COLUMNS, column_text, link_columns, softmax
from app.agents.goals.tables.profiles import Column, TableProfile

CAMPAIGNS = TableProfile(
    "campaigns",
    900,
    (
        Column("Channel", "text", "category", 3, top=("search", "social", "display")),
        Column("Impr.", "integer", "numeric", 800, low=0, high=90_000),
        Column("Cost", "number", "numeric", 700, low=0, high=900),
        Column("Paused", "boolean", "category", 2, top=("true", "false")),
    ),
)
COLUMNS = [(CAMPAIGNS, column) for column in CAMPAIGNS.columns]


@pytest.mark.parametrize(
    ("request_", "word", "column"),
    [
        ("How much money do we burn on ads?", "money", "Cost"),
        ("average expenses by platform", "expenses", "Cost"),
        ("which ads will be halted", "halted", "Paused"),
    ],
)
def test_words_are_linked_by_their_meaning(request_: str, word: str, column: str) -> None:
    links = link_columns(request_, COLUMNS)
    assert links
    shares = links.shares(lambda link: link.word == word)
    assert CAMPAIGNS.columns[int(shares[:-1].argmax())].name == column


def test_the_target_is_what_the_whole_request_is_about() -> None:
    links = link_columns("what will a campaign cost us, by channel", COLUMNS)
    assert links
    assert CAMPAIGNS.columns[int(links.targets[:-1].argmax())].name == "Cost"


def test_words_keep_their_places_in_the_request() -> None:
    text = "Überraschend: the PLATFORM-cost"
    links = link_columns(text, COLUMNS)
    assert links
    assert [link.word for link in links.words] == ["überraschend", ":", "the", "platform", "-", "cost"]
    assert all(text[link.start : link.end].casefold() == link.word for link in links.words)


def test_probabilities_of_columns_and_of_none_sum_to_one() -> None:
    links = link_columns("nothing of this kind", COLUMNS)
    assert links
    assert [softmax(link.logits).sum() for link in links.words] == pytest.approx([1.0] * 4)
    assert links.shares(lambda link: False).sum() == 0
    assert len(links.targets) == len(COLUMNS) + 1


def test_the_links_of_a_request_do_not_depend_on_earlier_ones() -> None:
    first = link_columns("cost of a campaign", COLUMNS)
    link_columns("another request", COLUMNS[:2])
    again = link_columns("cost of a campaign", [*COLUMNS])
    assert first
    assert again
    assert np.array_equal(first.targets, again.targets)


@pytest.mark.parametrize("text", ["", "日本語のデータ", "x" * 10_000, "?!"])
def test_any_text_can_be_linked(text: str) -> None:
    links = link_columns(text, COLUMNS)
    assert links
    assert np.isfinite(links.targets).all()


def test_wide_tables_and_none_are_not_linked() -> None:
    assert link_columns("cost", []) is None
    assert link_columns("cost", COLUMNS[:1] * (MAX_COLUMNS + 1)) is None


def test_a_column_is_described_by_its_kind_and_values() -> None:
    assert column_text(*COLUMNS[0]) == "channel, category of campaigns: search, social, display"
    assert column_text(*COLUMNS[3]) == "paused, yes or no of campaigns: true, false"
