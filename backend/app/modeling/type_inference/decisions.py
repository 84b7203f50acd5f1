"""How the columns of a raw table are read, each decision with its evidence and how sure it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.table.columns import require_columns
from app.modeling.table.json_values import round_significant, to_json_value
from app.modeling.type_inference.date_format import DateGuess, guess_dates, guess_epoch
from app.modeling.type_inference.durations import guess_clocks, hours
from app.modeling.type_inference.number_format import guess_numbers
from app.modeling.type_inference.parsers import OPERATIONS, ReadingJson
from app.modeling.type_inference.sentinels import sentinels
from app.modeling.type_inference.spellings import folded, same_classes
from app.modeling.type_inference.values import as_plain_text, counted, is_text
from app.modeling.type_inference.vocabulary import MISSING, MISSING_MEASURES, is_truth

MAX_ROWS, MIN_ROWS, MAX_CELLS = 10_000, 200, 400_000
"""Of a larger table evenly spaced rows are looked at."""


Counts = Mapping[str, int]
"""Trimmed text -> how often it stands."""


@dataclass(frozen=True)
class Decision:
    """`reads_as`: number, datetime, boolean or text. `way`: the operation, without its columns."""

    column: str
    reads_as: str
    way: dict[str, Any]
    text: str
    confidence: float
    evidence: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = to_json_value(vars(self))
        return made


def decide_reading(
    frame: pd.DataFrame, target: str | None = None, types: Mapping[str, str] | None = None
) -> ReadingJson:
    """The operations that `apply_reading` takes; see `decide`."""
    return operations_of(decide(frame, target, types))


def decide(
    frame: pd.DataFrame, target: str | None = None, types: Mapping[str, str] | None = None
) -> list[Decision]:
    """One decision for each column that is not what its type says.

    The `target` keeps its classes, each in its most frequent spelling, and its numbers are read. `types` are
    the user's word: column -> number, category, text, boolean, datetime, day_first or month_first. Raises
    InvalidInput `unknown_column`.
    """
    require_columns(frame, list(types or {}))
    sample = _sample(frame)
    found = []
    for name in frame.columns:
        wanted = (types or {}).get(str(name))
        decision = _one(frame[name], sample[name], name == target, wanted)
        if decision:
            found.append(decision)
    return found


def operations_of(decisions: Sequence[Decision]) -> ReadingJson:
    """Columns that are read alike in one operation, with every default written out."""
    together: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for decision in decisions:
        together.setdefault(repr(sorted(decision.way.items())), (decision.way, []))[1].append(decision.column)
    made = [{**way, "columns": columns} for way, columns in together.values()]
    return [one.model_dump(mode="json") for one in OPERATIONS.validate_python(made)]


def _sample(frame: pd.DataFrame) -> pd.DataFrame:
    most = int(np.clip(MAX_CELLS // max(frame.shape[1], 1), MIN_ROWS, MAX_ROWS))
    if len(frame) <= most:
        return frame
    return frame.iloc[np.linspace(0, len(frame) - 1, most).astype(int)]


def _one(column: pd.Series, sample: pd.Series, is_target: bool, wanted: str | None) -> Decision | None:
    if is_text(column):
        return _of_text(sample, is_target, wanted)
    if pd.api.types.is_bool_dtype(column.dtype) or not pd.api.types.is_numeric_dtype(column.dtype):
        return None
    return _of_numbers(column, sample, is_target, wanted)


def _of_numbers(column: pd.Series, sample: pd.Series, is_target: bool, wanted: str | None) -> Decision | None:
    name = str(column.name)
    if wanted in ("category", "text"):
        return Decision(name, "text", {"op": "read_text"}, f"{name!r} is taken as {wanted}, as asked.", 1.0)
    epoch = guess_epoch(sample) if wanted in (None, "datetime") else None
    if epoch and not is_target:
        how = "dates such as 20240531" if epoch == "yyyymmdd" else f"moments counted in {epoch} since 1970"
        return Decision(
            name,
            "datetime",
            {"op": "read_date", "epoch": epoch},
            f"{name!r} holds {how}.",
            0.9,
            {"epoch": epoch},
        )
    never = sentinels(column, is_target)
    if not never:
        return None
    return Decision(
        name,
        "number",
        {"op": "read_number", "missing": tuple(never)},
        f"{name!r}: {_listed(never)} stands far outside all other values again and again: taken as missing.",
        min(one["confidence"] for one in never.values()),
        {"values": [one["evidence"] for one in never.values()]},
    )


def _listed(values: Mapping[float, Any]) -> str:
    return " and ".join(f"{value:g}" for value in values)


def _of_text(sample: pd.Series, is_target: bool, wanted: str | None) -> Decision | None:
    values = counted(sample)
    blank = {word: count for word, count in values.items() if word.casefold() in MISSING_MEASURES}
    told = {word: count for word, count in values.items() if word not in blank}
    if not told:
        return None
    name = str(sample.name)
    for kind, guess in _GUESSES.items():
        if _KIND_OF.get(wanted or "", wanted) not in (None, kind) or (is_target and kind == "boolean"):
            continue
        if found := guess(name, told, blank, sample):
            return _in_order_of(found, wanted) if wanted in _KIND_OF else found
    return _words(name, told, values, _spelled(sample))


_KIND_OF = {"day_first": "datetime", "month_first": "datetime"}


def _in_order_of(decision: Decision, wanted: str | None) -> Decision:
    """Dates in the order that the user says."""
    way = {**decision.way, "day_first": wanted == "day_first"}
    first = "day" if wanted == "day_first" else "month"
    text = f"{decision.column!r} holds dates, the {first} first, as said."
    return replace(decision, way=way, text=text, confidence=1.0)


def _boolean(name: str, told: Counts, blank: Counts, sample: pd.Series) -> Decision | None:
    if len(told) > 20 or not is_truth(told):
        return None
    text = f"{name!r} says yes or no ({', '.join(list(told)[:6])})."
    return Decision(name, "boolean", {"op": "read_boolean"}, text, 1.0, {"values": told, **_missing(blank)})


def _date(name: str, told: Counts, blank: Counts, sample: pd.Series) -> Decision | None:
    guess = guess_dates(told, _in_order(sample))
    if guess is None:
        return None
    way = {"op": "read_date", "spellings": guess.spellings, "day_first": guess.day_first}
    evidence = {
        "share": round_significant(guess.share),
        "spellings": guess.spellings,
        "decided": guess.why,
        **_missing(blank),
    }
    return Decision(
        name,
        "datetime",
        way,
        f"{name!r} holds dates{_order(guess)}.",
        guess.share if guess.sure else 0.5,
        evidence,
    )


def _in_order(sample: pd.Series) -> pd.Series:
    return as_plain_text(sample).dropna().str.strip()


def _order(guess: DateGuess) -> str:
    if not guess.why:
        return ""
    first = "day" if guess.day_first else "month"
    if guess.sure:
        return f", the {first} first ({guess.why})"
    return f"; whether day or month comes first is open, {first} is taken"


def _number(name: str, told: Counts, blank: Counts, sample: pd.Series) -> Decision | None:
    guess = guess_numbers(name, told)
    if guess is None:
        return _clock(name, told, blank)
    spelled = guess.spelled
    way = {
        "op": "read_number",
        "decimal": spelled.decimal,
        "group": spelled.group,
        "before": dict(spelled.before),
        "after": dict(spelled.after),
        "missing": tuple(word.casefold() for word in guess.words),
    }
    evidence = {
        "share": round_significant(guess.share),
        "unit": guess.unit,
        "words": guess.words,
        **_missing(blank),
    }
    unit = f" in {guess.unit}" if guess.unit else ""
    doubt = "" if guess.sure else f"; {spelled.group!r} is taken to set thousands apart"
    lost = f"; {', '.join(map(repr, guess.words[:3]))} becomes missing" if guess.words else ""
    return Decision(
        name,
        "number",
        way,
        f"{name!r} holds numbers{unit} as text{doubt}{lost}.",
        guess.share if guess.sure else 0.6,
        evidence,
    )


_GUESSES = {"boolean": _boolean, "datetime": _date, "number": _number}


def _missing(blank: Counts) -> dict[str, Any]:
    return {"missing": dict(blank)} if blank else {}


def _clock(name: str, told: Counts, blank: Counts) -> Decision | None:
    guess = guess_clocks(told)
    if guess is None:
        return None
    text = f"{name!r} holds times such as {guess.example!r}, taken as hours ({hours(guess.example):.4g})."
    evidence = {"share": round_significant(guess.share), **_missing(blank)}
    return Decision(name, "number", {"op": "read_clock"}, text, guess.share, evidence)


def _spelled(sample: pd.Series) -> dict[str, int]:
    """How often each value stands as it is written, space around it included."""
    return {str(value): int(count) for value, count in as_plain_text(sample).value_counts().items()}


def _words(name: str, told: Counts, values: Counts, spelled: Counts) -> Decision | None:
    """Words for missing among categories, and classes that are spelled in several ways."""
    missing = _missing_words(told, values)
    same = same_classes({text: count for text, count in spelled.items() if text.strip() not in missing})
    if not missing and not same:
        return None
    way = {"op": "read_words", "missing": tuple(sorted({word.casefold() for word in missing})), "same": same}
    said, evidence = [], _missing(missing)
    if missing:
        said.append(f"{', '.join(repr(word) for word in list(missing)[:4])} is taken as missing")
    if same:
        others = {text: count for text, count in spelled.items() if same.get(folded(text), text) != text}
        shown = ", ".join(f"{text!r} as {same[folded(text)]!r}" for text in list(others)[:4])
        said.append(f"classes in several spellings are one ({shown})")
        evidence["spelled"] = others
    return Decision(name, "text", way, f"{name!r}: {'; '.join(said)}.", 0.9, evidence)


def _missing_words(told: Counts, values: Counts) -> Counts:
    """Words for missing, unless they may be values: `-` beside `+`, `NA` among short codes."""
    codes = sum(re.fullmatch("[A-Z]{2,3}", word) is not None for word in told) >= 0.5 * len(told)
    words = {
        word: count
        for word, count in values.items()
        if word.casefold() in MISSING and not (codes and word.isalpha())
    }
    return words if len(told.keys() - words.keys()) >= 2 else {}
