"""Columns that may give the target away, as JSON."""

from typing import Any, NotRequired, TypedDict


class Leak(TypedDict):
    """`kind`: `nearly_perfect`, `near_copy`, `fills_for_one_outcome`, `row_order`, `after_outcome` (by name and
    score), `target_in_text`, `part_of_target` (with others, exactly), `group_average` (over rows with
    this one) or `peeks_ahead` (made with later rows).

    `certain`: leave the column out without asking. `evidence_of`: `identity` (it is the target, or numbers the
    rows), `time` (it is written after the outcome) or `score` (it predicts very well, which is no reason to
    leave it out); absent in journals from before assumptions were measured.
    """

    column: str
    kind: str
    text: str
    certain: bool
    evidence_of: NotRequired[str]
    evidence: dict[str, Any]
