"""The corpus of sentences of several clauses is whole, and each half holds its own sentences."""

import pytest
from tests.corpora.pipelines import load_pipeline_sentences
from tests.corpora.tables import Half

from app.workflows.node_types import NODE_TYPES


@pytest.mark.parametrize("half", ["tuned", "untuned"])
def test_each_sentence_belongs_to_its_half_and_names_nodes_that_exist(half: Half) -> None:
    sentences = load_pipeline_sentences(half)
    assert len(sentences) >= 15
    types = {node.partition(" ")[0].replace("group", "group_by") for row in sentences for node in row.nodes}
    assert types <= NODE_TYPES.keys()
    assert all(bool(row.nodes) != (row.lane == "ask") for row in sentences)
