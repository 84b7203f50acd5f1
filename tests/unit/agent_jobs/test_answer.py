"""Answers of jobs, made of the outcomes of their sessions."""

import json
from typing import Any

from app.agent_jobs.answer import JobOutcome, make_answer
from app.agent_jobs.message import JobMessage

CHARTED: dict[str, Any] = {
    "text": "A bar chart of 3 rows.",
    "charts": [
        {"digest": "aa", "kind": "bar", "title": "Prices", "problem": None, "axes": {"x": "city"}},
        {"digest": "gone", "kind": "bar", "title": "Deleted", "problem": None, "axes": {}},
    ],
}


def outcome(result: dict[str, Any]) -> JobOutcome:
    artifacts = json.dumps([{"id": "a1", "digest": "aa"}])
    return JobOutcome("completed", None, json.dumps(result), True, 1.0, None, artifacts, "[]", 0, 0)


def test_an_answer_names_its_charts_by_their_artifacts() -> None:
    message = JobMessage(version="1.0", job_id="j1", prompt="prices as a bar chart")
    preview = make_answer(message, outcome(CHARTED)).result_preview
    assert preview["charts"] == [{"id": "a1", "title": "Prices", "problem": None}]
    assert "charts" not in make_answer(message, outcome({"text": "3"})).result_preview
