"""The target hidden inside other columns: in the words of a text, or in a sum or product of columns."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import CountVectorizer

from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.numeric import to_float
from app.modeling.table.sampling import sample_rows

_WORD = r"(?u)\w+"
MAX_TEXTS, MAX_WORDS = 4000, 3000
"""Texts that are searched and distinct words that are counted: a leaking word is frequent in both."""
MIN_SEPARATION = 0.95
"""Hit rate minus false-alarm rate of one word. Words that do not leak stay far below."""
MIN_EXPLAINED = 1 - 1e-6
"""Explained variance of a target that is exact except for rounding."""
MAX_PARTS, MAX_COLUMNS, MAX_ROWS = 4, 60, 2000
"""Columns that make up a target, and columns and rows that are searched for them."""


@dataclass(frozen=True)
class TargetEvidence:
    """Evidence of the target inside a text, as a clause, and its strength from 0 to 1."""

    description: str
    share: float


def find_outcome_in_text(texts: pd.Series, labels: pd.Series, is_classification: bool) -> TargetEvidence | None:
    """Find a word that occurs in one class only, or a number that is the target."""
    rows = sample_rows(len(texts), MAX_TEXTS, 0)
    texts, labels = texts.iloc[rows].fillna(""), labels.iloc[rows]
    return _find_separating_word(texts, labels) if is_classification else _find_target_number(texts, labels)


def _find_separating_word(texts: pd.Series, labels: pd.Series) -> TargetEvidence | None:
    vectorizer = CountVectorizer(binary=True, max_features=MAX_WORDS, min_df=3, token_pattern=_WORD)
    try:
        marks = vectorizer.fit_transform(texts)
    except ValueError:  # no word occurs in three texts
        return None
    classes = labels.astype(int).to_numpy()
    present = np.unique(classes)
    indicators = (classes[:, None] == present[None, :]).astype("float64")
    hits = np.asarray(marks.T @ indicators)
    rows, occurrences = indicators.sum(axis=0), np.asarray(marks.sum(axis=0)).ravel()
    separation = hits / rows - (occurrences[:, None] - hits) / (len(classes) - rows)
    # Of two classes one word tells both, by its absence too; of more, each class needs a word of its own.
    share = float(np.abs(separation).max() if len(present) == 2 else separation.max(axis=0).min())
    if share < MIN_SEPARATION:
        return None
    word = vectorizer.get_feature_names_out()[int(np.abs(separation).max(axis=1).argmax())]
    return TargetEvidence(f"the word {word!r} alone separates {share:.0%} of the rows", share)


def _find_target_number(texts: pd.Series, labels: pd.Series) -> TargetEvidence | None:
    """Find the target among the first three numbers of each text."""
    numbers_in_text = (
        texts.str.replace(r"(?<=\d),(?=\d{3})", "", regex=True).str.findall(r"-?\d+(?:\.\d+)?").str[:3]
    )
    for position in range(3):
        numbers = pd.to_numeric(numbers_in_text.str[position], errors="coerce")
        both = numbers.notna()
        if both.mean() < 0.8 or numbers.nunique() < 10:
            continue
        correlation = float(spearmanr(numbers[both], labels[both]).statistic)
        if correlation >= 0.995:
            return TargetEvidence(
                f"a number in it is the target (rank correlation {correlation:.4f})", correlation
            )
    return None


def find_target_parts(inputs: pd.DataFrame, labels: pd.Series) -> tuple[str, ...]:
    """Find two to four numeric columns whose weighted sum, or product, equals the target to rounding."""
    names = [str(name) for name in inputs.columns if column_kind(inputs[name]) is ColumnKind.NUMBER]
    if not 2 <= len(names) <= MAX_COLUMNS:
        return ()
    rows = sample_rows(len(inputs), MAX_ROWS, 0)
    values = np.column_stack([to_float(inputs[name].iloc[rows]).to_numpy() for name in names])
    truth = labels.iloc[rows].to_numpy()
    complete = np.isfinite(values).all(axis=1) & np.isfinite(truth)
    values, truth = values[complete], truth[complete]
    # Few rows with many columns are fitted exactly by chance.
    if len(truth) < 4 * len(names) + 20:
        return ()
    return _parts(values, truth, names) or _factors(values, truth, names)


def _factors(values: np.ndarray, truth: np.ndarray, names: list[str]) -> tuple[str, ...]:
    positive = np.asarray((values > 0).all(axis=0))
    if (truth <= 0).any() or positive.sum() < 2:
        return ()
    positive_names = [name for name, is_positive in zip(names, positive, strict=True) if is_positive]
    # The logarithm of a product is a sum.
    return _parts(np.log(values[:, positive]), np.log(truth), positive_names)


def _parts(values: np.ndarray, truth: np.ndarray, names: list[str]) -> tuple[str, ...]:
    spread = values.std(axis=0)
    moving = np.flatnonzero(spread > 0)
    if len(moving) < 2 or not truth.std():
        return ()
    # In standard deviations a weight near zero means no part, whatever the units are.
    scaled = (values[:, moving] - values[:, moving].mean(axis=0)) / spread[moving]
    scaled_target = (truth - truth.mean()) / truth.std()
    weights, *_ = np.linalg.lstsq(scaled, scaled_target, rcond=None)
    relevant = moving[np.abs(weights) > 1e-3]
    if not 2 <= len(relevant) <= MAX_PARTS or _explained(values[:, relevant], truth) < MIN_EXPLAINED:
        return ()
    return tuple(names[position] for position in relevant)


def _explained(values: np.ndarray, truth: np.ndarray) -> float:
    design = np.column_stack([np.ones(len(truth)), values])
    weights, *_ = np.linalg.lstsq(design, truth, rcond=None)
    return 1 - float(((truth - design @ weights) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
