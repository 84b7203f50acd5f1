"""Encoder of features as the matrix of an estimator, fitted on training rows only."""

import json
from typing import Any, Self

import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

from app.modeling.estimators.encoding.codes import Code
from app.modeling.estimators.encoding.numbers import Numbers
from app.modeling.estimators.encoding.styles import STYLES, Blocks
from app.modeling.estimators.encoding.text_vectorizer import TextVectorizer
from app.modeling.table.column_kinds import ColumnKind, column_kind

BLIND = "blind"
"""Style of an estimator that uses no column."""

MIN_ROWS_PER_NAME = 3.0
"""Mean rows of a text from which texts of several words are names too: of schools, products or teams."""


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Encodes a frame as a float32 matrix. Constant and empty columns are left out.

    `style="tree"`: numbers unchanged (missing stays missing), categories as positions, most frequent first,
    text as a few directions. `style="linear"`: sparse; numbers scaled and as normal deviates, categories
    one-hot, text as weighted words. `style="network"`: the same, dense and narrow. Texts that are names of
    things with rows of their own are encoded as categories too.
    `style="blind"`: one column of zeros.
    `in_order`: rows are ordered in time, so only recurring calendar parts are encoded.
    """

    def __init__(self, style: str = "tree", in_order: bool = False, seed: int = 0) -> None:
        self.style = style
        self.in_order = in_order
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        self._learn_all(X)
        for words in self.words_:
            words.release_training_weights()
        return self

    def fit_transform(self, X: pd.DataFrame, y: object = None, **_: object) -> Any:
        """Like `fit`, then `transform` of the same rows, with texts tokenised once."""
        self._learn_all(X)
        matrix = self.transform(X)
        for words in self.words_:
            words.release_training_weights()
        return matrix

    def _learn_all(self, X: pd.DataFrame) -> None:
        self.codes_: list[Code] = []
        self.words_: list[TextVectorizer] = []
        kinds = {str(name): column_kind(X[name]) for name in (X.columns if self.style != BLIND else ())}
        numbers = [name for name, kind in kinds.items() if kind in (ColumnKind.NUMBER, ColumnKind.BOOLEAN)]
        self.numbers_ = Numbers().fit(X, numbers, STYLES[self.style].scaled)
        for name, kind in kinds.items():
            if name not in numbers and kind is not ColumnKind.EMPTY and X[name].nunique(dropna=False) > 1:
                self._learn(name, X[name], kind)

    def _learn(self, name: str, column: pd.Series, kind: ColumnKind) -> None:
        if is_prose(column, kind):
            words = TextVectorizer().fit(column, STYLES[self.style].directions, self.seed)
            self.codes_.append({"column": name, "as": "text", "words": len(self.words_)})
            self.words_.append(words)
            if not repeats(column):
                return
        learned = STYLES[self.style].learn(column, kind, self.in_order)
        if learned is not None:
            self.codes_.append({"column": name, **learned})

    def transform(self, X: pd.DataFrame) -> Any:
        blocks = [(self.numbers_.dense(X), self.numbers_.encode_levels(X))]
        blocks += [self._block(X[str(code["column"])], code) for code in self.codes_]
        return STYLES[self.style].join(blocks, len(X))

    def _block(self, column: pd.Series, code: Code) -> Blocks:
        if code["as"] == "text":
            return STYLES[self.style].text(column, self.words_[code["words"]])
        return STYLES[self.style].encode(column, code)

    def get_feature_names_out(self, input_features: object = None) -> list[str]:
        """Names of the matrix columns, dense blocks first."""
        dense, sparse_names = self.numbers_.dense_names(), self.numbers_.level_names()
        for code in self.codes_:
            words = self.words_[code["words"]] if code["as"] == "text" else None
            suffixes = STYLES[self.style].names(code, words)
            dense += [f"{code['column']}{ending}" for ending in suffixes[0]]
            sparse_names += [f"{code['column']}{ending}" for ending in suffixes[1]]
        return [*dense, *sparse_names] or ["nothing"]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "codes_" in state:
            # One text: skops stores each value as an object of its own, which takes seconds for thousands.
            state["codes_"] = json.dumps(state["codes_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "codes_" in state:
            state = {**state, "codes_": json.loads(state["codes_"])}
        super().__setstate__(state)


def is_prose(column: pd.Series, kind: ColumnKind) -> bool:
    """Test for a column of texts of several words, not only a name or a code in each row."""
    if kind is not ColumnKind.TEXT:
        return False
    return bool(column.dropna().astype("str").head(2000).str.strip().str.count(r"\s+").mean() >= 0.5)


def repeats(column: pd.Series) -> bool:
    """Test for names of things with several rows each, which their words alone do not tell apart."""
    present = column.dropna()
    return bool(len(present) >= MIN_ROWS_PER_NAME * max(present.nunique(), 1))
