"""Free text as weighted words and pairs of words, or as a few directions of them."""

from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.extmath import randomized_svd

from app.modeling.operations.columns import as_text

MOST_WORDS = 20_000
MOST_DIRECTIONS = 20
ROWS_FOR_DIRECTIONS = 20_000


class Words:
    """The words and pairs of words of one text column, weighted by rarity; learned from training rows."""

    def fit(self, column: pd.Series, directions: bool, seed: int = 0) -> Self:
        texts = _texts(column)
        pairs = texts.str.count(r"\s").mean() >= 2
        self.longest_ = 2 if pairs else 1
        vectorizer = self._vectorizer(max_features=MOST_WORDS, min_df=2 if len(texts) < 5000 else 3)
        try:
            weights = vectorizer.fit_transform(texts)
        except ValueError:  # no word is left: the texts are empty or all different
            self.words_, self.rarity_, self.directions_ = "", np.zeros(0, "float32"), None
            return self
        self.words_ = "\n".join(vectorizer.get_feature_names_out())
        self.rarity_ = vectorizer.idf_.astype("float32")
        self.directions_ = _directions(weights, seed) if directions else None
        return self

    def weights(self, column: pd.Series) -> sparse.csr_matrix:
        """(rows, words), each row of length 1."""
        if not len(self.rarity_):
            return sparse.csr_matrix((len(column), 0), dtype="float32")
        return self._ready().transform(_texts(column))

    def placed(self, column: pd.Series) -> np.ndarray:
        """(rows, directions): where the texts lie along the directions in which training texts differ most."""
        if self.directions_ is None or not len(self.rarity_):
            return np.zeros((len(column), 0), dtype="float32")
        return np.asarray(self.weights(column) @ self.directions_, dtype="float32")

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_vectorizer_"}

    def _ready(self) -> TfidfVectorizer:
        if not hasattr(self, "_vectorizer_"):
            self._vectorizer_ = self._vectorizer(vocabulary=self.words_.split("\n"))
            self._vectorizer_.idf_ = self.rarity_
        return self._vectorizer_

    def _vectorizer(self, **options: Any) -> TfidfVectorizer:
        return TfidfVectorizer(
            ngram_range=(1, self.longest_),
            sublinear_tf=True,
            dtype=np.float32,
            token_pattern=r"(?u)\b\w+\b",  # noqa: S106 (a pattern of words, no password)
            **options,
        )


def _texts(column: pd.Series) -> pd.Series:
    return as_text(column).fillna("")


def _directions(weights: sparse.csr_matrix, seed: int) -> np.ndarray | None:
    count = min(MOST_DIRECTIONS, min(weights.shape) - 1)
    if count < 1:
        return None
    if weights.shape[0] > ROWS_FOR_DIRECTIONS:
        rows = np.random.default_rng(seed).choice(weights.shape[0], ROWS_FOR_DIRECTIONS, replace=False)
        weights = weights[np.sort(rows)]
    _, _, across = randomized_svd(weights, count, n_iter=3, random_state=seed)
    return np.ascontiguousarray(across.T, dtype="float32")
