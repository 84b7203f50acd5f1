"""Features of free text and names."""

import re
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field
from sklearn.feature_extraction.text import TfidfVectorizer

from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.recipe.transforms.operation import Columns, Operation, Share, State

PATTERNS = {
    "title": r"(?:,\s*|^|\s)(Mr|Mrs|Miss|Ms|Mme|Mlle|Master|Dr|Rev|Sir|Lady|Col|Major|Capt|Don|Prof)\b",
    "surname": r"^\s*([^,\s]+)\s*,",
    "domain": r"@([\w.-]+)\s*$",
    "letters": r"^\s*([A-Za-z]+)",
    "digits": r"(\d+)",
}


class TextStats(Operation):
    """`<name>_length`, `<name>_words` and `<name>_digits` of a text column."""

    op: Literal["text_stats"] = "text_stats"
    columns: Columns

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns: dict[str, pd.Series] = {}
        for name in self.columns:
            # A missing text has no words: 0 is its true count.
            text = to_category_text(frame[name]).fillna("")
            columns[f"{name}_length"] = text.str.len().astype("float64")
            columns[f"{name}_words"] = text.str.count(r"\S+").astype("float64")
            columns[f"{name}_digits"] = text.str.count(r"\d").astype("float64")
        return frame.assign(**columns)


class Extract(Operation):
    """Extract a category from text, `<name>_<what>`: title, surname, mail domain, leading letters or digits."""

    op: Literal["extract"] = "extract"
    columns: Columns
    what: Literal["title", "surname", "domain", "letters", "digits"]
    min_share: Share = 0.005

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: self._frequent(self._extract(frame[name])) for name in self.columns}

    def _extract(self, column: pd.Series) -> pd.Series:
        return (
            to_category_text(column)
            .str.extract(PATTERNS[self.what], flags=re.IGNORECASE, expand=False)
            .str.title()
        )

    def _frequent(self, extracted: pd.Series) -> list[str]:
        # Of all rows, not of those that match: a share of few matches would keep values that hardly occur.
        shares = extracted.value_counts() / max(len(extracted), 1)
        return [str(value) for value in shares[shares >= self.min_share].index]

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns = {}
        for name in self.columns:
            extracted = self._extract(frame[name])
            # Rare and unseen values share a category; a text without the pattern stays missing.
            columns[f"{name}_{self.what}"] = extracted.where(
                extracted.isin(state[name]) | extracted.isna(), "other"
            )
        return frame.assign(**columns)


class Tfidf(Operation):
    """Weights of the `most` frequent words of the training texts by rarity: `<name>_word_<word>`."""

    op: Literal["tfidf"] = "tfidf"
    columns: Columns
    most: Annotated[int, Field(ge=1, le=1000)] = 50

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: self._fit_vocabulary(to_category_text(frame[name]).fillna("")) for name in self.columns}

    def _fit_vocabulary(self, text: pd.Series) -> dict[str, Any]:
        # A word of one text alone would tell that row apart, and nothing of others.
        vectorizer = TfidfVectorizer(max_features=self.most, min_df=2, stop_words="english")
        try:
            vectorizer.fit(text)
        except ValueError:  # the texts are empty, or have no word in common
            return {"words": [], "idf": []}
        return {
            "words": [str(word) for word in vectorizer.get_feature_names_out()],
            "idf": vectorizer.idf_.tolist(),
        }

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns = [
            _weights(name, to_category_text(frame[name]).fillna(""), **state[name]) for name in self.columns
        ]
        return pd.concat([frame, *columns], axis=1)


def _weights(name: str, text: pd.Series, words: list[str], idf: list[float]) -> pd.DataFrame:
    if not words:
        return pd.DataFrame(index=text.index)
    # Words and weights are stored as JSON, so a model needs no pickled vectorizer.
    vectorizer = TfidfVectorizer(vocabulary=words)
    vectorizer.idf_ = np.array(idf)
    weights = vectorizer.transform(text).toarray()
    return pd.DataFrame(weights, index=text.index, columns=[f"{name}_word_{word}" for word in words])
