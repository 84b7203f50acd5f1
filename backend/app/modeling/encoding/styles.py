"""How each style of estimator sees a column."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from app.modeling.columns import Holds
from app.modeling.encoding.calendar import elapsed_days, part_of, parts_of
from app.modeling.encoding.codes import (
    Code,
    as_number,
    few_numbers,
    learn_places,
    learn_scale,
    normal,
    places,
    scaled,
)
from app.modeling.encoding.words import Words
from app.modeling.operations.columns import as_text
from app.modeling.operations.dates import as_dates

Block = Any
"""The columns that one column becomes: (rows, width), dense float32 or sparse."""

MANY = 10
"""Categories from which on trees are also told how frequent each is."""


@dataclass(frozen=True)
class Style:
    """`learn` gives None for a column that is of no use; `endings` follow its name in its features' names."""

    learn: Callable[[pd.Series, Holds, bool], Code | None]
    encode: Callable[[pd.Series, Code], Block]
    text: Callable[[pd.Series, Words], Block]
    join: Callable[[list[Block], int], Any]
    endings: Callable[[Code, Words | None], list[str]]
    directions: bool


def _is_number(kind: Holds) -> bool:
    return kind in (Holds.NUMBER, Holds.BOOLEAN)


def _tree_learn(column: pd.Series, kind: Holds, in_order: bool) -> Code | None:
    if _is_number(kind):
        return {"as": "number"}
    if kind is Holds.DATETIME:
        return {"as": "date", "parts": parts_of(as_dates(column), in_order)}
    learned = learn_places(column)
    if learned["counts"][0] < 2:
        return None  # a name of its own for each row says nothing of other rows
    return {"as": "place", **learned}


def _tree_encode(column: pd.Series, code: Code) -> Block:
    if code["as"] == "number":
        return as_number(column).astype("float32")[:, None]
    if code["as"] == "date":
        dates = as_dates(column)
        return np.column_stack([elapsed_days(dates), *(part_of(dates, part) for part in code["parts"])]).astype(
            "float32"
        )
    at = places(column, code["categories"])
    missing = as_text(column).isna().to_numpy()
    place = np.where(at < 0, len(code["categories"]), at).astype("float32")
    place[missing] = np.nan
    if len(code["categories"]) <= MANY:
        return place[:, None]
    counts = np.array([*code["counts"], 0], dtype="float32")[at]
    return np.column_stack([place, counts])


def _tree_text(column: pd.Series, words: Words) -> Block:
    text = as_text(column).fillna("")
    sizes = np.column_stack([text.str.len(), text.str.count(r"\S+")]).astype("float32")
    return np.column_stack([words.placed(column), sizes])


def _tree_endings(code: Code, words: Words | None) -> list[str]:
    if words is not None:
        width = 0 if words.directions_ is None else words.directions_.shape[1]
        return [f" text {place + 1}" for place in range(width)] + [" length", " words"]
    if code["as"] == "date":
        return ["", *(f" {part}" for part in code["parts"])]
    return ["", " count"] if code["as"] == "place" and len(code["categories"]) > MANY else [""]


def _tree_join(blocks: list[Block], rows: int) -> np.ndarray:
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((rows, 1), dtype="float32")


def _scaled_learn(most: int) -> Callable[[pd.Series, Holds, bool], Code | None]:
    def learn(column: pd.Series, kind: Holds, in_order: bool) -> Code | None:
        if _is_number(kind):
            values = as_number(column)
            return {"as": "scaled", **learn_scale(values), "values": few_numbers(values)}
        if kind is Holds.DATETIME:
            dates = as_dates(column)
            return {
                "as": "date",
                **learn_scale(elapsed_days(dates)),
                "parts": {part: _levels(part_of(dates, part)) for part in parts_of(dates, in_order)},
            }
        learned = learn_places(column, most, seen=2)
        return {"as": "one_hot", "categories": learned["categories"]} if learned["categories"] else None

    return learn


def _levels(values: np.ndarray) -> list[float]:
    return [float(value) for value in np.unique(values[~np.isnan(values)])]


def _scaled_encode(column: pd.Series, code: Code) -> Block:
    if code["as"] == "one_hot":
        return _one_hot(places(column, code["categories"]), len(code["categories"]))
    if code["as"] == "date":
        dates = as_dates(column)
        days = _number_block(elapsed_days(dates), code)
        parts = [_levels_block(part_of(dates, part), levels) for part, levels in code["parts"].items()]
        return sparse.hstack([days, *parts], format="csr", dtype="float32")
    values = as_number(column)
    return sparse.hstack(
        [_number_block(values, code), _levels_block(values, code["values"])], format="csr", dtype="float32"
    )


def _number_block(values: np.ndarray, code: Code) -> Block:
    columns = [scaled(values, code), normal(values, code)]
    if code["flag"]:
        columns.append(np.isnan(values))
    return sparse.csr_matrix(np.column_stack(columns).astype("float32"))


def _levels_block(values: np.ndarray, levels: list[float]) -> Block:
    if not levels:
        return sparse.csr_matrix((len(values), 0), dtype="float32")
    at = np.searchsorted(levels, values).clip(0, len(levels) - 1)
    known = np.array(levels)[at] == values
    return _one_hot(np.where(known, at, -1), len(levels))


def _one_hot(at: np.ndarray, width: int) -> Block:
    rows = np.flatnonzero(at >= 0)
    ones = np.ones(len(rows), dtype="float32")
    return sparse.csr_matrix((ones, (rows, at[rows])), shape=(len(at), width))


def _scaled_endings(code: Code, words: Words | None) -> list[str]:
    if code["as"] == "one_hot":
        return [f"={category}" for category in code["categories"]]
    number = ["", " rank", *([" missing"] if code["flag"] else [])]
    if code["as"] == "date":
        return number + [f" {part}={level:g}" for part, levels in code["parts"].items() for level in levels]
    return number + [f"={value:g}" for value in code["values"]]


def _linear_endings(code: Code, words: Words | None) -> list[str]:
    if words is not None:
        return [f" {word}" for word in words.words_.split("\n")] if words.words_ else []
    return _scaled_endings(code, words)


def _network_endings(code: Code, words: Words | None) -> list[str]:
    if words is not None:
        return _tree_endings(code, words)[:-2]
    return _scaled_endings(code, words)


def _linear_join(blocks: list[Block], rows: int) -> Any:
    if not blocks:
        return sparse.csr_matrix((rows, 1), dtype="float32")
    return sparse.hstack(blocks, format="csr", dtype="float32")


def _network_join(blocks: list[Block], rows: int) -> np.ndarray:
    dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
    return np.concatenate(dense, axis=1) if dense else np.zeros((rows, 1), dtype="float32")


STYLES: dict[str, Style] = {
    "tree": Style(_tree_learn, _tree_encode, _tree_text, _tree_join, _tree_endings, directions=True),
    "linear": Style(
        _scaled_learn(2000),
        _scaled_encode,
        lambda column, words: words.weights(column),
        _linear_join,
        _linear_endings,
        directions=False,
    ),
    "network": Style(
        _scaled_learn(30),
        _scaled_encode,
        lambda column, words: words.placed(column) * 4,
        _network_join,
        _network_endings,
        directions=True,
    ),
}
