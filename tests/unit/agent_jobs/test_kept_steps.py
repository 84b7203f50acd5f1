"""The answer of a job carries the steps that a workflow makes it of."""

import json
from typing import Any
from uuid import UUID

from app.agent_jobs.answer import JobAnswer
from app.agent_jobs.kept_steps import list_answer_steps, make_answer_document
from app.datasets.dataset_source import DatasetRef
from app.tools.context.pipeline_steps import PipelineStep

FLIGHTS = DatasetRef(UUID(int=1), "flights", "flights", "", 4, [], {})
READ = {"type": "read_dataset", "config": {"dataset_id": str(FLIGHTS.id)}, "name": "flights"}
PLAN = {
    "source": {"kind": "dataset", "table": "flights"},
    "steps": [{"kind": "top_k", "k": 3, "by": "price"}],
}


def _list(outcome: dict[str, object], *own_tables: str) -> Any:
    return list_answer_steps(outcome, make_answer_document(outcome, [FLIGHTS], own_tables))


def test_a_query_is_steps_from_its_dataset_on() -> None:
    steps = _list({"plan": PLAN, "charts": [{"kind": "bar", "title": None, "axes": {"x": "price"}}]})
    assert steps[0] == READ
    assert [step["type"] for step in steps] == ["read_dataset", "top_k", "chart"]
    assert steps[-1]["config"] == {"kind": "bar", "x": "price"}


def test_sql_and_a_pipeline_are_steps_too() -> None:
    assert [step["type"] for step in _list({"sql": "SELECT * FROM flights"})] == ["read_dataset", "sql"]
    written = [{"type": "http_request", "config": {"url": "https://a.example/x"}}]
    assert _list({"steps": written, "plan": None, "sql": "SELECT * FROM result"}) == written


def test_what_no_workflow_can_make_has_no_steps() -> None:
    assert _list({"plan": PLAN}, "flights") == []
    assert _list({"sql": "SELECT * FROM flights, brought"}, "brought") == []
    assert _list({"sql": "SELECT 1"}) == []
    assert _list({"text": "Hello."}) == []
    assert _list({"sql": "SELECT * FROM flights", "code": "print(1)"}) == []


def test_steps_are_written_as_a_request_takes_them() -> None:
    steps = [PipelineStep.model_validate({"type": "union", "with": "flights"}), PipelineStep(type="distinct")]
    answer = JobAnswer(job_id="a", status="completed", steps=steps)
    written = json.loads(answer.model_dump_json())["steps"]
    assert written == [{"type": "union", "config": {}, "with": "flights"}, {"type": "distinct", "config": {}}]
