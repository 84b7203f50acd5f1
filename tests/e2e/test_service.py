"""A program that uses the service: REST for what is asked, a socket for what happens, and faults in between."""

import asyncio
import csv
import io
import json
import os
import random
import re
import signal
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import websockets
from tests.otlp import Collector
from tests.patience import HANG_GUARD_S, hang_guard, wait_until

from app.db.pool import Database

TERMINAL = {"session_finished", "session_failed", "session_cancelled"}
SESSIONS = "/lab/agent/sessions"


CANARY = "vermilion42"
"""Is in a goal, a file's name and a cell of the sessions here."""


def table(rows: int = 400) -> bytes:
    """Who leaves: the short stays and the expensive plans, with some noise."""
    chance = random.Random(7)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["months", "plan", "price", "visits", "left"])
    for _ in range(rows):
        months, plan = chance.randint(1, 60), chance.choice(["basic", "plus", CANARY])
        price = {"basic": 10, "plus": 20, CANARY: 40}[plan] + chance.random()
        risk = 2 - months / 12 + price / 30 + chance.gauss(0, 1)
        writer.writerow([months, plan, round(price, 2), chance.randint(0, 30), "yes" if risk > 1 else "no"])
    return text.getvalue().encode()


async def begin(api: httpx.AsyncClient, **preferences: Any) -> str:
    upload = await api.post("/datasets", files={"file": (f"{CANARY}.csv", table())})
    wish = {
        "goal": f"Predict which customers left. Ask nobody of {CANARY}.",
        "dataset_ids": [upload.raise_for_status().json()["id"]],
        "preferences": {"time_budget_s": 5, "seed": 1, "clarify": "never"} | preferences,
    }
    return str((await api.post(SESSIONS, json=wish)).raise_for_status().json()["id"])


async def watch(api: httpx.AsyncClient, session: str) -> AsyncIterator[dict[str, Any]]:
    """Every durable event to the last one; comes back with its cursor whenever the socket is lost."""
    cursor, address = 0, str(api.base_url).replace("http", "ws", 1)
    headers = {"Authorization": api.headers["Authorization"]}
    end = time.monotonic() + HANG_GUARD_S  # clock: a hang guard; a timeout would not reach into a generator
    while time.monotonic() < end:  # clock: as above
        url = f"{address}{SESSIONS.lstrip('/')}/{session}/stream?since={cursor}"
        try:
            async with websockets.connect(url, additional_headers=headers, open_timeout=HANG_GUARD_S) as socket:
                async for text in socket:
                    event = json.loads(text)
                    if event.get("seq") is None:
                        continue
                    assert event["seq"] == cursor + 1, "an event was lost or came twice"
                    cursor = event["seq"]
                    yield event
                    if event["kind"] in TERMINAL:
                        return
        except (OSError, TimeoutError, websockets.WebSocketException):
            await asyncio.sleep(0.1)
    raise AssertionError("the session did not end")


_WITH_ENDED_SESSION: set[Path] = set()
"""Homes of the services that have run a whole session of `begin` for the tests below."""


async def test_a_session_is_asked_by_rest_and_watched_by_socket(api: httpx.AsyncClient, up: Any) -> None:
    session = await begin(api)
    events = [event async for event in watch(api, session)]
    assert events[-1]["kind"] == "session_finished", events[-1]
    _WITH_ENDED_SESSION.add(up.home)
    view = (await api.get(f"{SESSIONS}/{session}")).json()
    assert view["status"] == "completed"
    assert view["last_event"] == len(events)
    steps = (await api.get(f"{SESSIONS}/{session}/steps")).json()["items"]
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
    result = (await api.get(f"{SESSIONS}/{session}/results")).json()["result"]
    report = await api.get(f"/artifacts/{result['report']['artifact']}")
    assert report.headers["Content-Type"].startswith("text/html")
    assert "left" in report.text
    rows = [{"months": 3, "plan": "pro", "price": 40.5, "visits": 2}]
    predicted = (await api.post(f"/models/{result['model']}/predict", json={"rows": rows})).raise_for_status()
    assert predicted.json()["predictions"]


@pytest.fixture
async def ended_session(api: httpx.AsyncClient, up: Any) -> None:
    """One whole session for each service: the tests below may run in processes of their own."""
    if up.home not in _WITH_ENDED_SESSION:
        events = [event async for event in watch(api, await begin(api))]
        assert events[-1]["kind"] == "session_finished", events[-1]
        _WITH_ENDED_SESSION.add(up.home)


PAGE = Path(__file__).parents[2] / "docs" / "observability.md"


def _session_roots(collector: Collector) -> list[Any]:
    return [span for span in collector.spans() if span.name == "session pipeline"]


def _paths(collector: Collector, root: Any) -> set[tuple[str, ...]]:
    """Names of the spans of a trace, each after those around it; a span whose parent is missing has none."""
    spans = {span.span_id: span for span in collector.spans(UUID(bytes=root.trace_id))}

    def path(span: Any) -> tuple[str, ...]:
        outer = path(spans[span.parent_span_id]) if span.parent_span_id in spans else ()
        is_whole = outer or not span.parent_span_id
        return (*outer, span.name.partition(" ")[0]) if is_whole else ()

    return {path(span) for span in spans.values()}


@pytest.mark.usefixtures("ended_session")
async def test_a_sessions_spans_are_one_tree_over_all_processes(
    collector: Collector, api: httpx.AsyncClient
) -> None:
    wanted = {
        ("session",),
        ("session", "create_session"),
        ("session", "invoke_agent", "chat"),
        ("session", "invoke_agent", "execute_tool", "run_cell"),
        ("session", "fit", "run_cell"),
    }
    async with hang_guard():
        # The service has sessions of other tests too, and the collector is a thread of its own.
        while not any(_paths(collector, root) >= wanted for root in _session_roots(collector)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert not any(CANARY.encode() in body for body in collector.received)


@pytest.mark.usefixtures("ended_session")
async def test_every_process_shows_its_figures_and_the_service_shows_all_that_are_documented(
    api: httpx.AsyncClient, up: Any
) -> None:
    [found] = up.home.rglob("prometheus.json")
    targets = {one["labels"]["part"]: one["targets"][0] for one in json.loads(found.read_text())}
    assert sorted(targets) == ["api", "worker-compute-1", "worker-steps-1"]
    shown = {
        part: (await api.get(f"http://{address}/metrics")).raise_for_status().text
        for part, address in targets.items()
    }
    names = {part: set(re.findall(r"^# TYPE (labcrew_\w+)", text, re.M)) for part, text in shown.items()}
    assert names["api"] == set(re.findall(r"^\| `(labcrew_\w+)`", PAGE.read_text(), re.M))
    assert names["worker-steps-1"] == names["worker-compute-1"] < names["api"]
    assert 'labcrew_sessions_ended_total{graph="pipeline",status="completed"}' in shown["worker-steps-1"]
    assert 'labcrew_tool_calls_total{agent="data_analyst",outcome="done"' in shown["worker-steps-1"]
    assert 'labcrew_cells_ended_total{end="returned",function="models.train.' in shown["worker-compute-1"]
    assert 'labcrew_workers{queue="compute"} 1.0' in shown["api"]
    assert 'route="/lab/agent/sessions",status="201"' in shown["api"]
    log = (up.home / "logs" / "worker-steps-1.log").read_text()
    # Celery says beside the log, behind an empty line, that it shuts down: another test may have restarted it.
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    ends = [line for line in lines if line["event"] == "session_ended"]
    ended = next(line for line in ends if (line["status"], line["graph"]) == ("completed", "pipeline"))
    assert {"step_finished", "chat_answered", "tool_called"} <= {line["event"] for line in lines}
    called = next(line for line in lines if line["event"] == "tool_called")
    assert set(called) >= {"session_id", "step", "node", "agent", "tool", "call", "outcome"}
    assert UUID(ended["session_id"])


async def test_a_question_is_answered_and_the_session_goes_on(api: httpx.AsyncClient) -> None:
    session = await begin(api, clarify="ask", review_plan=True)
    async for event in watch(api, session):
        if event["kind"] == "clarification_asked":
            view = (await api.get(f"{SESSIONS}/{session}")).json()
            assert view["question"]["key"] == event["question"]
            answer = {"question": event["question"], "answer": event["default"]}
            (await api.post(f"{SESSIONS}/{session}/respond", json=answer)).raise_for_status()
            again = await api.post(f"{SESSIONS}/{session}/respond", json=answer)
            assert again.status_code == 409
            break
    assert (await api.delete(f"{SESSIONS}/{session}")).status_code == 202
    assert [event["kind"] async for event in watch(api, session)][-1] == "session_cancelled"


async def test_other_users_sessions_do_not_exist(api: httpx.AsyncClient, up) -> None:
    session = await begin(api)
    login = {"email": f"other{random.randrange(10**9)}@example.com", "password": "correct horse battery"}
    async with httpx.AsyncClient(base_url=up.api, timeout=HANG_GUARD_S) as other:
        (await other.post("/auth/register", json=login)).raise_for_status()
        token = (await other.post("/auth/token", json=login)).json()["access_token"]
        other.headers["Authorization"] = f"Bearer {token}"
        assert (await other.get(f"{SESSIONS}/{session}")).status_code == 404
        assert (await other.delete(f"{SESSIONS}/{session}")).status_code == 404
    (await api.delete(f"{SESSIONS}/{session}")).raise_for_status()


PARTS = ["worker-steps-1", "valkey", "worker-compute-1", "api", "cells", "postgres"]


def socket_of(api: httpx.AsyncClient, session: str) -> websockets.connect:
    address = str(api.base_url).replace("http", "ws", 1)
    headers = {"Authorization": api.headers["Authorization"]}
    url = f"{address}{SESSIONS.lstrip('/')}/{session}/stream"
    return websockets.connect(url, additional_headers=headers, open_timeout=HANG_GUARD_S)


async def replaced(up: Any, part: str) -> None:
    """Ask a process to stop, and wait until another one runs in its place."""
    pid = up.pid_of(part)
    os.kill(pid, signal.SIGTERM)
    async with hang_guard():
        while True:
            with suppress(OSError, IndexError, StopIteration):  # its file is being written, or not there
                if up.pid_of(part) != pid:
                    return
            await asyncio.sleep(0.05)


async def test_a_rolling_restart_costs_sessions_and_clients_nothing(api: httpx.AsyncClient, up: Any) -> None:
    sessions = [await begin(api, time_budget_s=8) for _ in range(2)]
    watching = [asyncio.create_task(collected(api, session)) for session in sessions]
    answers: list[int] = []

    async def ask_again_and_again() -> None:
        while not all(task.done() for task in watching):
            with suppress(httpx.TransportError):  # what was asked of a process that had gone is asked again
                answers.append((await api.get(f"{SESSIONS}/{sessions[1]}")).status_code)
            await asyncio.sleep(0.05)

    asking = asyncio.create_task(ask_again_and_again())
    async with socket_of(api, sessions[1]) as socket:
        await replaced(up, "api")
        await socket.wait_closed()
    assert socket.close_code == 1012
    for part in ("worker-steps-1", "worker-compute-1"):
        await replaced(up, part)
    for events in await asyncio.gather(*watching):
        assert events[-1]["kind"] == "session_finished", events[-1]
    await asking
    assert set(answers) == {200}
    database = await Database.open(up.addresses.database_url, size=1)
    try:
        lapsed = await database.row(
            "select sum(crashes) as drives, (select max(runs) from fits where session_id = any($1)) as runs"
            " from sessions where id = any($1)",
            [UUID(session) for session in sessions],
        )
    finally:
        await database.close()
    assert lapsed
    assert dict(lapsed) == {"drives": 0, "runs": 1}, "a lease ran out instead of being handed back"


async def collected(api: httpx.AsyncClient, session: str) -> list[dict[str, Any]]:
    return [event async for event in watch(api, session)]


async def patiently(api: httpx.AsyncClient, path: str) -> httpx.Response:
    """Comes back while it is told to: the last that was killed may have been Postgres."""
    while (answer := await api.get(path)).status_code == 503:  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.2)
    return answer


async def test_a_session_survives_the_killing_of_every_process(api: httpx.AsyncClient, up) -> None:
    """`watch` also proves that no event is lost or comes twice."""
    session = await begin(api)
    doomed, events = list(PARTS), []
    async for event in watch(api, session):
        events.append(event["kind"])
        if doomed and len(events) % 4 == 0:
            os.kill(up.pid_of(doomed.pop(0)), signal.SIGKILL)
    assert not doomed, f"the session ended before these were killed: {doomed}"
    view = (await patiently(api, f"{SESSIONS}/{session}")).json()
    assert view["status"] == "completed", view.get("error", view)
    steps = (await api.get(f"{SESSIONS}/{session}/steps")).json()["items"]
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
    assert view["result"]["report"]["checked_claims"] > 0


def test_the_first_start_ever_says_what_was_made_as_stages(up: Any) -> None:
    wait_until(lambda: "Ready in" in up.output.read_text(), every_s=0.05)
    [stages] = re.findall(r"Ready in .*", up.output.read_text())
    assert re.search(r"database made \d+\.\d.*, migration \d+\.\d", stages), stages


def test_a_second_service_on_the_folder_is_refused_by_name(up, labcrew) -> None:
    done = labcrew(up.home, "up", "--port", "0")
    assert done.returncode == 3
    assert str(up.home) in done.stderr
    assert str(up.process.pid) in done.stderr


def test_a_taken_port_is_refused_before_anything_starts(up, labcrew, tmp_path: Path) -> None:
    port = up.addresses.api.rpartition(":")[2]
    done = labcrew(tmp_path / "other", "up", "--port", port)
    assert done.returncode == 3
    assert f"port {port} of 127.0.0.1" in done.stderr
    assert "API_PORT" in done.stderr


def test_bars_are_imported_listed_and_deleted_from_the_terminal(up: Any, labcrew: Any, tmp_path: Path) -> None:
    file = tmp_path / "bars.csv"
    rows = [f"BTC,2024-01-01 00:{minute:02d}:00,10,12,9,11,5" for minute in range(0, 60, 5)]
    file.write_text("\n".join(["symbol,time,open,high,low,close,volume", *rows, rows[3], "BTC,soon,1,1,1,1,1"]))
    loaded = labcrew(up.home, "prices", "import", str(file))
    assert loaded.returncode == 0, loaded.stderr
    assert "14 rows, 12 new bars, 0 changed" in loaded.stdout
    assert "left out, repeated by a later row: 1 (rows 4)" in loaded.stdout
    assert "left out, no time: 1 (rows 14)" in loaded.stdout
    assert labcrew(up.home, "prices", "list").stdout.startswith("BTC\t5m\t12\t2024-01-01T00:00:00Z")
    assert "close 11 ± 0" in labcrew(up.home, "prices", "stats", "btc").stdout
    refused = labcrew(up.home, "prices", "import", __file__)
    assert (refused.returncode, "no column for" in refused.stderr) == (3, True)
    assert labcrew(up.home, "prices", "delete", "BTC").stdout == "12 bars are deleted.\n"


@pytest.mark.usefixtures("ended_session")
async def test_no_process_logs_what_users_brought(up: Any) -> None:
    """After all that was done and killed above, or at least one session: tests may run apart."""
    said = {path.name: path.read_text() for path in (up.home / "logs").glob("*.log")}
    assert {"api.log", "worker-steps-1.log", "worker-compute-1.log", "cells.log"} <= set(said)
    assert '"session_ended"' in said["worker-steps-1.log"]
    assert [name for name, text in said.items() if CANARY in text] == []
