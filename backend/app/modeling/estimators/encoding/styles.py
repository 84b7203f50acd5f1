"""Encodings of one column for each style of estimator."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from app.modeling.estimators.encoding.calendar import calendar_part, elapsed_days, select_parts
from app.modeling.estimators.encoding.codes import Code, category_positions, learn_categories
from app.modeling.estimators.encoding.numbers import one_hot, one_hot_levels
from app.modeling.estimators.encoding.text_vectorizer import TextVectorizer
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.recipe.transforms.dates import to_dates
from app.modeling.table.column_kinds import ColumnKind

MAX_UNCOUNTED_CATEGORIES = 10
"""With more categories than this, trees get the count of each as well."""


Blocks = tuple[np.ndarray, Any]
"""Encoded column: (rows, width) dense float32, and (rows, width) sparse or None."""

FeatureSuffixes = tuple[list[str], list[str]]
"""Suffixes of the column's name for the features of its dense and its sparse block."""

MAX_SPARSE_DENSITY = 0.25
"""A matrix with a smaller share of nonzero values stays sparse."""


@dataclass(frozen=True)
class Style:
    """Encoding of columns that are not numbers (see `Numbers`). `learn` returns None for a useless column.

    `scaled`: numbers need one scale. `directions`: texts are projected on a few directions.
    """

    scaled: bool
    learn: Callable[[pd.Series, ColumnKind, bool], Code | None]
    encode: Callable[[pd.Series, Code], Blocks]
    text: Callable[[pd.Series, TextVectorizer], Blocks]
    join: Callable[[list[Blocks], int], Any]
    names: Callable[[Code, TextVectorizer | None], FeatureSuffixes]
    directions: bool


def _tree_learn(column: pd.Series, kind: ColumnKind, in_order: bool) -> Code | None:
    if kind is ColumnKind.DATETIME:
        return {"as": "date", "parts": select_parts(to_dates(column), in_order)}
    learned = learn_categories(column)
    if learned["counts"][0] < 2:
        return None  # values that never repeat cannot generalise
    return {"as": "place", **learned}


def _tree_encode(column: pd.Series, code: Code) -> Blocks:
    if code["as"] == "date":
        dates = to_dates(column)
        numbers = [elapsed_days(dates), *(calendar_part(dates, part) for part in code["parts"])]
        return np.column_stack(numbers).astype("float32"), None
    positions = category_positions(column, code["categories"])
    # Unseen values come after the rarest category, which is the most like them.
    codes = np.where(positions < 0, len(code["categories"]), positions).astype("float32")
    codes[column.isna().to_numpy()] = np.nan
    if len(code["categories"]) <= MAX_UNCOUNTED_CATEGORIES:
        return codes[:, None], None
    # Position -1, of missing and unseen values, takes the zero at the end.
    counts = np.array([*code["counts"], 0], dtype="float32")[positions]
    return np.column_stack([codes, counts]), None


def _tree_text(column: pd.Series, words: TextVectorizer) -> Blocks:
    text = to_category_text(column).fillna("")
    sizes = np.column_stack([text.str.len(), text.str.count(r"\S+")]).astype("float32")
    return np.column_stack([words.project(column), sizes]), None


def _tree_names(code: Code, words: TextVectorizer | None) -> FeatureSuffixes:
    if words is not None:
        return [*_direction_names(words), " length", " words"], []
    if code["as"] == "date":
        return ["", *(f" {part}" for part in code["parts"])], []
    has_counts = code["as"] == "place" and len(code["categories"]) > MAX_UNCOUNTED_CATEGORIES
    return ["", " count"] if has_counts else [""], []


def _direction_names(words: TextVectorizer) -> list[str]:
    width = 0 if words.directions_ is None else words.directions_.shape[1]
    return [f" text {position + 1}" for position in range(width)]


def _native_encode(column: pd.Series, code: Code) -> Blocks:
    if code["as"] == "date":
        return _tree_encode(column, code)
    positions = category_positions(column, code["categories"])
    positions = np.where(positions < 0, len(code["categories"]), positions)
    return _empty_block(len(column)), np.where(column.isna().to_numpy(), -1, positions).astype("int32")[:, None]


def _native_names(code: Code, words: TextVectorizer | None) -> FeatureSuffixes:
    return ([], [""]) if words is None and code["as"] == "place" else _tree_names(code, words)


def _frame(blocks: list[Blocks], rows: int) -> pd.DataFrame:
    """Join as a frame: numbers as float32, then categories as int32."""
    categories = [
        block if isinstance(block, np.ndarray) else block.toarray() for _, block in blocks if block is not None
    ]
    numbers = pd.DataFrame(_dense([(dense, None) for dense, _ in blocks], rows))
    for block in categories:
        numbers[numbers.shape[1]] = block[:, 0]
    return numbers


def _scaled_learn(max_categories: int) -> Callable[[pd.Series, ColumnKind, bool], Code | None]:
    def learn(column: pd.Series, kind: ColumnKind, in_order: bool) -> Code | None:
        if kind is ColumnKind.DATETIME:
            dates = to_dates(column)
            parts = {part: _levels(calendar_part(dates, part)) for part in select_parts(dates, in_order)}
            return {"as": "date", **_scale(elapsed_days(dates)), "parts": parts}
        # A weight that one row decides does not hold for others.
        learned = learn_categories(column, max_categories, min_count=2)
        return {"as": "one_hot", "categories": learned["categories"]} if learned["categories"] else None

    return learn


def _scale(days: np.ndarray) -> Code:
    present = days[~np.isnan(days)]
    return {"mean": float(present.mean()), "spread": float(present.std()) or 1.0}


def _levels(values: np.ndarray) -> list[float]:
    return [float(value) for value in np.unique(values[~np.isnan(values)])]


def _scaled_encode(column: pd.Series, code: Code) -> Blocks:
    if code["as"] == "one_hot":
        return _empty_block(len(column)), one_hot(
            category_positions(column, code["categories"]), len(code["categories"])
        )
    dates = to_dates(column)
    # Bounded, since a linear model would carry its trend on to any later date.
    unit = np.clip((elapsed_days(dates) - code["mean"]) / code["spread"], -3, 3)
    parts = [one_hot_levels(calendar_part(dates, part), levels) for part, levels in code["parts"].items()]
    days = np.nan_to_num(unit).astype("float32")[:, None]
    return days, sparse.hstack(parts, format="csr") if parts else None


def _empty_block(rows: int) -> np.ndarray:
    return np.zeros((rows, 0), dtype="float32")


def _scaled_names(code: Code) -> FeatureSuffixes:
    if code["as"] == "one_hot":
        return [], [f"={category}" for category in code["categories"]]
    return [""], [f" {part}={level:g}" for part, levels in code["parts"].items() for level in levels]


def _linear_names(code: Code, words: TextVectorizer | None) -> FeatureSuffixes:
    if words is not None:
        return [], [f" {word}" for word in words.words_.split("\n")] if words.words_ else []
    return _scaled_names(code)


def _network_names(code: Code, words: TextVectorizer | None) -> FeatureSuffixes:
    return (_direction_names(words), []) if words is not None else _scaled_names(code)


def _dense(blocks: list[Blocks], rows: int) -> np.ndarray:
    """Join as a dense matrix, dense blocks first; one column of zeros if there is no block."""
    parts = [dense for dense, _ in blocks] + [block.toarray() for _, block in blocks if block is not None]
    joined = np.concatenate([_empty_block(rows), *parts], axis=1)
    return joined if joined.shape[1] else np.zeros((rows, 1), dtype="float32")


def _sparse_or_dense(blocks: list[Blocks], rows: int) -> Any:
    sparse_blocks = [block for _, block in blocks if block is not None]
    dense_width = sum(dense.shape[1] for dense, _ in blocks)
    width = dense_width + sum(block.shape[1] for block in sparse_blocks)
    if (dense_width * rows + sum(block.nnz for block in sparse_blocks)) >= MAX_SPARSE_DENSITY * width * rows:
        return _dense(blocks, rows)
    dense = sparse.csr_matrix(np.concatenate([_empty_block(rows), *(dense for dense, _ in blocks)], axis=1))
    return sparse.hstack([dense, *sparse_blocks], format="csr", dtype="float32")


_TREE = Style(False, _tree_learn, _tree_encode, _tree_text, _dense, _tree_names, directions=True)

STYLES: dict[str, Style] = {
    "blind": _TREE,
    "tree": _TREE,
    "native": Style(False, _tree_learn, _native_encode, _tree_text, _frame, _native_names, directions=True),
    "linear": Style(
        True,
        _scaled_learn(2000),
        _scaled_encode,
        lambda column, words: (_empty_block(len(column)), words.weights(column)),
        _sparse_or_dense,
        _linear_names,
        directions=False,
    ),
    "network": Style(
        True,
        _scaled_learn(30),
        _scaled_encode,
        # Texts have length 1 over 20 directions: four times that is about the scale of the numbers.
        lambda column, words: (words.project(column) * 4, None),
        _dense,
        _network_names,
        directions=True,
    ),
}
