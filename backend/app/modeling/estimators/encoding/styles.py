"""How each style of estimator sees a column."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from app.modeling.estimators.encoding.calendar import elapsed_days, part_of, parts_of
from app.modeling.estimators.encoding.codes import Code, learn_places, places
from app.modeling.estimators.encoding.numbers import one_hot, one_of
from app.modeling.estimators.encoding.words import Words
from app.modeling.recipe.transforms.columns import as_text
from app.modeling.recipe.transforms.dates import as_dates
from app.modeling.table.columns import ColumnKind

MANY = 10
"""Categories from which on trees are also told how frequent each is."""


Blocks = tuple[np.ndarray, Any]
"""The numbers that one column becomes: (rows, width) dense float32, and (rows, width) sparse or None."""

Names = tuple[list[str], list[str]]
"""What follows a column's name in the features of its dense and of its sparse block."""

SPARSE_BELOW = 0.25
"""A matrix with a smaller share of values that are not zero stays sparse."""


@dataclass(frozen=True)
class Style:
    """`learn` gives None for a column that is of no use; numbers are not its business (`Numbers`).

    `scaled`: whether it wants all numbers alike. `directions`: whether it wants texts placed along some.
    """

    scaled: bool
    learn: Callable[[pd.Series, ColumnKind, bool], Code | None]
    encode: Callable[[pd.Series, Code], Blocks]
    text: Callable[[pd.Series, Words], Blocks]
    join: Callable[[list[Blocks], int], Any]
    names: Callable[[Code, Words | None], Names]
    directions: bool


def _tree_learn(column: pd.Series, kind: ColumnKind, in_order: bool) -> Code | None:
    if kind is ColumnKind.DATETIME:
        return {"as": "date", "parts": parts_of(as_dates(column), in_order)}
    learned = learn_places(column)
    if learned["counts"][0] < 2:
        return None  # a name of its own for each row says nothing of other rows
    return {"as": "place", **learned}


def _tree_encode(column: pd.Series, code: Code) -> Blocks:
    if code["as"] == "date":
        dates = as_dates(column)
        numbers = [elapsed_days(dates), *(part_of(dates, part) for part in code["parts"])]
        return np.column_stack(numbers).astype("float32"), None
    at = places(column, code["categories"])
    place = np.where(at < 0, len(code["categories"]), at).astype("float32")
    place[column.isna().to_numpy()] = np.nan
    if len(code["categories"]) <= MANY:
        return place[:, None], None
    counts = np.array([*code["counts"], 0], dtype="float32")[at]
    return np.column_stack([place, counts]), None


def _tree_text(column: pd.Series, words: Words) -> Blocks:
    text = as_text(column).fillna("")
    sizes = np.column_stack([text.str.len(), text.str.count(r"\S+")]).astype("float32")
    return np.column_stack([words.placed(column), sizes]), None


def _tree_names(code: Code, words: Words | None) -> Names:
    if words is not None:
        return [*_direction_names(words), " length", " words"], []
    if code["as"] == "date":
        return ["", *(f" {part}" for part in code["parts"])], []
    counted = code["as"] == "place" and len(code["categories"]) > MANY
    return ["", " count"] if counted else [""], []


def _direction_names(words: Words) -> list[str]:
    width = 0 if words.directions_ is None else words.directions_.shape[1]
    return [f" text {place + 1}" for place in range(width)]


def _native_encode(column: pd.Series, code: Code) -> Blocks:
    if code["as"] == "date":
        return _tree_encode(column, code)
    at = places(column, code["categories"])
    at = np.where(at < 0, len(code["categories"]), at)
    return _nothing(len(column)), np.where(column.isna().to_numpy(), -1, at).astype("int32")[:, None]


def _native_names(code: Code, words: Words | None) -> Names:
    return ([], [""]) if words is None and code["as"] == "place" else _tree_names(code, words)


def _frame(blocks: list[Blocks], rows: int) -> pd.DataFrame:
    """Numbers as float32, then categories as int32."""
    kinds = [kind if isinstance(kind, np.ndarray) else kind.toarray() for _, kind in blocks if kind is not None]
    numbers = pd.DataFrame(_dense([(dense, None) for dense, _ in blocks], rows))
    for kind in kinds:
        numbers[numbers.shape[1]] = kind[:, 0]
    return numbers


def _scaled_learn(most: int) -> Callable[[pd.Series, ColumnKind, bool], Code | None]:
    def learn(column: pd.Series, kind: ColumnKind, in_order: bool) -> Code | None:
        if kind is ColumnKind.DATETIME:
            dates = as_dates(column)
            parts = {part: _levels(part_of(dates, part)) for part in parts_of(dates, in_order)}
            return {"as": "date", **_scale(elapsed_days(dates)), "parts": parts}
        learned = learn_places(column, most, seen=2)
        return {"as": "one_hot", "categories": learned["categories"]} if learned["categories"] else None

    return learn


def _scale(days: np.ndarray) -> Code:
    known = days[~np.isnan(days)]
    return {"mean": float(known.mean()), "spread": float(known.std()) or 1.0}


def _levels(values: np.ndarray) -> list[float]:
    return [float(value) for value in np.unique(values[~np.isnan(values)])]


def _scaled_encode(column: pd.Series, code: Code) -> Blocks:
    if code["as"] == "one_hot":
        return _nothing(len(column)), one_hot(places(column, code["categories"]), len(code["categories"]))
    dates = as_dates(column)
    unit = np.clip((elapsed_days(dates) - code["mean"]) / code["spread"], -3, 3)
    parts = [one_of(part_of(dates, part), levels) for part, levels in code["parts"].items()]
    days = np.nan_to_num(unit).astype("float32")[:, None]
    return days, sparse.hstack(parts, format="csr") if parts else None


def _nothing(rows: int) -> np.ndarray:
    return np.zeros((rows, 0), dtype="float32")


def _scaled_names(code: Code) -> Names:
    if code["as"] == "one_hot":
        return [], [f"={category}" for category in code["categories"]]
    return [""], [f" {part}={level:g}" for part, levels in code["parts"].items() for level in levels]


def _linear_names(code: Code, words: Words | None) -> Names:
    if words is not None:
        return [], [f" {word}" for word in words.words_.split("\n")] if words.words_ else []
    return _scaled_names(code)


def _network_names(code: Code, words: Words | None) -> Names:
    return (_direction_names(words), []) if words is not None else _scaled_names(code)


def _dense(blocks: list[Blocks], rows: int) -> np.ndarray:
    """Dense blocks first, then the sparse ones; one column of zeros where there is none at all."""
    parts = [dense for dense, _ in blocks] + [thin.toarray() for _, thin in blocks if thin is not None]
    joined = np.concatenate([_nothing(rows), *parts], axis=1)
    return joined if joined.shape[1] else np.zeros((rows, 1), dtype="float32")


def _sparse_if_it_pays(blocks: list[Blocks], rows: int) -> Any:
    thin = [block for _, block in blocks if block is not None]
    solid = sum(dense.shape[1] for dense, _ in blocks)
    width = solid + sum(block.shape[1] for block in thin)
    if (solid * rows + sum(block.nnz for block in thin)) >= SPARSE_BELOW * width * rows:
        return _dense(blocks, rows)
    dense = sparse.csr_matrix(np.concatenate([_nothing(rows), *(dense for dense, _ in blocks)], axis=1))
    return sparse.hstack([dense, *thin], format="csr", dtype="float32")


_TREE = Style(False, _tree_learn, _tree_encode, _tree_text, _dense, _tree_names, directions=True)

STYLES: dict[str, Style] = {
    "blind": _TREE,
    "tree": _TREE,
    "native": Style(False, _tree_learn, _native_encode, _tree_text, _frame, _native_names, directions=True),
    "linear": Style(
        True,
        _scaled_learn(2000),
        _scaled_encode,
        lambda column, words: (_nothing(len(column)), words.weights(column)),
        _sparse_if_it_pays,
        _linear_names,
        directions=False,
    ),
    "network": Style(
        True,
        _scaled_learn(30),
        _scaled_encode,
        lambda column, words: (words.placed(column) * 4, None),
        _dense,
        _network_names,
        directions=True,
    ),
}
