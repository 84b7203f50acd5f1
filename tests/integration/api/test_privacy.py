"""What users bring (goals, cells, code, passwords, keys) is in no log line and in no span."""

import io
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import pytest
from fastapi import FastAPI
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.observability.logging import configure_logging
from app.observability.otlp_exporter import provider
from app.observability.tracing import use_tracer
from app.worker.event_loop import WorkerServices
from app.worker.graphs import pipeline_graphs

from .conftest import PASSWORD, User

PERSON = "grace.hopper@example.net"
TABLE = f"person,amount\n{PERSON},1\nnobody,2\n".encode()


@pytest.fixture
def said(app: FastAPI) -> Iterator[io.StringIO]:
    """Every log line of the test, as the service writes it."""
    root = logging.getLogger()
    before, stream = (root.handlers, root.level), io.StringIO()
    configure_logging("INFO", "json", stream)
    yield stream
    root.handlers, root.level = before


Finished = Callable[[], Sequence[ReadableSpan]]


@pytest.fixture
def spans() -> Iterator[Finished]:
    """The spans that have been sent by now."""
    exporter = InMemorySpanExporter()
    made = provider("", 1.0, exporter)

    def finished() -> Sequence[ReadableSpan]:
        made.force_flush()
        return exporter.get_finished_spans()

    with use_tracer(made.get_tracer("test")):
        yield finished
    made.shutdown()


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "raise ValueError('it was ' + people['person'][0])"),
        ("python", f"print('{PERSON}')\nresult = '{PERSON}'"),
        ("sql", f"select cast(person as integer) from people where person = '{PERSON}'"),
    ],
)
async def test_a_run_leaves_its_data_in_no_log_and_no_span(
    language: str, code: str, app: FastAPI, ada: User, said: io.StringIO, spans: Finished
) -> None:
    resources = app.state.resources
    duties = WorkerServices.assemble(resources, pipeline_graphs(resources))
    upload = await ada.http.post("/datasets", files={"file": ("people.csv", TABLE)})
    wanted = {"language": language, "code": code, "dataset_ids": [upload.json()["id"]]}
    run = (await ada.http.post("/runs", json=wanted)).json()["id"]
    await duties.runner.advance(UUID(run))
    assert PERSON in (await ada.http.get(f"/runs/{run}")).text
    for path in (f"/nowhere/{PERSON}", f"/prices/{PERSON}", f"/runs/{PERSON}?q={PERSON}"):
        assert (await ada.http.get(path)).is_client_error
    made = {one.name: one for one in spans()}
    assert {"create_session run", f"execute_tool run_{language}", "session run"} <= set(made)
    assert {UUID(int=one.context.trace_id) for one in made.values() if one.context} == {UUID(run)}
    seen = " ".join(one.to_json() for one in made.values())
    secrets = (PERSON, PASSWORD, ada.email, ada.tokens["access_token"], ada.tokens["refresh_token"])
    assert not [secret for secret in secrets if secret in seen]
    lines = said.getvalue()
    asked = [json.loads(line) for line in lines.splitlines()]
    assert {"route": "/runs/{run_id}", "run_id": run}.items() <= asked[-4].items()
    assert asked[-3]["route"] == "unmatched"
    assert not [secret for secret in secrets if secret in lines]


async def test_a_step_that_breaks_says_why_to_its_owner_and_not_to_the_log(
    app: FastAPI, ada: User, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = app.state.resources
    duties = WorkerServices.assemble(resources, pipeline_graphs(resources))

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"no idea what {PERSON} means")

    monkeypatch.setattr(resources.computer, "run", broken)
    run = (await ada.http.post("/runs", json={"language": "python", "code": "result = 1"})).json()["id"]
    await duties.runner.advance(UUID(run))
    assert PERSON in (await ada.http.get(f"/runs/{run}")).json()["error"]["message"]
    lines = said.getvalue()
    assert "RuntimeError" in lines
    assert run in lines
    assert PERSON not in lines
