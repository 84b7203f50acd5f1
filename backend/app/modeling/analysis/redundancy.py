"""Columns that say nothing, or nothing new: constants, identifiers, copies of another column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import pandas as pd

from app.modeling.analysis.leakage.columns import looks_like_row_number
from app.modeling.type_inference.decisions import infer_types
from app.modeling.type_inference.values import is_text

MIN_ROWS = 20
"""Of fewer rows little can be said."""
NEARLY = 0.999
GLANCE = 200
"""Rows that show whether a closer look is worth it."""
MIN_REPEATS = 0.02
"""An identifier repeats no more often than this."""

_UUID = r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?"
_CODE = r"[A-Za-z]{0,6}[-_#/]?\d[\w\-/.:]{2,}|[0-9a-fA-F]{16,}|(?=\S*\d)(?=\S*[A-Za-z])[\w\-]{8,}"
_ID_NAME = re.compile(
    r"(^|[_\W])(id|uuid|guid|key|hash|token|index|nr|number)$|[a-z](Id|ID)$|^(id|uuid)[_\W]", re.I
)


@dataclass(frozen=True)
class Redundant:
    """`kind`: `constant`, `near_constant`, `identifier`, `copy` or `recoded`; `of`: the column that stays."""

    column: str
    kind: str
    text: str
    confidence: float
    of: str | None = None

    @property
    def is_certain(self) -> bool:
        """Nothing is lost without it."""
        return self.confidence >= 0.9


def find_redundant(frame: pd.DataFrame, keep: Sequence[str] = ()) -> list[Redundant]:
    """Each column at most once; those in `keep` never, but others may be copies of them."""
    found: dict[str, Redundant] = {}
    for name in frame.columns:
        if str(name) not in keep and (one := _alone(frame[name])):
            found[str(name)] = one
    rest = [str(name) for name in frame.columns if str(name) not in found]
    twins = {one.column: one for one in _twins(frame[rest]) if one.column not in keep}
    return [one for name in map(str, frame.columns) if (one := found.get(name) or twins.get(name))]


def _alone(column: pd.Series) -> Redundant | None:
    name, rows = str(column.name), len(column)
    glance = column.iloc[:: max(1, rows // GLANCE)]
    different = glance.nunique(dropna=False)
    if different <= 10:
        return _hardly_varies(name, column.value_counts(dropna=False), rows)
    if rows < MIN_ROWS or different < (1 - MIN_REPEATS) * len(glance):
        return None
    if looks_like_row_number(column) or _names_rows(column, column.nunique()):
        return Redundant(name, "identifier", f"{name!r} names the rows: each has its own value.", 0.95)
    return None


def _hardly_varies(name: str, counts: pd.Series, rows: int) -> Redundant | None:
    if len(counts) <= 1:
        return Redundant(name, "constant", f"{name!r} has one value only.", 1.0)
    others = rows - int(counts.iloc[0])
    if rows < 1000 or others > (1 - NEARLY) * rows:
        return None
    text = f"{name!r} has the same value in all but {others} of {rows} rows."
    return Redundant(name, "near_constant", text, 0.9 if others < 5 else 0.6)


def _names_rows(column: pd.Series, distinct: int) -> bool:
    present = int(column.notna().sum())
    if distinct < (1 - MIN_REPEATS) * present or present < MIN_ROWS:
        return False
    if pd.api.types.is_integer_dtype(column.dtype):
        return _ID_NAME.search(str(column.name)) is not None
    if not is_text(column):
        return False
    words = column.dropna().head(2000).astype("str")
    looks = bool(words.str.fullmatch(f"{_UUID}|{_CODE}").mean() >= 0.95)
    return looks and not infer_types(words.head(500).to_frame())


def _twins(frame: pd.DataFrame) -> list[Redundant]:
    """Columns whose values stand for one another, row by row; the first of them stays.

    Texts may be written differently, and numbers may be a multiple of one another with another zero; many
    different values must be the same. What a number says of a place is not the same as the place's number.
    """
    kept: dict[tuple[str, bytes], list[str]] = {}
    found = []
    for name in map(str, frame.columns):
        like = _fingerprint(frame[name])
        before = kept.setdefault(like, [])
        twins = (one for of in before if (one := _twin(frame, name, of, like[0])))
        if twin := next(twins, None):
            found.append(twin)
        else:
            before.append(name)
    return found


def _twin(frame: pd.DataFrame, name: str, of: str, kind: str) -> Redundant | None:
    if frame[of].equals(frame[name]) or frame[of].astype("str").equals(frame[name].astype("str")):
        return Redundant(name, "copy", f"{name!r} is the same as {of!r} in every row.", 1.0, of)
    if kind == "text" or (kind == "number" and _is_linear(frame[of], frame[name])):
        return Redundant(name, "recoded", f"{name!r} says the same as {of!r} in other words.", 0.95, of)
    return None


def _is_linear(one: pd.Series, other: pd.Series) -> bool:
    values = pd.DataFrame({"one": one, "other": other}).dropna().astype("float64").to_numpy()
    if len(values) < 3 or (values == values[0]).all(axis=0).any():
        return False
    return bool(abs(np.corrcoef(values.T)[0, 1]) > 1 - 1e-9)


def _fingerprint(column: pd.Series) -> tuple[str, bytes]:
    """Of measurements the values themselves, else which rows have the same value."""
    glance = column.iloc[:: max(1, len(column) // GLANCE)]
    if glance.nunique() > 0.5 * len(glance):
        plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufM"
        hashed = column.to_numpy() if plain else pd.util.hash_pandas_object(column, index=False).to_numpy()
        return f"values {column.dtype.kind}", blake2b(hashed.tobytes(), digest_size=16).digest()
    codes, _ = pd.factorize(column)
    dated = pd.api.types.is_datetime64_any_dtype(column.dtype)
    kind = "text" if is_text(column) else "date" if dated else "number"
    return kind, blake2b(codes.astype(np.int32).tobytes(), digest_size=16).digest()
