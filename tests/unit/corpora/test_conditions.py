"""The corpus of phrases about conditions is whole, and each half holds its own phrases."""

import pytest
from tests.corpora.conditions import WORKFLOWS, load_condition_phrases
from tests.corpora.tables import Half

from app.workflows.validation import find_faults


@pytest.mark.parametrize("half", ["tuned", "untuned"])
def test_each_phrase_belongs_to_its_half_and_tells_two_tables_apart(half: Half) -> None:
    phrases = load_condition_phrases(half)
    assert len(phrases) >= 20
    assert {phrase.workflow for phrase in phrases} <= WORKFLOWS.keys()
    assert all(len(phrase.runs) >= 2 for phrase in phrases)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_workflows_are_valid(name: str) -> None:
    assert find_faults(WORKFLOWS[name]) == []
