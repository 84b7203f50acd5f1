"""Agreement of the columns of one file on conventions that some of them prove."""

from collections.abc import Sequence
from dataclasses import replace

from app.modeling.type_inference.conventions import Conventions
from app.modeling.type_inference.type_decision import TypeDecision

UNCLEAR_ORDER_CONFIDENCE = 0.5
"""Confidence of dates whose order of day and month nothing decides."""
UNCLEAR_MARK_CONFIDENCE = 0.6
"""Confidence of numbers whose separators have two meanings."""
CERTAIN = 0.95
"""Confidence of decisions that are evidence for other columns: their values admit one reading."""
SHARED_CONFIDENCE = 0.9
"""Confidence of a reading that other columns of the file decide."""


def share_conventions(decisions: Sequence[TypeDecision], conventions: Conventions) -> list[TypeDecision]:
    """Decide unclear columns by the conventions of the file: those given, else those of its certain columns."""
    day_first = conventions.day_first
    if day_first is None:
        day_first = _agreed([decision.way["day_first"] for decision in decisions if _proves_order(decision)])
    return [_decide(decision, day_first, conventions) for decision in decisions]


def _agreed(choices: Sequence[bool]) -> bool | None:
    return choices[0] if choices and len(set(choices)) == 1 else None


def _proves_order(decision: TypeDecision) -> bool:
    return (
        decision.confidence >= CERTAIN
        and "day and month" in decision.way.get("spellings", ())
        and bool(decision.evidence.get("decided"))
    )


def _decide(decision: TypeDecision, day_first: bool | None, conventions: Conventions) -> TypeDecision:
    is_order_open = decision.way["op"] == "read_date" and decision.confidence == UNCLEAR_ORDER_CONFIDENCE
    if is_order_open and day_first is not None:
        first = "day" if day_first else "month"
        return replace(
            decision,
            way={**decision.way, "day_first": day_first},
            text=f"{decision.column!r} holds dates, the {first} first, as in the rest of the file.",
            confidence=SHARED_CONFIDENCE,
            evidence={**decision.evidence, "decided": "as in the rest of the file"},
        )
    if is_order_open and conventions.decimal == "," and not decision.way["day_first"]:
        # Month first is the order of countries with a decimal point.
        text = f"{decision.column!r} holds dates; the order of day and month is unclear, day first is assumed."
        return replace(decision, way={**decision.way, "day_first": True}, text=text)
    is_mark_open = decision.way["op"] == "read_number" and decision.confidence == UNCLEAR_MARK_CONFIDENCE
    if is_mark_open and conventions.decimal is not None:
        return replace(
            decision,
            way={**decision.way, "decimal": conventions.decimal, "group": conventions.group},
            text=f"{decision.column!r} holds numbers as text; {conventions.group!r} is the thousands separator,"
            " as in the rest of the file.",
            confidence=SHARED_CONFIDENCE,
        )
    return decision
