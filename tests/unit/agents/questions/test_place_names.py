"""Countries and states that a table spells by their codes."""

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.matching.value_matching import ValueIndex

CODES = Column("nation", "text", "category", 4, values=("SUI", "AUT", "GB", "Côte d'Ivoire"))


@pytest.mark.parametrize(
    ("phrase", "value"),
    [
        ("swiss", "SUI"),
        ("austrians", "AUT"),
        ("great britain", "GB"),
        ("british", "GB"),
        ("ivory coast", "Côte d'Ivoire"),
    ],
)
def test_a_name_and_a_word_for_people_mean_the_code_of_their_country(phrase: str, value: str) -> None:
    index = ValueIndex([TableProfile("runners", 9, (CODES,))])
    matches = index.match(phrase.split())
    assert [match.values for match in matches] == [(value,)]


def test_a_code_that_is_a_word_of_its_own_means_no_country() -> None:
    names = Column("nation", "text", "category", 2, values=("Norway", "Italy"))
    assert not ValueIndex([TableProfile("runners", 9, (names,))]).match(["no"])
