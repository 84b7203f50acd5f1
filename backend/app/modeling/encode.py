"""Features -> the numbers that an estimator takes, fitted on training rows only."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

from app.modeling.columns import Holds, holds
from app.modeling.operations.columns import as_text
from app.modeling.operations.step import quiet_float

Code = dict[str, Any]

MOST_ONE_HOT = 30


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A frame -> a float matrix. Constant and empty columns, and raw free text, are left out.

    `style="tree"`: numbers as they are (missing stays missing), categories as the place of their name.
    `style="linear"`: numbers with the median for missing ones and a flag for them, scaled to unit variance and
    held within 6 deviations; categories as one column each. A category never seen is missing, or all zeros.
    """

    def __init__(self, style: str = "tree") -> None:
        self.style = style

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        learn = _LEARN[self.style]
        self.codes_: list[Code] = []
        for name in X.columns:
            column: pd.Series = X[name]
            kind = holds(column)
            if kind not in (Holds.EMPTY, Holds.TEXT) and column.nunique(dropna=False) > 1:
                self.codes_.append({"column": str(name), **learn(column, kind)})
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        parts = [_ENCODE[code["as"]](X[str(code["column"])], code) for code in self.codes_]
        if not parts:
            return np.zeros((len(X), 1))
        return np.column_stack(parts)

    def get_feature_names_out(self, input_features: object = None) -> list[str]:
        names = [name for code in self.codes_ for name in _names(code)]
        return names or ["nothing"]


def as_number(column: pd.Series) -> np.ndarray:
    """Finite floats; dates are days since 1970; anything else is missing."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        aware = column.dt.tz_convert("UTC").dt.tz_localize(None) if column.dt.tz is not None else column
        column = (aware - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    values = quiet_float(column).to_numpy(dtype="float64", na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def _is_number(kind: Holds) -> bool:
    return kind in (Holds.NUMBER, Holds.BOOLEAN, Holds.DATETIME)


def _learn_tree(column: pd.Series, kind: Holds) -> Code:
    if _is_number(kind):
        return {"as": "number"}
    return {"as": "place", "categories": sorted(str(value) for value in as_text(column).dropna().unique())}


def _learn_linear(column: pd.Series, kind: Holds) -> Code:
    if not _is_number(kind):
        frequent = as_text(column).value_counts().index[:MOST_ONE_HOT]
        return {"as": "one_hot", "categories": sorted(str(value) for value in frequent)}
    values = as_number(column)
    known = values[~np.isnan(values)]
    if not len(known):
        return {"as": "scaled", "median": 0.0, "mean": 0.0, "scale": 1.0, "flag": False}
    filled = np.where(np.isnan(values), np.median(known), values)
    return {
        "as": "scaled",
        "median": float(np.median(known)),
        "mean": float(filled.mean()),
        "scale": float(filled.std()) or 1.0,
        "flag": bool(len(known) < len(values)),
    }


def _scaled(column: pd.Series, code: Code) -> np.ndarray:
    values = as_number(column)
    missing = np.isnan(values)
    scaled = (np.where(missing, code["median"], values) - code["mean"]) / code["scale"]
    bounded = np.clip(scaled, -6, 6)
    return np.column_stack([bounded, missing]) if code["flag"] else bounded


def _place(column: pd.Series, code: Code) -> np.ndarray:
    places = {category: float(place) for place, category in enumerate(code["categories"])}
    return as_text(column).map(places).to_numpy(dtype="float64", na_value=np.nan)


def _one_hot(column: pd.Series, code: Code) -> np.ndarray:
    text = as_text(column).to_numpy(dtype=object)
    return np.column_stack([text == category for category in code["categories"]]).astype("float64")


def _names(code: Code) -> list[str]:
    if code["as"] == "one_hot":
        return [f"{code['column']}={category}" for category in code["categories"]]
    return [code["column"], f"{code['column']} missing"] if code.get("flag") else [code["column"]]


_LEARN: dict[str, Callable[[pd.Series, Holds], Code]] = {"tree": _learn_tree, "linear": _learn_linear}
_ENCODE: dict[str, Callable[[pd.Series, Code], np.ndarray]] = {
    "number": lambda column, code: as_number(column),
    "place": _place,
    "scaled": _scaled,
    "one_hot": _one_hot,
}
