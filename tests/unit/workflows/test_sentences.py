"""Sentences of several clauses: every clause is applied in turn, or nothing is."""

import pytest
from tests.corpora.conditions import COLUMNS, WORKFLOWS
from tests.corpora.judged_pipelines import JudgedSentence, judge_pipelines

from app.workflows.phrases.change import ChangedDocument, ChangeQuestion
from app.workflows.phrases.reader import read_change
from app.workflows.phrases.row_tests import read_row_test
from app.workflows.phrases.schedule_spans import split_schedule
from app.workflows.phrases.sentences import MAX_SENTENCE_CHARS, read_sentence, split_clauses
from app.workflows.phrases.sources import SentenceSource, find_address
from app.workflows.phrases.table_clauses import TableState, read_table_clause


@pytest.mark.parametrize("entry", judge_pipelines("tuned"), ids=lambda entry: entry.sentence.words)
def test_a_sentence_of_the_tuned_half_means_its_workflow(entry: JudgedSentence) -> None:
    assert entry.is_right, (entry.lane, entry.nodes, entry.trigger, entry.reply)


def test_no_sentence_of_the_untuned_half_means_another_workflow() -> None:
    assert not any(entry.is_wrong for entry in judge_pipelines("untuned"))


@pytest.mark.parametrize(
    ("words", "unread"),
    [
        ("drop the duplicates, sort by quantity and frobnicate them", "'frobnicate them'"),
        ("sort by price, keep the top 3 by price per city and email me", "'keep the top 3 by price per city'"),
        ("keep the rows where height is above 3 and email me", "'keep the rows where height is above 3'"),
        ("email me if there are more than 5 rows and save it as orders", "'save it as orders'"),
        ("drop the duplicates, sort by quantity every day and email me every week", "'email me every week'"),
    ],
)
def test_what_is_not_understood_is_named_and_nothing_changes(words: str, unread: str) -> None:
    change = read_change(words, WORKFLOWS["plain"], [*COLUMNS])
    assert isinstance(change, ChangeQuestion)
    assert unread in change.text


def test_the_top_rows_of_no_column_are_asked_about() -> None:
    change = read_change("drop the duplicates and email me the top 5", WORKFLOWS["mail"], [*COLUMNS])
    assert isinstance(change, ChangedDocument)  # by the price that the filter before it compares
    unsorted = WORKFLOWS["figure"]
    change = read_change("drop the duplicates and post the top 5 to #orders", unsorted, [*COLUMNS])
    assert isinstance(change, ChangeQuestion)
    assert change.text.startswith("The top 5 by which column?")


def test_clauses_end_at_commas_and_conjunctions_outside_of_quotes_addresses_and_ranges() -> None:
    text = "keep rows between 2 and 5, name is 'a, b and c'; post to https://a.example/x,y and then email me"
    parts = [text[start:end] for start, end in split_clauses(text)]
    assert parts == [
        "keep rows between 2 and 5",
        "name is 'a, b and c'",
        "post to https://a.example/x,y",
        "email me",
    ]


@pytest.mark.parametrize(
    ("words", "rest", "cron"),
    [
        ("every monday at 9 sort by price", "sort by price", "0 9 * * 1"),
        ("sort by price at 7:30 every day and email me", "sort by price and email me", "30 7 * * *"),
        ("on Mondays and Fridays email me", "email me", "0 8 * * 1,5"),
        ("save it as daily rates", "save it as daily rates", None),
        ("total price by month, at least 8", "total price by month, at least 8", None),
        ("keep rows where note is 'every day'", "keep rows where note is 'every day'", None),
    ],
)
def test_a_schedule_is_taken_out_of_a_sentence(words: str, rest: str, cron: str | None) -> None:
    scheduled = split_schedule(words, "UTC")
    assert scheduled.words == rest
    assert (scheduled.trigger or {}).get("cron") == cron


@pytest.mark.parametrize(
    ("words", "url", "rest"),
    [
        ("fetch https://a.example/p, sort by x", "https://a.example/p", "sort by x"),
        ("get the latest prices from https://a.example/p and email me", "https://a.example/p", "email me"),
        ("save https://a.example/p as prices", "https://a.example/p", "save it as prices"),
        ("sort by x and post it to https://a.example/p", None, ""),
    ],
)
def test_an_address_that_is_read_is_told_from_one_that_is_written_to(
    words: str, url: str | None, rest: str
) -> None:
    source = find_address(words)
    if url is None:
        assert source is None
    else:
        assert isinstance(source, SentenceSource)
        assert (source.step["config"], source.words) == ({"url": url}, rest)


@pytest.mark.parametrize(
    "words",
    [
        "price is above ten",
        "price is above 10 or city is Oslo and status is open",
        "height is 3",
        "price is about 10",
        "price is above 10%",
    ],
)
def test_a_test_of_rows_is_read_as_a_whole_or_not_at_all(words: str) -> None:
    assert read_row_test(words, [*COLUMNS]) is None


@pytest.mark.parametrize(
    "words",
    [
        "sort by price within each city",
        "keep the top 0 by price",
        "total price by country",
        "add a column x = price * height",
        "keep the rows",
        "group by city and count the rows with a price",
    ],
)
def test_a_table_clause_is_read_as_a_whole_or_not_at_all(words: str) -> None:
    assert read_table_clause(words, TableState([*COLUMNS])) is None


def test_a_text_that_is_longer_than_a_sentence_is_not_read_as_one() -> None:
    document, columns, clause = WORKFLOWS["plain"], list(COLUMNS), "sort by price, "
    long = clause * (MAX_SENTENCE_CHARS // len(clause) + 1) + "email me"
    assert read_sentence(long, document, columns, "UTC").clauses == 0
    change = read_change(long, document, columns)
    assert isinstance(change, ChangeQuestion)
    assert "up to 2,000 characters" in change.text
    assert isinstance(read_change("sort by price and email me", document, columns), ChangedDocument)
