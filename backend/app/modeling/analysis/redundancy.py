"""Redundant columns: constants, identifiers and copies of another column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import pandas as pd

from app.modeling.analysis.leakage.row_numbers import looks_like_row_number
from app.modeling.type_inference.column_decisions import infer_types
from app.modeling.type_inference.distinct_values import is_text

MIN_ROWS = 20
"""Fewer distinct rows prove no identifier."""
MIN_CONSTANT_SHARE = 0.999
"""Share of rows with the most frequent value from which a column is nearly constant."""
PROBE_ROWS = 200
"""Rows that show whether a column needs the full check."""
MAX_REPEATED_SHARE = 0.02
"""Share of rows of an identifier that may repeat another one."""

_UUID = r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?"
_CODE = r"[A-Za-z]{0,6}[-_#/]?\d[\w\-/.:]{2,}|[0-9a-fA-F]{16,}|(?=\S*\d)(?=\S*[A-Za-z])[\w\-]{8,}"
_ID_NAME = re.compile(
    r"(^|[_\W])(id|uuid|guid|key|hash|token|index|nr|number)$|[a-z](Id|ID)$|^(id|uuid)[_\W]", re.I
)


@dataclass(frozen=True)
class RedundantColumn:
    """A redundant column.

    `kind`: `constant`, `near_constant`, `identifier`, `copy` or `recoded`; `of`: the column to keep.
    """

    column: str
    kind: str
    text: str
    confidence: float
    of: str | None = None

    @property
    def is_certain(self) -> bool:
        """True if no information is lost without the column."""
        return self.confidence >= 0.9


def find_redundant(frame: pd.DataFrame, keep: Sequence[str] = ()) -> list[RedundantColumn]:
    """Find redundant columns, each once; those in `keep` are never reported, but others may be copies of
    them."""
    uninformative: dict[str, RedundantColumn] = {}
    for name in frame.columns:
        if str(name) not in keep and (redundancy := _check_column(frame[name])):
            uninformative[str(name)] = redundancy
    rest = [str(name) for name in frame.columns if str(name) not in uninformative]
    copies = {copy.column: copy for copy in _find_copies(frame[rest]) if copy.column not in keep}
    by_column = uninformative | copies
    return [by_column[name] for name in map(str, frame.columns) if name in by_column]


def find_identifiers(frame: pd.DataFrame, keep: Sequence[str] = ()) -> list[str]:
    """Name the columns with a value of its own in each row that are no measurement, without those in `keep`."""
    checks = {str(name): _check_column(frame[name]) for name in frame.columns if str(name) not in keep}
    return [name for name, redundancy in checks.items() if redundancy and redundancy.kind == "identifier"]


def _check_column(column: pd.Series) -> RedundantColumn | None:
    name, rows = str(column.name), len(column)
    # Evenly spaced, since the first rows of a sorted file may share a value.
    probe = column.iloc[:: max(1, rows // PROBE_ROWS)]
    different = probe.nunique(dropna=False)
    if different <= 10:
        return _check_variation(name, column.value_counts(dropna=False), rows)
    if rows < MIN_ROWS or different < (1 - MAX_REPEATED_SHARE) * len(probe):
        return None
    if looks_like_row_number(column) or _is_identifier(column, column.nunique()):
        return RedundantColumn(
            name, "identifier", f"{name!r} identifies the rows: each has its own value.", 0.95
        )
    return None


def _check_variation(name: str, counts: pd.Series, rows: int) -> RedundantColumn | None:
    if len(counts) <= 1:
        return RedundantColumn(name, "constant", f"{name!r} has only one value.", 1.0)
    other_rows = rows - int(counts.iloc[0])
    if rows < 1000 or other_rows > (1 - MIN_CONSTANT_SHARE) * rows:
        return None
    text = f"{name!r} has the same value in all but {other_rows} of {rows} rows."
    return RedundantColumn(name, "near_constant", text, 0.9 if other_rows < 5 else 0.6)


def _is_identifier(column: pd.Series, distinct: int) -> bool:
    present = int(column.notna().sum())
    if distinct < (1 - MAX_REPEATED_SHARE) * present or present < MIN_ROWS:
        return False
    if pd.api.types.is_integer_dtype(column.dtype):
        return _ID_NAME.search(str(column.name)) is not None
    if not is_text(column):
        return False
    words = column.dropna().head(2000).astype("str")
    matches = bool(words.str.fullmatch(f"{_UUID}|{_CODE}").mean() >= 0.95)
    # A code that reads as a number, a date or a duration is a measurement.
    return matches and not infer_types(words.head(500).to_frame())


def _find_copies(frame: pd.DataFrame) -> list[RedundantColumn]:
    """Columns that determine each other row by row; the first of each set is kept.

    Texts may be written differently, and numbers may be linear functions of each other; columns of many
    distinct values must be equal. A number per place (such as its area) is no copy of the place's own number.
    """
    kept_columns: dict[tuple[str, bytes], list[str]] = {}
    copies = []
    for name in map(str, frame.columns):
        # Only columns with one fingerprint are compared, instead of every pair.
        fingerprint = _fingerprint(frame[name])
        originals = kept_columns.setdefault(fingerprint, [])
        matches = (copy for of in originals if (copy := _compare(frame, name, of, fingerprint[0])))
        if match := next(matches, None):
            copies.append(match)
        else:
            originals.append(name)
    return copies


def _compare(frame: pd.DataFrame, name: str, of: str, kind: str) -> RedundantColumn | None:
    if frame[of].equals(frame[name]) or frame[of].astype("str").equals(frame[name].astype("str")):
        return RedundantColumn(name, "copy", f"{name!r} equals {of!r} in every row.", 1.0, of)
    if kind == "text" or (kind == "number" and _is_linear(frame[of], frame[name])):
        return RedundantColumn(name, "recoded", f"{name!r} is another coding of {of!r}.", 0.95, of)
    return None


def _is_linear(first: pd.Series, second: pd.Series) -> bool:
    values = pd.DataFrame({"first": first, "second": second}).dropna().astype("float64").to_numpy()
    if len(values) < 3 or (values == values[0]).all(axis=0).any():
        return False
    values = values / np.abs(values).max(axis=0)  # the sum of huge numbers would overflow
    return bool(abs(np.corrcoef(values.T)[0, 1]) > 1 - 1e-9)


def _fingerprint(column: pd.Series) -> tuple[str, bytes]:
    """The values of a measurement, otherwise the partition of the rows by value, as a kind and a hash."""
    probe = column.iloc[:: max(1, len(column) // PROBE_ROWS)]
    # The partition of a measurement with distinct values is that of any other one.
    if probe.nunique() > 0.5 * len(probe):
        is_plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufM"
        hashed = column.to_numpy() if is_plain else pd.util.hash_pandas_object(column, index=False).to_numpy()
        return f"values {column.dtype.kind}", blake2b(hashed.tobytes(), digest_size=16).digest()
    codes, _ = pd.factorize(column)
    is_date = pd.api.types.is_datetime64_any_dtype(column.dtype)
    kind = "text" if is_text(column) else "date" if is_date else "number"
    return kind, blake2b(codes.astype(np.int32).tobytes(), digest_size=16).digest()
