"""Free text as weighted words and pairs of words, or as a few directions of them."""

import re
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from app.modeling.recipe.transforms.columns import as_text

MAX_WORDS = 20_000
MAX_DIRECTIONS = 20
ROWS_FOR_DIRECTIONS = 20_000

_WORD = re.compile(r"\w+")


class Words:
    """The words and pairs of words of one text column, weighted by rarity; learned from training rows.

    A text that many rows have is read once.
    """

    def fit(self, column: pd.Series, directions: bool, seed: int = 0) -> Self:
        """What these rows weigh is kept until `forget`."""
        places, texts = pd.factorize(_texts(column))
        rows = np.bincount(places, minlength=len(texts))
        pairs = np.average([text.count(" ") for text in texts], weights=rows) >= 2 if len(texts) else False
        self.longest_ = 2 if pairs else 1
        self.words_, self.rarity_, self.directions_ = "", np.zeros(0, "float32"), None
        self._kept = None
        counter = CountVectorizer(analyzer=self._read, dtype=np.float32)
        try:
            counts = counter.fit_transform(texts)
        except ValueError:  # no word is left: the texts are empty
            return self
        chosen, in_rows = _chosen(counts, rows, len(column))
        if not len(chosen):
            return self
        self.words_ = "\n".join(counter.get_feature_names_out()[chosen])
        self.rarity_ = (np.log((1 + len(column)) / (1 + in_rows)) + 1).astype("float32")
        self._kept = self._weighted(counts[:, chosen])[places]
        self.directions_ = _directions(self._kept, seed) if directions else None
        return self

    def forget(self) -> None:
        self._kept = None

    def weights(self, column: pd.Series) -> sparse.csr_matrix:
        """(rows, words), each row of length 1."""
        if not len(self.rarity_):
            return sparse.csr_matrix((len(column), 0), dtype="float32")
        if getattr(self, "_kept", None) is not None:
            return self._kept
        places, texts = pd.factorize(_texts(column))
        return self._weighted(self._ready().transform(texts))[places]

    def placed(self, column: pd.Series) -> np.ndarray:
        """(rows, directions): where the texts lie along the directions in which training texts differ most."""
        if self.directions_ is None or not len(self.rarity_):
            return np.zeros((len(column), 0), dtype="float32")
        return np.asarray(self.weights(column) @ self.directions_, dtype="float32")

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_counter", "_kept")}

    def _ready(self) -> CountVectorizer:
        if not hasattr(self, "_counter"):
            words = self.words_.split("\n")
            self._counter = CountVectorizer(analyzer=self._read, dtype=np.float32, vocabulary=words)
        return self._counter

    def _read(self, text: str) -> list[str]:
        words = _WORD.findall(text.lower())
        if self.longest_ == 1:
            return words
        return words + [f"{one} {next_one}" for one, next_one in pairwise(words)]

    def _weighted(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        weights = counts.copy()
        weights.data = (1 + np.log(weights.data)) * self.rarity_[weights.indices]
        return normalize(weights, copy=False)


def _chosen(counts: sparse.csr_matrix, rows: np.ndarray, of: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the words worth a weight, at most `MAX_WORDS`, and in how many rows each is.

    `counts` is of different texts, `rows` how many rows have each.
    """
    in_rows = np.asarray((counts > 0).T @ rows)
    chosen = np.flatnonzero(in_rows >= (2 if of < 5000 else 3))
    if len(chosen) > MAX_WORDS:
        told = np.asarray(counts.T @ rows)[chosen]
        chosen = np.sort(chosen[np.argsort(-told, kind="stable")[:MAX_WORDS]])
    return chosen, in_rows[chosen]


def _texts(column: pd.Series) -> pd.Series:
    return as_text(column).fillna("")


def _directions(weights: sparse.csr_matrix, seed: int) -> np.ndarray | None:
    count = min(MAX_DIRECTIONS, min(weights.shape) - 1)
    if count < 1:
        return None
    if weights.shape[0] > ROWS_FOR_DIRECTIONS:
        rows = np.random.default_rng(seed).choice(weights.shape[0], ROWS_FOR_DIRECTIONS, replace=False)
        weights = weights[np.sort(rows)]
    _, _, across = randomized_svd(weights, count, n_iter=3, random_state=seed)
    return np.ascontiguousarray(across.T, dtype="float32")
