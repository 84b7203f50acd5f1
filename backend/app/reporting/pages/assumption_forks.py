"""The fork of a session that would take the other side of an assumption."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.modeling.facts.assumptions import AssumptionKind, AssumptionSide
from app.recorded_call import RecordedCall
from app.reporting.evidence import RecordedFact

QUESTION_TOOL = "ask_user"

STRUCTURE_PREFERENCES: Mapping[AssumptionKind, str] = {
    AssumptionKind.ENTITIES: "group_column",
    AssumptionKind.TIME: "time_column",
}
"""Preference that splits the rows by the column of an assumption, as if it did not hold."""


def find_fork(
    calls: Sequence[RecordedCall], assumption: RecordedFact, side: AssumptionSide
) -> dict[str, Any] | None:
    """Return point and change of the fork for `POST .../fork`; None if no change takes the other side.

    A question that was asked about the assumption, also if its default answered it, is answered in the other
    way. Else, where that is among the options, a kept column is left out from the step that measured it on, and
    rows are split by the column.
    """
    recorded = assumption.value
    other = AssumptionSide.OTHERWISE if side is AssumptionSide.HOLDS else AssumptionSide.HOLDS
    answer = (recorded.get("options") or {}).get(other)
    question = next((call for call in calls if _is_question(call, recorded.get("question"), answer)), None)
    # The question first: its answer also leads the steps between it and the measurement.
    if question is not None:
        return {"at": {"question": f"{question.seq}.{question.key}"}, "change": {"answer": answer}}
    if other is not AssumptionSide.OTHERWISE or (recorded.get("options") and answer is None):
        return None
    kind, columns = recorded.get("kind"), list(recorded.get("columns") or ())
    if kind in (AssumptionKind.COLUMN, AssumptionKind.JOINED_TABLE) and columns:
        return {"at": {"step": assumption.call.seq}, "change": {"settings": {"leave_out": columns}}}
    if kind in STRUCTURE_PREFERENCES and len(columns) == 1:
        preferences = {STRUCTURE_PREFERENCES[kind]: columns[0]}
        # From the start, since the split depends on it and everything follows from the split.
        return {"at": {"step": 1}, "change": {"preferences": preferences}}
    return None


def _is_question(call: RecordedCall, question: object, answer: object) -> bool:
    """Tell if a call asked the question, with the answer among its options."""
    if call.tool != QUESTION_TOOL or call.failed or not question or not isinstance(call.request, dict):
        return False
    return call.request.get("question") == question and answer in (call.request.get("options") or ())
