"""Sessions that really ran, as their journals recorded them (Titanic and scikit-learn's diabetes table)."""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.recorded_call import RecordedCall
from app.reporting.compose import build_draft
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact
from app.reporting.gallery import GALLERY, FigureRef

RECORDED = Path(__file__).parent / "recorded"

SESSION: dict[str, Any] = {
    "id": "0b9c5a1e-8f1d-4a4e-9f43-1d2f8a6b7c90",
    "goal": "Predict which of the 1313 passengers survived.",
    "seed": 7,
    "created_at": "2026-03-14T15:09:26+00:00",
    "datasets": [{"name": "titanic", "rows": 1313, "columns": 5, "digest": "9f2c1b7a44d0e3c5"}],
    "questions": [
        {
            "agent": "planner",
            "text": "Which metric?",
            "default": "roc_auc",
            "answer": "roc_auc",
            "by": "default",
        }
    ],
    "versions": {"python": "3.11.9", "scikit-learn": "1.9.0"},
    "artifacts": [{"kind": "frame", "name": "train", "digest": "ab" * 32}],
}


@pytest.fixture
def titanic() -> list[RecordedCall]:
    return recorded("titanic")


@pytest.fixture
def diabetes() -> list[RecordedCall]:
    return recorded("diabetes")


@pytest.fixture
def draft() -> Callable[..., ReportDraft]:
    return make_draft


def recorded(name: str) -> list[RecordedCall]:
    calls = json.loads((RECORDED / f"{name}.json").read_text())
    return [RecordedCall(**call) for call in calls]


def own_call(calls: Sequence[RecordedCall], **facts: Any) -> RecordedCall:
    """The call that writes the report, which carries the session's facts."""
    seq = calls[-1].seq + 1 if calls else 1
    session = {**copy.deepcopy(SESSION), **facts}
    return RecordedCall(
        seq, "reporting", "tool:9.0", "generate_summary", "reporter", None, {"session": session}
    )


def make_draft(
    calls: Sequence[RecordedCall],
    remarks: Sequence[str] = (),
    figures: Sequence[FigureRef] = (),
    **facts: Any,
) -> ReportDraft:
    last = own_call(calls, **facts)
    return build_draft([*calls, last], RecordedFact(last, "/session", last.result["session"]), figures, remarks)


def drawn_figures(calls: Sequence[RecordedCall]) -> list[FigureRef]:
    """A reference to every figure that the report has a place for and these calls may have drawn."""
    return [
        FigureRef(name, "ab" * 32, call.seq, call.key)
        for name, kind in GALLERY.items()
        for call in calls
        if call.tool == kind.tool
    ]


def altered(calls: Sequence[RecordedCall], tool: str, change: Callable[[Any], None]) -> list[RecordedCall]:
    """The same calls with another result of every call of that tool."""
    figures = []
    for call in calls:
        result = copy.deepcopy(call.result)
        if call.tool == tool:
            change(result)
        figures.append(replace(call, result=result))
    return figures
