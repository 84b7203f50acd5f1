"""The target inside something else: in the words of a text, or in the sum or product of other columns."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import CountVectorizer

from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.numeric import to_float
from app.modeling.table.sampling import sample_rows

_WORD = r"(?u)\w+"
MAX_TEXTS, MAX_WORDS = 4000, 3000
TELLS_APART = 0.95
"""Share of rows that one word tells apart (hits minus false alarms). Honest words stay far below."""
EXACT = 1 - 1e-6
MAX_PARTS, MAX_COLUMNS, MAX_ROWS = 4, 60, 2000


@dataclass(frozen=True)
class Giveaway:
    what: str
    share: float


def outcome_in_text(texts: pd.Series, labels: pd.Series, is_classification: bool) -> Giveaway | None:
    """A word that is written for one class and for no other, or the number itself."""
    rows = sample_rows(len(texts), MAX_TEXTS, 0)
    texts, labels = texts.iloc[rows].fillna(""), labels.iloc[rows]
    return _telling_word(texts, labels) if is_classification else _number(texts, labels)


def _telling_word(texts: pd.Series, labels: pd.Series) -> Giveaway | None:
    reader = CountVectorizer(binary=True, max_features=MAX_WORDS, min_df=3, token_pattern=_WORD)
    try:
        marks = reader.fit_transform(texts)
    except ValueError:  # no word is there three times
        return None
    classes = labels.astype(int).to_numpy()
    known = np.unique(classes)
    is_so = (classes[:, None] == known[None, :]).astype("float64")
    hits = np.asarray(marks.T @ is_so)
    rows, written = is_so.sum(axis=0), np.asarray(marks.sum(axis=0)).ravel()
    apart = hits / rows - (written[:, None] - hits) / (len(classes) - rows)
    share = float(np.abs(apart).max() if len(known) == 2 else apart.max(axis=0).min())
    if share < TELLS_APART:
        return None
    word = reader.get_feature_names_out()[int(np.abs(apart).max(axis=1).argmax())]
    return Giveaway(f"the word {word!r} alone tells {share:.0%} of the rows apart", share)


def _number(texts: pd.Series, labels: pd.Series) -> Giveaway | None:
    """Any of the first three numbers in a text that moves with the target."""
    found = texts.str.replace(r"(?<=\d),(?=\d{3})", "", regex=True).str.findall(r"-?\d+(?:\.\d+)?").str[:3]
    for place in range(3):
        numbers = pd.to_numeric(found.str[place], errors="coerce")
        both = numbers.notna()
        if both.mean() < 0.8 or numbers.nunique() < 10:
            continue
        together = float(spearmanr(numbers[both], labels[both]).statistic)
        if together >= 0.995:
            return Giveaway(f"a number in it is the target (rank correlation {together:.4f})", together)
    return None


def parts_of_target(inputs: pd.DataFrame, labels: pd.Series) -> tuple[str, ...]:
    """Two to four numeric columns whose weighted sum, or product, is the target to rounding; else none."""
    names = [str(name) for name in inputs.columns if column_kind(inputs[name]) is ColumnKind.NUMBER]
    if not 2 <= len(names) <= MAX_COLUMNS:
        return ()
    rows = sample_rows(len(inputs), MAX_ROWS, 0)
    values = np.column_stack([to_float(inputs[name].iloc[rows]).to_numpy() for name in names])
    truth = labels.iloc[rows].to_numpy()
    known = np.isfinite(values).all(axis=1) & np.isfinite(truth)
    values, truth = values[known], truth[known]
    if len(truth) < 4 * len(names) + 20:
        return ()
    return _parts(values, truth, names) or _factors(values, truth, names)


def _factors(values: np.ndarray, truth: np.ndarray, names: list[str]) -> tuple[str, ...]:
    positive = np.asarray((values > 0).all(axis=0))
    if (truth <= 0).any() or positive.sum() < 2:
        return ()
    kept = [name for name, is_positive in zip(names, positive, strict=True) if is_positive]
    return _parts(np.log(values[:, positive]), np.log(truth), kept)


def _parts(values: np.ndarray, truth: np.ndarray, names: list[str]) -> tuple[str, ...]:
    spread = values.std(axis=0)
    moving = np.flatnonzero(spread > 0)
    if len(moving) < 2 or not truth.std():
        return ()
    scaled = (values[:, moving] - values[:, moving].mean(axis=0)) / spread[moving]
    wanted = (truth - truth.mean()) / truth.std()
    weights, *_ = np.linalg.lstsq(scaled, wanted, rcond=None)
    heavy = moving[np.abs(weights) > 1e-3]
    if not 2 <= len(heavy) <= MAX_PARTS or _explained(values[:, heavy], truth) < EXACT:
        return ()
    return tuple(names[place] for place in heavy)


def _explained(values: np.ndarray, truth: np.ndarray) -> float:
    design = np.column_stack([np.ones(len(truth)), values])
    weights, *_ = np.linalg.lstsq(design, truth, rcond=None)
    return 1 - float(((truth - design @ weights) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
