"""Types of the columns of a raw table, each with its parser, evidence and confidence."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.table.column_kinds import require_columns
from app.modeling.table.json_values import round_significant
from app.modeling.type_inference.class_spellings import canonical_spellings, fold_spelling
from app.modeling.type_inference.convention_sharing import (
    UNCLEAR_MARK_CONFIDENCE,
    UNCLEAR_ORDER_CONFIDENCE,
    share_conventions,
)
from app.modeling.type_inference.conventions import Conventions
from app.modeling.type_inference.date_format import DateGuess, guess_dates, guess_epoch
from app.modeling.type_inference.date_spellings import CENTURY_PIVOT
from app.modeling.type_inference.distinct_values import count_raw_values, count_values, is_text, to_plain_text
from app.modeling.type_inference.durations import guess_durations, parse_hours
from app.modeling.type_inference.number_format import NumberGuess, guess_numbers
from app.modeling.type_inference.parsers import PARSERS, ParserOp, ParsersJson
from app.modeling.type_inference.sentinels import find_sentinels
from app.modeling.type_inference.type_decision import TypeDecision
from app.modeling.type_inference.vocabulary import (
    MISSING_CATEGORY_WORDS,
    MISSING_WORDS,
    NON_ANSWERS,
    NULL_DATES,
    TRUTH_VALUES,
    are_truth_values,
)

MAX_ROWS, MIN_ROWS, MAX_CELLS = 10_000, 200, 400_000
"""Types are inferred from a sample: evenly spaced rows of larger tables, fewer of wide ones."""


TWO_MEANINGS_CONFIDENCE = 0.9
"""Confidence of numbers behind which a word stands that the column's own amounts decide, as credit or crore."""
MAX_TRUTH_WORDS = 20
"""Distinct words for yes and no in a column: their spellings in several languages, in any case."""
Counts = Mapping[str, int]
"""Trimmed text -> number of rows."""


def infer_types(
    frame: pd.DataFrame,
    target: str | None = None,
    types: Mapping[str, str] | None = None,
    conventions: Conventions | None = None,
) -> list[TypeDecision]:
    """Infer the types of columns that are not what their dtype says, one decision for each.

    The `target` keeps its classes, each in its most frequent spelling, and its numbers are parsed. `types` are
    the user's choice: column -> number, category, text, boolean, datetime, day_first or month_first.
    `conventions` of the file decide where a column's own values do not. Raises InvalidInput `unknown_column`.
    """
    require_columns(frame, list(types or {}))
    sample = _sample(frame)
    decisions = []
    for name in frame.columns:
        requested = (types or {}).get(str(name))
        decision = _infer_type(frame[name], sample[name], name == target, requested)
        if decision:
            decisions.append(decision)
    # Last, since a column that proves the decimal mark decides for those that do not.
    return share_conventions(decisions, conventions or Conventions())


def infer_parser(column: pd.Series) -> ParserOp | None:
    """Infer the name (`op`) of the parser of one column, None if it is used as it is."""
    decision = _infer_type(column, _sample(column.to_frame()).iloc[:, 0], is_target=False, requested=None)
    return None if decision is None else decision.way["op"]


def make_parsers(decisions: Sequence[TypeDecision]) -> ParsersJson:
    """Parsers as JSON with all defaults; columns of equal parsers share one."""
    groups: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for decision in decisions:
        groups.setdefault(repr(sorted(decision.way.items())), (decision.way, []))[1].append(decision.column)
    parsers = [{**way, "columns": columns} for way, columns in groups.values()]
    return [parser.model_dump(mode="json") for parser in PARSERS.validate_python(parsers)]


def _sample(frame: pd.DataFrame) -> pd.DataFrame:
    max_rows = int(np.clip(MAX_CELLS // max(frame.shape[1], 1), MIN_ROWS, MAX_ROWS))
    if len(frame) <= max_rows:
        return frame
    # Evenly spaced, since the first rows of a sorted file may all be of one kind.
    return frame.iloc[np.linspace(0, len(frame) - 1, max_rows).astype(int)]


def _infer_type(
    column: pd.Series, sample: pd.Series, is_target: bool, requested: str | None
) -> TypeDecision | None:
    if is_text(column):
        return _infer_from_text(sample, is_target, requested)
    if pd.api.types.is_bool_dtype(column.dtype) or not pd.api.types.is_numeric_dtype(column.dtype):
        return None
    return _infer_from_numbers(column, sample, is_target, requested)


def _infer_from_numbers(
    column: pd.Series, sample: pd.Series, is_target: bool, requested: str | None
) -> TypeDecision | None:
    name = str(column.name)
    if requested in ("category", "text"):
        return TypeDecision(
            name, "text", {"op": "read_text"}, f"{name!r} is used as {requested}, as requested.", 1.0
        )
    epoch = guess_epoch(sample) if requested in (None, "datetime") else None
    # A target of numbers stays one, since dates are not predicted.
    if epoch and not is_target:
        content = "dates such as 20240531" if epoch == "yyyymmdd" else f"moments counted in {epoch} since 1970"
        return TypeDecision(
            name,
            "datetime",
            {"op": "read_date", "epoch": epoch},
            f"{name!r} holds {content}.",
            0.9,
            {"epoch": epoch},
        )
    # All rows and not the sample: a code for missing values may stand in a few of them.
    codes = find_sentinels(column, is_target)
    if not codes:
        return None
    return TypeDecision(
        name,
        "number",
        {"op": "read_number", "missing": tuple(codes)},
        f"{name!r}: {_join_numbers(codes)} repeats far outside all other values and is treated as missing.",
        min(code["confidence"] for code in codes.values()),
        {"values": [code["evidence"] for code in codes.values()]},
    )


def _join_numbers(values: Mapping[float, Any]) -> str:
    return " and ".join(f"{value:g}" for value in values)


def _infer_from_text(sample: pd.Series, is_target: bool, requested: str | None) -> TypeDecision | None:
    values = count_values(sample)
    blank = {word: count for word, count in values.items() if word.casefold() in MISSING_WORDS}
    present = {word: count for word, count in values.items() if word not in blank}
    if not present:
        return None
    name = str(sample.name)
    for kind, guess in _GUESSES.items():
        # A target keeps its words, so that predictions come back as they are written.
        if _KIND_OF.get(requested or "", requested) not in (None, kind) or (is_target and kind == "boolean"):
            continue
        if decision := guess(name, present, blank, sample):
            return _with_date_order(decision, requested) if requested in _KIND_OF else decision
    return _category(name, present, values, count_raw_values(sample))


_KIND_OF = {"day_first": "datetime", "month_first": "datetime"}


def _with_date_order(decision: TypeDecision, requested: str | None) -> TypeDecision:
    """The decision with the order of day and month that the user chose."""
    way = {**decision.way, "day_first": requested == "day_first"}
    first = "day" if requested == "day_first" else "month"
    text = f"{decision.column!r} holds dates, the {first} first, as requested."
    return replace(decision, way=way, text=text, confidence=1.0)


def _boolean(name: str, present: Counts, blank: Counts, sample: pd.Series) -> TypeDecision | None:
    unanswered = {word: count for word, count in present.items() if word.casefold() in NON_ANSWERS}
    present = {word: count for word, count in present.items() if word not in unanswered}
    if len(present) > MAX_TRUTH_WORDS or not are_truth_values(present):
        return None
    text = f"{name!r} holds yes and no ({', '.join(list(present)[:6])})."
    parser = {"op": "read_boolean", "words": _frequent_words(present)} | (
        {"missing": tuple(sorted(word.casefold() for word in unanswered))} if unanswered else {}
    )
    return TypeDecision(
        name, "boolean", parser, text, 1.0, {"values": present, **_missing({**blank, **unanswered})}
    )


def _frequent_words(present: Counts) -> tuple[str, ...]:
    """The most frequent words for no and for yes; empty where the column has only one of them."""
    words = tuple(
        max(
            (word for word in present if TRUTH_VALUES[word.casefold()] is truth),
            key=present.__getitem__,
            default="",
        )
        for truth in (False, True)
    )
    return words if all(words) else ()


def _date(name: str, present: Counts, blank: Counts, sample: pd.Series) -> TypeDecision | None:
    blank = {**blank, **{text: count for text, count in present.items() if text.casefold() in NULL_DATES}}
    present = {text: count for text, count in present.items() if text not in blank}
    guess = guess_dates(present, _stripped_texts(sample), name) if present else None
    if guess is None:
        return None
    parser = {
        "op": "read_date",
        "spellings": guess.spellings,
        "day_first": guess.day_first,
        **({} if guess.pivot == CENTURY_PIVOT else {"pivot": guess.pivot}),
        **({"missing": tuple(word.casefold() for word in guess.words)} if guess.words else {}),
    }
    evidence = {
        "share": round_significant(guess.share),
        "spellings": guess.spellings,
        "decided": guess.reason,
        **_missing(blank),
    }
    return TypeDecision(
        name,
        "datetime",
        parser,
        f"{name!r} holds dates{_describe_order(guess)}{_describe_loss(guess.lost)}.",
        guess.share if guess.is_certain else UNCLEAR_ORDER_CONFIDENCE,
        evidence,
    )


def _stripped_texts(sample: pd.Series) -> pd.Series:
    return to_plain_text(sample).dropna().str.strip()


def _describe_order(guess: DateGuess) -> str:
    if not guess.reason:
        return ""
    first = "day" if guess.day_first else "month"
    if guess.is_certain:
        return f", the {first} first ({guess.reason})"
    return f"; the order of day and month is unclear, {first} first is assumed"


def _number(name: str, present: Counts, blank: Counts, sample: pd.Series) -> TypeDecision | None:
    guess = guess_numbers(name, present, blank)
    if guess is None:
        return _duration(name, present, blank)
    # A dash that means 0 among accounts is no missing value there.
    blank = {word: count for word, count in blank.items() if word.casefold() not in guess.meanings}
    format_ = guess.number_format
    parser = {
        "op": "read_number",
        "decimal": format_.decimal,
        "group": format_.group,
        "before": dict(format_.before or {}),
        "after": dict(format_.after or {}),
        "missing": tuple(word.casefold() for word in guess.words),
        **({"meanings": dict(guess.meanings)} if guess.meanings else {}),
        **({"has_spelled": True} if guess.has_spelled else {}),
    }
    evidence = {
        "share": round_significant(guess.share),
        "unit": guess.unit,
        "words": guess.words,
        **_missing(blank),
    }
    unit = f" in {guess.unit}" if guess.unit else ""
    caveat = "" if guess.is_certain else f"; {format_.group!r} is taken as the thousands separator"
    meaning = f"; {guess.caveat}" if guess.caveat else ""
    return TypeDecision(
        name,
        "number",
        parser,
        f"{name!r} holds numbers{unit} as text{caveat}{meaning}{_describe_loss(guess.words)}.",
        _number_confidence(guess),
        evidence,
    )


def _describe_loss(words: Sequence[str]) -> str:
    return f"; {', '.join(map(repr, words[:3]))} become missing" if words else ""


def _number_confidence(guess: NumberGuess) -> float:
    if not guess.is_certain:
        return UNCLEAR_MARK_CONFIDENCE
    return min(guess.share, TWO_MEANINGS_CONFIDENCE) if guess.caveat else guess.share


_GUESSES = {"boolean": _boolean, "datetime": _date, "number": _number}


def _missing(blank: Counts) -> dict[str, Any]:
    return {"missing": dict(blank)} if blank else {}


def _duration(name: str, present: Counts, blank: Counts) -> TypeDecision | None:
    guess = guess_durations(name, present)
    if guess is None:
        return None
    example_hours = f"{parse_hours(guess.example, guess.clock_format):.4g}"
    text = f"{name!r} holds times such as {guess.example!r}, converted to hours ({example_hours})."
    evidence = {"share": round_significant(guess.share), "words": guess.words, **_missing(blank)}
    traits = {**asdict(guess.clock_format), "is_time_of_day": guess.is_time_of_day}
    parser = {
        "op": "read_clock",
        **{trait: True for trait, holds in traits.items() if holds},
        **({"missing": tuple(word.casefold() for word in guess.words)} if guess.words else {}),
    }
    return TypeDecision(name, "number", parser, text, guess.share, evidence)


def _category(name: str, present: Counts, values: Counts, raw_counts: Counts) -> TypeDecision | None:
    """Decide on missing-value words among categories, and on classes with several spellings."""
    missing = _missing_words(present, values)
    same = canonical_spellings(
        {text: count for text, count in raw_counts.items() if text.strip() not in missing}
    )
    if not missing and not same:
        return None
    way = {"op": "read_words", "missing": tuple(sorted({word.casefold() for word in missing})), "same": same}
    effects, evidence = [], _missing(missing)
    if missing:
        effects.append(f"{', '.join(repr(word) for word in list(missing)[:4])} is treated as missing")
    if same:
        variants = {
            text: count for text, count in raw_counts.items() if same.get(fold_spelling(text), text) != text
        }
        examples = ", ".join(f"{text!r} as {same[fold_spelling(text)]!r}" for text in list(variants)[:4])
        effects.append(f"spellings of the same class are merged ({examples})")
        evidence["spelled"] = variants
    return TypeDecision(name, "text", way, f"{name!r}: {'; '.join(effects)}.", 0.9, evidence)


def _missing_words(present: Counts, values: Counts) -> Counts:
    """Counts of missing-value words, unless they may be values: `-` next to `+`, `NA` among short codes."""
    codes = sum(re.fullmatch("[A-Z]{2,3}", word) is not None for word in present) >= 0.5 * len(present)
    words = {
        word: count
        for word, count in values.items()
        if word.casefold() in MISSING_CATEGORY_WORDS and not (codes and word.isalpha())
    }
    # Words beside a single other value are the second class of the column.
    return words if len(present.keys() - words.keys()) >= 2 else {}
