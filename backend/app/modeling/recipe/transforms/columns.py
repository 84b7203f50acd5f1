"""Operations on the set, type and categories of columns."""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from app.modeling.recipe.transforms.operation import Columns, Operation, Share, State
from app.modeling.type_inference.class_spellings import count_spellings, fold_spelling, most_frequent_spellings
from app.modeling.type_inference.distinct_values import count_raw_values, count_values, is_text, map_distinct
from app.modeling.type_inference.number_format import guess_numbers
from app.modeling.type_inference.number_spellings import NumberFormat
from app.modeling.type_inference.numbers import parse_numbers
from app.modeling.type_inference.units import CURRENCIES
from app.modeling.type_inference.vocabulary import is_missing_word


class Drop(Operation):
    """Drop columns."""

    op: Literal["drop"] = "drop"
    columns: Columns

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.drop(columns=list(self.columns))


class ToNumber(Operation):
    """Parse numbers in text. Units of the training rows are converted to one; other texts become missing."""

    op: Literal["to_number"] = "to_number"
    columns: Columns
    decimal: Literal[".", ","] = "."

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: self._fit_units(name, frame[name]) for name in self.columns}

    def _fit_units(self, name: str, column: pd.Series) -> State:
        """Infer the separator and the units of a column.

        Where type inference finds no numbers with this decimal mark, only currencies and `%` are units.
        """
        values = count_values(column) if is_text(column) else {}
        guess = guess_numbers(name, {text: rows for text, rows in values.items() if not is_missing_word(text)})
        if guess is None or guess.number_format.decimal != self.decimal:
            currencies = dict.fromkeys(sorted(CURRENCIES), 1.0)
            return {"group": self._group, "before": currencies, "after": {**currencies, "%": 1.0}}
        inferred = guess.number_format
        return {
            "group": inferred.group,
            "before": dict(inferred.before or {}),
            "after": dict(inferred.after or {}),
        }

    @property
    def _group(self) -> str:
        return "," if self.decimal == "." else "."

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.assign(**{name: self._parse(frame[name], state.get(name)) for name in self.columns})

    def _parse(self, column: pd.Series, units: State | None) -> pd.Series:
        if pd.api.types.is_numeric_dtype(column.dtype):
            return column
        # Models stored before units were fitted have no state: they were trained on the bare numbers.
        number_format = NumberFormat(
            self.decimal, **(units or {"group": self._group, "before": None, "after": None})
        )
        return map_distinct(column, lambda texts: parse_numbers(texts, number_format), np.nan).astype("float64")


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
        counts = {name: count_raw_values(to_category_text(frame[name])) for name in self.columns}
        return {name: most_frequent_spellings(count_spellings(counts[name])) for name in self.columns}

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.assign(**{name: _merge(frame[name], state[name]) for name in self.columns})


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
            # Gaps make floats of whole numbers: `3` and `3.0` are one category.
            return column.astype("Int64").astype("str").where(column.notna())
    return column.astype("str").where(column.notna())


def _shares(column: pd.Series) -> pd.Series:
    return to_category_text(column).value_counts(normalize=True)


def _merge(column: pd.Series, spellings: Mapping[str, str]) -> pd.Series:
    # Models stored before spellings were folded as in type inference have keys in lower case only.
    by_class = {fold_spelling(name): spelling for name, spelling in spellings.items()}
    text = to_category_text(column)
    merged = {value: by_class.get(fold_spelling(value), value.strip()) for value in text.dropna().unique()}
    return text.map(merged).astype("str").where(text.notna())
