"""Features -> the numbers that an estimator takes, fitted on training rows only."""

import json
from typing import Any, Self

import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

from app.modeling.estimators.encoding.codes import Code
from app.modeling.estimators.encoding.numbers import Numbers
from app.modeling.estimators.encoding.styles import STYLES, Blocks
from app.modeling.estimators.encoding.words import Words
from app.modeling.table.columns import ColumnKind, column_kind

BLIND = "blind"
"""The style of an estimator that looks at no column."""


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A frame -> a float32 matrix. Constant and empty columns are left out.

    `style="tree"`: numbers as they are (missing stays missing), categories as the place of their name, most
    frequent first, text as a few directions. `style="linear"`: sparse; numbers scaled and as normal deviates,
    categories as one column each, text as weighted words. `style="network"`: the same, dense and narrow.
    `style="blind"`: one column of zeros.
    `in_order`: rows are ordered in time, so only calendar parts that come again are of use.
    """

    def __init__(self, style: str = "tree", in_order: bool = False, seed: int = 0) -> None:
        self.style = style
        self.in_order = in_order
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        self._learn_all(X)
        for words in self.words_:
            words.forget()
        return self

    def fit_transform(self, X: pd.DataFrame, y: object = None, **_: object) -> Any:
        """As `fit` and then `transform` of the same rows, with texts read once."""
        self._learn_all(X)
        made = self.transform(X)
        for words in self.words_:
            words.forget()
        return made

    def _learn_all(self, X: pd.DataFrame) -> None:
        self.codes_: list[Code] = []
        self.words_: list[Words] = []
        kinds = {str(name): column_kind(X[name]) for name in (X.columns if self.style != BLIND else ())}
        numbers = [name for name, kind in kinds.items() if kind in (ColumnKind.NUMBER, ColumnKind.BOOLEAN)]
        self.numbers_ = Numbers().fit(X, numbers, STYLES[self.style].scaled)
        for name, kind in kinds.items():
            if name not in numbers and kind is not ColumnKind.EMPTY and X[name].nunique(dropna=False) > 1:
                self._learn(name, X[name], kind)

    def _learn(self, name: str, column: pd.Series, kind: ColumnKind) -> None:
        if is_prose(column, kind):
            words = Words().fit(column, STYLES[self.style].directions, self.seed)
            self.codes_.append({"column": name, "as": "text", "words": len(self.words_)})
            self.words_.append(words)
            return
        learned = STYLES[self.style].learn(column, kind, self.in_order)
        if learned is not None:
            self.codes_.append({"column": name, **learned})

    def transform(self, X: pd.DataFrame) -> Any:
        blocks = [(self.numbers_.dense(X), self.numbers_.kinds(X))]
        blocks += [self._block(X[str(code["column"])], code) for code in self.codes_]
        return STYLES[self.style].join(blocks, len(X))

    def _block(self, column: pd.Series, code: Code) -> Blocks:
        if code["as"] == "text":
            return STYLES[self.style].text(column, self.words_[code["words"]])
        return STYLES[self.style].encode(column, code)

    def get_feature_names_out(self, input_features: object = None) -> list[str]:
        """Those of dense blocks first, as the matrix has them."""
        dense, thin = self.numbers_.dense_names(), self.numbers_.kind_names()
        for code in self.codes_:
            words = self.words_[code["words"]] if code["as"] == "text" else None
            endings = STYLES[self.style].names(code, words)
            dense += [f"{code['column']}{ending}" for ending in endings[0]]
            thin += [f"{code['column']}{ending}" for ending in endings[1]]
        return [*dense, *thin] or ["nothing"]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "codes_" in state:
            state["codes_"] = json.dumps(state["codes_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "codes_" in state:
            state = {**state, "codes_": json.loads(state["codes_"])}
        super().__setstate__(state)


def is_prose(column: pd.Series, kind: ColumnKind) -> bool:
    """Whether a column holds text of several words, and not just one name or code a row."""
    if kind is not ColumnKind.TEXT:
        return False
    return bool(column.dropna().astype("str").head(2000).str.strip().str.count(r"\s+").mean() >= 0.5)
