"""Loading of what the first goal of a process needs, ahead of it."""

from app.agents.goals.columns import links as column_links
from app.agents.goals.lexicon import concept_matches as lexicon
from app.agents.goals.words import sentence_encoder
from app.agents.goals.words import vectors as word_vectors


def load_goal_reader() -> None:
    """Load the weights and the lexicon that goals are read with: 0.6 s of a processor, and 60 MB."""
    column_links.load()
    sentence_encoder.encode(("a text",))
    word_vectors.known_words(())
    lexicon.asked_concepts("a goal", ())
