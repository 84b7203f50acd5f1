"""Loading of what the first goal of a process needs, ahead of it."""

from app.agents.goals import column_links, lexicon, sentence_encoder, word_vectors


def load_goal_reader() -> None:
    """Load the weights and the lexicon that goals are read with: 0.6 s of a processor, and 60 MB."""
    column_links.load()
    sentence_encoder.encode(("a text",))
    word_vectors.known_words(())
    lexicon.asked_concepts("a goal", ())
