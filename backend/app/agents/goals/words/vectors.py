"""Similarity of English words by their use, for words that share no concept of `concepts.py`.

The vectors are those of GloVe, reduced by `scripts/word_vectors.py`, which names their source and licence.
Similar words are related, not equal ("doctor" and "patient"): similarity ranks columns, and seldom decides.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_FILE = Path(__file__).with_name("vectors.npz")


@cache
def _load() -> "tuple[dict[str, int], np.ndarray]":
    """Load the row of each word, and the unit vectors (words, dimensions) as float32."""
    # Here, since a worker without such a goal needs no NumPy.
    import numpy as np  # noqa: PLC0415

    with np.load(_FILE) as stored:
        words = str(stored["words"]).split("\n")
        vectors = stored["vectors"].astype("float32")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return {word: row for row, word in enumerate(words)}, vectors


def known_words(words: Sequence[str]) -> list[str]:
    """Return the words that have a vector, in their order."""
    rows, _ = _load()
    return [word for word in words if word in rows]


def frequency_rank(word: str) -> int:
    """Return the place of a word among those with vectors, the most frequent ones first, or behind the last."""
    rows, _ = _load()
    return rows.get(word, len(rows))


def most_similar(words: Sequence[str], others: Sequence[str]) -> list[tuple[str, float]]:
    """Return the most similar other word of each word, and their cosine (-1 to 1). All must have vectors."""
    rows, vectors = _load()
    cosines = vectors[[rows[word] for word in words]] @ vectors[[rows[word] for word in others]].T
    return [(others[int(row.argmax())], float(row.max())) for row in cosines]
