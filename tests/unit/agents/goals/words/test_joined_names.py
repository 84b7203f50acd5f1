"""Names of columns that join or shorten words."""

import pytest

from app.agents.goals.words.joined_names import column_words, shortens


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("agefirstjob", ["age", "first", "job"]),
        ("creditscore", ["credit", "score"]),
        ("MARKETVAL", ["market", "val"]),
        ("yearsatfirm", ["years", "at", "firm"]),
        ("median_houseprice", ["median", "house", "price"]),
        ("invoices", ["invoices"]),
        ("haematocrit", ["haematocrit"]),
        ("qqxyz", ["qqxyz"]),
    ],
)
def test_joined_words_are_split_and_words_are_not(name: str, words: list[str]) -> None:
    assert column_words(name) == words


@pytest.mark.parametrize(
    ("part", "word"), [("wng", "wing"), ("occ", "occasion"), ("infct", "infected"), ("bankrpt", "bankrupt")]
)
def test_a_part_shortens_a_word(part: str, word: str) -> None:
    assert shortens(part, word)


@pytest.mark.parametrize(
    ("part", "word"),
    [("wn", "wing"), ("car", "carpet"), ("dlt", "tailed"), ("gnw", "wing"), ("drv", "development")],
)
def test_a_part_that_is_a_word_or_has_other_letters_shortens_none(part: str, word: str) -> None:
    assert not shortens(part, word)
