"""Free text as weighted words and word pairs, or projected on a few directions."""

import re
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from app.modeling.recipe.transforms.columns import to_category_text

MAX_WORDS = 20_000
"""Words and pairs of one column, the most frequent ones."""
MAX_DIRECTIONS = 20
"""Directions of a projection: enough for topics, and few enough for trees."""
MAX_DIRECTION_ROWS = 20_000
"""Rows that directions are computed from: bounds the time of the decomposition."""

_WORD = re.compile(r"\w+")


class TextVectorizer:
    """Vectorizer of one text column: words and word pairs weighted by rarity, learned from training rows.

    Each distinct text is tokenised once.
    """

    def fit(self, column: pd.Series, directions: bool, seed: int = 0) -> Self:
        """Fit, and keep the weights of these rows until `release_training_weights`."""
        positions, texts = pd.factorize(_texts(column))
        rows = np.bincount(positions, minlength=len(texts))
        # Pairs of words say little in texts of one or two words, such as names.
        pairs = np.average([text.count(" ") for text in texts], weights=rows) >= 2 if len(texts) else False
        self.longest_ = 2 if pairs else 1
        self.words_, self.rarity_, self.directions_ = "", np.zeros(0, "float32"), None
        self._training_weights = None
        counter = CountVectorizer(analyzer=self._tokenise, dtype=np.float32)
        try:
            counts = counter.fit_transform(texts)
        except ValueError:  # no word is left: the texts are empty
            return self
        word_positions, in_rows = _select_words(counts, rows, len(column))
        if not len(word_positions):
            return self
        # One text, which skops stores far faster than a list.
        self.words_ = "\n".join(counter.get_feature_names_out()[word_positions])
        # As in scikit-learn's TfidfVectorizer, which would tokenise a text that many rows have once for each.
        self.rarity_ = (np.log((1 + len(column)) / (1 + in_rows)) + 1).astype("float32")
        self._training_weights = self._weighted(counts[:, word_positions])[positions]
        self.directions_ = _directions(self._training_weights, seed) if directions else None
        return self

    def release_training_weights(self) -> None:
        self._training_weights = None

    def weights(self, column: pd.Series) -> sparse.csr_matrix:
        """Weights of the words (rows, words), sparse, each row of length 1."""
        if not len(self.rarity_):
            return sparse.csr_matrix((len(column), 0), dtype="float32")
        if getattr(self, "_training_weights", None) is not None:
            return self._training_weights
        positions, texts = pd.factorize(_texts(column))
        return self._weighted(self._get_counter().transform(texts))[positions]

    def project(self, column: pd.Series) -> np.ndarray:
        """Project texts on the directions in which training texts differ most (rows, directions)."""
        if self.directions_ is None or not len(self.rarity_):
            return np.zeros((len(column), 0), dtype="float32")
        return np.asarray(self.weights(column) @ self.directions_, dtype="float32")

    def __getstate__(self) -> dict[str, Any]:
        return {
            key: value for key, value in self.__dict__.items() if key not in ("_counter", "_training_weights")
        }

    def _get_counter(self) -> CountVectorizer:
        if not hasattr(self, "_counter"):
            words = self.words_.split("\n")
            self._counter = CountVectorizer(analyzer=self._tokenise, dtype=np.float32, vocabulary=words)
        return self._counter

    def _tokenise(self, text: str) -> list[str]:
        words = _WORD.findall(text.lower())
        if self.longest_ == 1:
            return words
        return words + [f"{first} {second}" for first, second in pairwise(words)]

    def _weighted(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        weights = counts.copy()
        weights.data = (1 + np.log(weights.data)) * self.rarity_[weights.indices]
        return normalize(weights, copy=False)


def _select_words(counts: sparse.csr_matrix, rows: np.ndarray, row_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the words to weight, at most MAX_WORDS, and the number of rows with each.

    `counts`: (distinct texts, words); `rows`: number of rows of each text; `row_count`: all rows.
    """
    in_rows = np.asarray((counts > 0).T @ rows)
    # Most words occur in a row or two, and say nothing about others.
    positions = np.flatnonzero(in_rows >= (2 if row_count < 5000 else 3))
    if len(positions) > MAX_WORDS:
        frequencies = np.asarray(counts.T @ rows)[positions]
        positions = np.sort(positions[np.argsort(-frequencies, kind="stable")[:MAX_WORDS]])
    return positions, in_rows[positions]


def _texts(column: pd.Series) -> pd.Series:
    return to_category_text(column).fillna("")


def _directions(weights: sparse.csr_matrix, seed: int) -> np.ndarray | None:
    count = min(MAX_DIRECTIONS, min(weights.shape) - 1)
    if count < 1:
        return None
    if weights.shape[0] > MAX_DIRECTION_ROWS:
        rows = np.random.default_rng(seed).choice(weights.shape[0], MAX_DIRECTION_ROWS, replace=False)
        weights = weights[np.sort(rows)]
    _, _, components = randomized_svd(weights, count, n_iter=3, random_state=seed)
    return np.ascontiguousarray(components.T, dtype="float32")
