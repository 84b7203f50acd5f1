"""Is a column of text a column of numbers, and how are they spelled?"""

import re
from dataclasses import dataclass, replace

import pandas as pd
import pyarrow as pa

from app.modeling.reading import units
from app.modeling.reading.numbers import NumberFormat, take_apart

SURE_SHARE = 0.95
"""Of the values that are not missing; the rest becomes missing."""
FEW_WORDS_SHARE = 0.8
MOST_WORDS = 3
"""Fewer numbers will do where all else is a few words that stand again and again."""
CODE_DIGITS = 9
"""Plain digits, all of this length or longer and all of one length, are a code."""

CODE_NAME = re.compile(
    r"zip|postal|postcode|\bplz\b|phone|mobile|\btel\b|\bfax\b|iban|account|barcode|\bean\b|\bisbn\b|\bsku\b|\bssn\b"
    r"|(^|[_\W])(id|code|nr|no)$|[a-z](Id|ID|Code)$",
    re.IGNORECASE,
)

_FORMATS = tuple(
    NumberFormat(decimal, group)
    for decimal, group in ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
)


@dataclass(frozen=True)
class NumberGuess:
    """`share` of the values are numbers `spelled` so; `sure` when the marks cannot mean something else.

    `words`: the values that are no numbers, where they are few. `unit`: what stands beside the numbers.
    """

    spelled: NumberFormat
    share: float
    sure: bool
    unit: str
    words: tuple[str, ...]


def guess_numbers(name: str, values: pd.Series) -> NumberGuess | None:
    """From the different values (trimmed text -> how often) of a column, words for missing left out.

    None for text, and for codes: leading zeros, phone numbers, versions, ordinals, ranges.
    """
    parts = _parts(values)
    total = float(parts["weight"].sum())
    numbers = parts[parts["body"].notna()]
    if numbers["weight"].sum() < FEW_WORDS_SHARE * total:
        return None
    spaced = bool(numbers["text"].str.contains(r"\d [^\d\s]", regex=True).mean() > 0.5)
    before = units.before(_affixes(numbers, "before"))
    after = units.after(_affixes(numbers, "after"), spaced)
    if before is None or after is None:
        return None
    spelled, sure, kept = _best_format(numbers)
    numbers = numbers[kept & _closed(numbers)]
    if numbers["body"].nunique() < (3 if after[0] else 2) or _is_code(name, numbers):
        return None
    share = float(numbers["weight"].sum()) / total
    words = tuple(parts.loc[~parts.index.isin(numbers.index), "text"])
    if share < SURE_SHARE and not (share >= FEW_WORDS_SHARE and _are_words(words)):
        return None
    if not sure and "." in (spelled.group, spelled.decimal) and after[1] in ("\u20ac", "eur"):
        spelled = replace(spelled, decimal=",", group=".")
    spelled = replace(spelled, before=before[0], after=after[0])
    return NumberGuess(spelled, share, sure, after[1] or before[1], words if len(words) <= 10 else ())


def _parts(values: pd.Series) -> pd.DataFrame:
    texts = pa.array(values.index.to_numpy(dtype=object), pa.string())
    found = take_apart(texts)
    names = [found.type.field(place).name for place in range(found.type.num_fields)]
    columns = dict(zip(names, found.flatten(), strict=True))
    frame = pd.DataFrame({name: column.to_pandas() for name, column in columns.items()}).astype("str")
    frame["body"] = frame["body"].str.rstrip()
    for name in ("before", "after"):
        frame[name] = frame[name].str.casefold().str.strip()
    return frame.assign(text=values.index.astype("str"), weight=values.to_numpy())


def _affixes(numbers: pd.DataFrame, side: str) -> pd.Series:
    """What stands on one side, without what is too rare to be more than a slip."""
    counts = numbers.groupby(side)["weight"].sum()
    return counts[counts >= 0.01 * counts.sum()]


def _closed(numbers: pd.DataFrame) -> pd.Series:
    return (numbers["open"] == "(") == (numbers["close"] == ")")


def _are_words(words: tuple[str, ...]) -> bool:
    return len(words) <= MOST_WORDS and not any(re.search(r"\d", word) for word in words)


def _best_format(numbers: pd.DataFrame) -> tuple[NumberFormat, bool, pd.Series]:
    """The format that most bodies keep; whether no other could mean the same text; and which keep it."""
    kept = [numbers["body"].str.fullmatch(one.body[1:-1]).astype(bool) for one in _FORMATS]
    weights = [float(numbers.loc[rows, "weight"].sum()) for rows in kept]
    best = max(range(len(_FORMATS)), key=lambda place: (weights[place], -place))
    bodies = numbers.loc[kept[best], "body"]
    marked = bodies[bodies.str.contains(r"[.,]", regex=True)]
    other = NumberFormat(_FORMATS[best].group, _FORMATS[best].decimal) if best < 2 else None
    sure = other is None or not len(marked) or not bool(marked.str.fullmatch(other.body[1:-1]).all())
    return _FORMATS[best], sure, kept[best]


def _is_code(name: str, numbers: pd.DataFrame) -> bool:
    """Digits that name something: with leading zeros, or all of one length where none would be by chance."""
    bare = numbers[numbers[["before", "after", "exponent"]].agg("".join, axis=1) == ""]
    bodies, weights = bare["body"], bare["weight"]
    if len(bare) < 0.9 * len(numbers) or bodies.str.contains(",", regex=False).any():
        return False
    if float(weights[bodies.str.match(r"0\d")].sum()) >= 0.01 * float(weights.sum()):
        return True
    lengths = bodies.str.count(r"\d")
    if lengths.nunique() > 1 or bodies.str.fullmatch(r"\d+\.\d+").any():
        return False
    length, grouped = int(lengths.iloc[0]), bool(bodies.str.contains(r"[ .']", regex=True).all())
    named = CODE_NAME.search(name) is not None
    return length >= (4 if named else CODE_DIGITS - 3 * grouped) and len(bodies) >= 5
