"""Operations on the set, type and categories of columns."""

from typing import Annotated, Literal

import pandas as pd
from pydantic import Field

from app.modeling.recipe.transforms.operation import Columns, Operation, Share, State


class Drop(Operation):
    """Drop columns."""

    op: Literal["drop"] = "drop"
    columns: Columns

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.drop(columns=list(self.columns))


class ToNumber(Operation):
    """Parse numbers in text, ignoring currency signs, thousands separators and percent signs."""

    op: Literal["to_number"] = "to_number"
    columns: Columns
    decimal: Literal[".", ","] = "."

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.assign(**{name: self._read(frame[name]) for name in self.columns})

    def _read(self, column: pd.Series) -> pd.Series:
        if pd.api.types.is_numeric_dtype(column.dtype):
            return column
        text = column.astype("str").str.replace(r"[^0-9eE+\-.,]", "", regex=True)
        thousands = "," if self.decimal == "." else "."
        text = text.str.replace(thousands, "", regex=False).str.replace(self.decimal, ".", regex=False)
        return pd.to_numeric(text, errors="coerce").astype("float64")


class ToCategory(Operation):
    """Convert numbers to categories, for example codes and ids of kinds."""

    op: Literal["to_category"] = "to_category"
    columns: Columns

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.assign(**{name: to_category_text(frame[name]) for name in self.columns})


class MergeCategories(Operation):
    """Merge spellings of a category that differ in case and space into the most frequent training spelling."""

    op: Literal["merge_spellings"] = "merge_spellings"
    columns: Columns

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: _spellings(to_category_text(frame[name])) for name in self.columns}

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        merged = {}
        for name in self.columns:
            text = to_category_text(frame[name])
            key = text.str.strip().str.lower()
            merged[name] = key.map(state[name]).fillna(text.str.strip()).astype("str")
        return frame.assign(**merged)


class GroupRare(Operation):
    """Replace categories of fewer than `min_share` of the training rows, and unseen ones, by `other`."""

    op: Literal["group_rare"] = "group_rare"
    columns: Columns
    min_share: Share = 0.01
    most: Annotated[int, Field(ge=1, le=1000)] = 30

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: self._frequent(to_category_text(frame[name])) for name in self.columns}

    def _frequent(self, text: pd.Series) -> list[str]:
        shares = text.value_counts(normalize=True).iloc[: self.most]
        return [str(value) for value in shares[shares >= self.min_share].index]

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        grouped = {}
        for name in self.columns:
            text = to_category_text(frame[name])
            grouped[name] = text.where(text.isin(state[name]) | text.isna(), "other")
        return frame.assign(**grouped)


class Frequency(Operation):
    """The share of a category in the training rows (0 if unseen), for columns with many categories."""

    op: Literal["frequency"] = "frequency"
    columns: Columns

    def fit(self, frame: pd.DataFrame) -> State:
        return {
            name: {str(key): float(share) for key, share in _shares(frame[name]).items()}
            for name in self.columns
        }

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        shares = {
            f"{name}_share": to_category_text(frame[name]).map(state[name]).fillna(0.0).astype("float64")
            for name in self.columns
        }
        return frame.assign(**shares)


def to_category_text(column: pd.Series) -> pd.Series:
    """Convert values to text, whole numbers without a decimal point; missing values stay missing."""
    if pd.api.types.is_float_dtype(column.dtype):
        present = column.dropna()
        if bool((present == present.round()).all()):
            return column.astype("Int64").astype("str").where(column.notna())
    return column.astype("str").where(column.notna())


def _shares(column: pd.Series) -> pd.Series:
    return to_category_text(column).value_counts(normalize=True)


def _spellings(text: pd.Series) -> dict[str, str]:
    trimmed = text.dropna().str.strip()
    most_frequent_first = trimmed.value_counts().index
    spellings: dict[str, str] = {}
    for spelling in most_frequent_first:
        spellings.setdefault(str(spelling).lower(), str(spelling))
    return spellings
