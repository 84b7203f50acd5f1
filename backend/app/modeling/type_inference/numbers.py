"""Parsing of numbers in common spellings: `1.234,50 EUR`, `(12)`, `12 %`, `3.5 kg`, `1.2e-3`."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.modeling.type_inference.number_spellings import BODY_END, NUMBER_PATTERN, NumberFormat


def split_numbers(texts: pa.Array) -> pa.StructArray:
    """Split trimmed texts (rows,) into the groups of NUMBER_PATTERN; null for texts that are no numbers."""
    return pc.extract_regex(texts, pattern=NUMBER_PATTERN)


def parse_numbers(texts: pa.Array, number_format: NumberFormat) -> np.ndarray:
    """Parse texts to float64 (rows,); NaN for a text in another format."""
    parts = split_numbers(texts)
    body = pc.utf8_rtrim(_part(parts, "body"), characters=BODY_END)
    is_match = pc.match_substring_regex(body, pattern=number_format.body_pattern)
    # Two parentheses or none: one alone is a misread cell.
    is_closed = pc.equal(_is_open(parts), pc.equal(_part(parts, "close"), ")"))
    body = pc.if_else(pc.and_(is_match, is_closed), body, None)
    if number_format.group:
        body = pc.replace_substring(body, pattern=number_format.group, replacement="")
    if number_format.decimal != ".":
        body = pc.replace_substring(body, pattern=number_format.decimal, replacement=".")
    literals = pc.binary_join_element_wise(body, _part(parts, "exponent"), "")
    numbers = np.array(pc.cast(literals, pa.float64()).to_numpy(zero_copy_only=False), dtype="float64")
    scales = _scale(_part(parts, "before"), number_format.before)
    for name in ("after", "tail"):
        scales = scales * _scale(_part(parts, name), number_format.after)
    with np.errstate(over="ignore"):  # `1e308k` is as far out of range as `1e400`, and as missing
        numbers *= scales
    numbers[~np.isfinite(numbers)] = np.nan
    return np.where(_is_negative(parts), -numbers, numbers)


def _part(parts: pa.StructArray, name: str) -> pa.Array:
    """One group of the matches, null for texts that are no numbers."""
    return pc.struct_field(parts, name)


def _is_open(parts: pa.StructArray) -> pa.Array:
    """Test for an opening parenthesis before the currency or behind it."""
    return pc.or_(pc.equal(_part(parts, "open"), "("), pc.equal(_part(parts, "inner"), "("))


def _is_negative(parts: pa.StructArray) -> np.ndarray:
    """Test for a minus before, inside or after the number, or for parentheses around it (rows,)."""
    is_negative = pc.and_(_is_open(parts), pc.equal(_part(parts, "close"), ")"))
    for name in ("sign", "inner", "late", "trail"):
        is_negative = pc.or_(is_negative, pc.starts_with(_part(parts, name), "-"))
    negative: np.ndarray = pc.fill_null(is_negative, False).to_numpy(zero_copy_only=False)
    return negative


def _scale(affixes: pa.Array, factors: Mapping[str, float] | None) -> np.ndarray:
    if factors is None:
        return np.ones(len(affixes))
    encoded = pc.dictionary_encode(affixes)
    names = [affix.casefold().strip() for affix in encoded.dictionary.to_pylist()]
    # An unknown unit makes the number missing: read without it, it would be of another size.
    scales = np.array([1.0 if not name else factors.get(name, np.nan) for name in names] + [np.nan])
    positions = pc.fill_null(encoded.indices, len(names)).to_numpy(zero_copy_only=False)
    row_scales: np.ndarray = scales[positions]
    return row_scales
