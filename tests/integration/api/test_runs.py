"""Programs and queries of a person, over the real API, in real cells."""

import asyncio
import io
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.db.tables import ArtifactRow, SessionRow
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import CellRequest, Code, Computation, Isolation, Outcome, Progress
from app.sandbox.provider.cell_provider import ProcessProvider
from app.settings import Settings
from app.worker.event_loop import WorkerServices
from app.worker.graphs import pipeline_graphs

from .conftest import User

TABLE = b"city,people\nBern,134000\nThun,43500\nBiel,55600\n"


@pytest.fixture
async def dataset(ada: User) -> str:
    answer = await ada.http.post("/datasets", files={"file": ("cities.csv", TABLE)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def run(user: User, services: WorkerServices, language: str, code: str, **wanted: Any) -> dict[str, Any]:
    """A run as its owner sees it when it has ended."""
    created = await user.http.post("/runs", json={"language": language, "code": code, **wanted})
    assert created.status_code == 201, created.text
    run_id = created.json()["id"]
    assert created.headers["location"] == f"{created.request.url.path}/{run_id}"
    await services.runner.advance(UUID(run_id))
    seen: dict[str, Any] = (await user.http.get(f"/runs/{run_id}")).json()
    return seen


async def test_a_program_reads_a_dataset_and_leaves_what_it_kept(
    ada: User, services: WorkerServices, dataset: str
) -> None:
    code = (
        "print('rows', len(cities))\n"
        "keep['large'] = cities[cities['people'] > 50_000]\n"
        "cities.plot.bar(x='city', y='people')\n"
        "result = {'most': int(cities['people'].max())}\n"
    )
    seen = await run(ada, services, "python", code, dataset_ids=[dataset])
    assert seen["status"] == "succeeded", seen
    assert seen["outcome"]["result"] == {"most": 134_000}
    assert seen["outcome"]["stdout"] == "rows 3\n"
    assert seen["code"] == code
    assert seen["dataset_ids"] == [dataset]
    left = (await ada.http.get(f"/lab/agent/sessions/{seen['id']}/artifacts")).json()["items"]
    assert sorted((item["kind"], item["name"]) for item in left) == [
        ("figure", "figure-1.png"),
        ("frame", "large"),
    ]


async def test_a_query_answers_with_rows_and_keeps_them_all(
    ada: User, services: WorkerServices, dataset: str
) -> None:
    sql = "select city from cities where people < 60000 order by people"
    seen = await run(ada, services, "sql", sql, dataset_ids=[dataset])
    assert seen["status"] == "succeeded", seen
    assert seen["outcome"]["row_count"] == 2
    assert [list(row.values()) if isinstance(row, dict) else row for row in seen["outcome"]["rows"]] == [
        ["Thun"],
        ["Biel"],
    ]


async def test_a_query_may_name_a_table_by_its_dataset(
    ada: User, services: WorkerServices, dataset: str
) -> None:
    other = (await ada.http.post("/datasets", files={"file": ("lakes.csv", b"lake,depth\nThun,217\n")})).json()
    for prefix in ("cities", '"Cities"', "dataset", f'"{dataset}"', f'"{dataset.upper()}"'):
        seen = await run(ada, services, "sql", f"select count(*) from {prefix}.cities", dataset_ids=[dataset])
        assert (seen["status"], seen["table"] and seen["table"]["rows"]) == ("succeeded", [[3]]), seen
    for hidden in (f'"{other["id"]}".lakes', f'"{dataset}".lakes', f'"{uuid4()}".cities', "main.cities"):
        seen = await run(ada, services, "sql", f"select * from {hidden}", dataset_ids=[dataset])
        assert (seen["status"], seen["failure"]["code"]) == ("rejected", "unknown_table"), hidden


@pytest.mark.parametrize(
    ("language", "code", "end", "words"),
    [
        ("python", "print('so far')\n1 / 0\n", "raised", "Line 2: ZeroDivisionError"),
        ("python", "import subprocess\n", "raised", "subprocess"),
        ("python", "result = cities.__reduce__\n", "code_not_allowed", "__reduce__"),
        ("sql", "select * from read_csv('/etc/passwd')", "sql_refused", "read_csv"),
        ("python", "print('so far')\nwhile True:\n    pass\n", "timed_out", "limit"),
    ],
)
async def test_a_run_that_fails_says_how_and_what_it_had_said(
    ada: User, services: WorkerServices, dataset: str, language: str, code: str, end: str, words: str
) -> None:
    seen = await run(ada, services, language, code, dataset_ids=[dataset], time_limit_s=1.5)
    assert seen["status"] == {"timed_out": "timed_out", "raised": "failed"}.get(end, "rejected")
    assert seen["failure"]["message"] == seen["outcome"]["detail"]
    assert seen["duration_ms"] > 0
    assert seen["error"] == seen["failure"]
    assert seen["error"].keys() == {"code", "message", "line"}
    assert seen["python_code"] == (code if language == "python" else None)
    assert seen["outcome"]["end"] == end or language == "sql", seen
    assert words in seen["outcome"]["detail"]
    assert seen["outcome"]["stdout"] == ("so far\n" if "so far" in code else "")


async def test_a_run_that_ends_in_time_is_the_answer(ada: User, services: WorkerServices, dataset: str) -> None:
    body = {
        "query_type": "sql",
        "sql": "select city, people from cities order by people",
        "dataset_id": dataset,
    }
    async with asyncio.TaskGroup() as tasks:
        answer = tasks.create_task(ada.http.post("/runs", params={"wait": 60}, json=body))
        tasks.create_task(_advance_the_newest(ada, services))
    answered = answer.result()
    assert answered.status_code == 200, answered.text
    capsule = answered.json()
    assert capsule["status"] == "succeeded"
    assert capsule["table"] == {
        "columns": ["city", "people"],
        "rows": [["Thun", 43500], ["Biel", 55600], ["Bern", 134000]],
        "row_count": 3,
        "truncated": False,
    }
    assert capsule["compiled_sql"] == body["sql"]
    assert (capsule["exit_code"], capsule["failure"], capsule["error"]) == (0, None, None)
    assert capsule["result"] == capsule["table"]
    assert (capsule["dataset_id"], capsule["python_code"]) == (capsule["dataset_ids"][0], None)
    assert capsule["duration_ms"] > 0
    assert (capsule["run_id"], capsule["query_mode"], capsule["plan_json"]) == (capsule["id"], "sql", None)
    [whole] = capsule["artifacts"]
    assert (whole["kind"], whole["name"]) == ("frame", "result")
    assert len(pq.read_table(io.BytesIO((await ada.http.get(f"/artifacts/{whole['id']}")).content))) == 3
    assert capsule == (await ada.http.get(f"/runs/{capsule['id']}")).json()


async def _advance_the_newest(user: User, services: WorkerServices) -> None:
    """Drive the run that another task posts, as a worker does."""
    async with hang_guard():
        while not (runs := (await user.http.get("/runs")).json()["items"]):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await services.runner.advance(UUID(runs[0]["id"]))


async def test_a_run_that_does_not_end_in_time_goes_on(ada: User, services: WorkerServices) -> None:
    body = {"language": "python", "code": "result = 1"}
    created = await ada.http.post("/runs", params={"wait": 0.05}, json=body)
    assert (created.status_code, created.json()["status"]) == (201, "queued")
    await services.runner.advance(UUID(created.json()["id"]))
    ended = (await ada.http.get(f"/runs/{created.json()['id']}")).json()
    assert (ended["status"], ended["value"], ended["exit_code"]) == ("succeeded", 1, 0)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"language": "python", "sql": "select 1"}, "does not fit the language python"),
        ({"sql": "select 1", "python_code": "1"}, "does not fit the language"),
        ({"language": "sql", "code": "select 1", "sql": "select 2"}, "not both"),
        ({"language": "sql", "query_type": "sql", "code": "select 1"}, "not both"),
        ({"sql": "select 1", "dataset_id": str(uuid4()), "dataset_ids": []}, "not both"),
    ],
)
async def test_fields_that_contradict_are_refused(ada: User, body: dict[str, Any], words: str) -> None:
    refused = await ada.http.post("/runs", json=body)
    assert refused.status_code == 422
    assert words in refused.text


async def test_a_failing_program_tells_its_line(ada: User, services: WorkerServices, dataset: str) -> None:
    seen = await run(ada, services, "python", "x = 1\nx / 0\n", dataset_ids=[dataset])
    assert seen["failure"]["line"] == 2, seen
    assert (seen["failure"]["code"], seen["exit_code"], seen["table"]) == ("raised", 1, None)


async def test_a_frame_that_a_program_leaves_is_a_table_as_of_a_query(
    ada: User, services: WorkerServices, dataset: str
) -> None:
    code = (
        "rows = pd.concat([cities] * 40, ignore_index=True)\n"
        "rows['mean'] = ta.SMA(rows['people'], 3)\n"
        "result = rows.assign(mixed=[*rows['city'][:60], *range(60)])"
    )
    seen = await run(ada, services, "python", code, dataset_ids=[dataset])
    assert seen["status"] == "succeeded", seen
    assert seen["value"] is None
    assert seen["table"]["columns"] == ["city", "people", "mean", "mixed"]
    assert seen["table"]["rows"][2] == ["Biel", 55600, pytest.approx(77_700), "Biel"]
    assert (seen["table"]["row_count"], seen["table"]["truncated"]) == (120, True)
    assert (seen["provider"], seen["isolation"]) == ("process", seen["outcome"]["isolation"])
    left = (await ada.http.get(f"/lab/agent/sessions/{seen['id']}/artifacts")).json()["items"]
    assert [(item["kind"], item["name"]) for item in left] == [("table", "result.parquet")]
    whole = await ada.http.get(f"/artifacts/{left[0]['id']}")
    assert len(pq.read_table(io.BytesIO(whole.content))) == 120


@pytest.mark.parametrize("levels", [64, 65])
async def test_a_result_of_64_levels_is_whole_and_a_deeper_one_is_refused(
    ada: User, services: WorkerServices, levels: int
) -> None:
    code = (
        f"result = 7\nfor level in range({levels}):\n    result = [result] if level % 2 else {{'a': result}}\n"
    )
    seen = await run(ada, services, "python", code)
    if levels > 64:
        assert (seen["status"], seen["failure"]["code"], seen["value"]) == ("failed", "value_too_deep", None)
        return
    value, depth = seen["value"], 0
    while isinstance(value, list | dict):
        value, depth = value["a"] if isinstance(value, dict) else value[0], depth + 1
    assert (seen["status"], value, depth) == ("succeeded", 7, 64)
    session = f"/lab/agent/sessions/{seen['id']}"
    for part in ("", "/results", "/steps", "/messages", "/audit", "/events", "/bundle"):
        assert (await ada.http.get(session + part)).status_code == 200, part


async def test_a_result_that_contains_itself_is_refused(ada: User, services: WorkerServices) -> None:
    seen = await run(ada, services, "python", "loop = []\nloop.append(loop)\nresult = {'loop': loop}")
    assert (seen["status"], seen["failure"]["code"]) == ("failed", "value_too_deep")
    assert "contains itself" in seen["failure"]["message"]


async def test_a_mapping_with_the_keys_of_a_table_is_a_value(ada: User, services: WorkerServices) -> None:
    code = "result = {'columns': 1, 'rows': 2, 'row_count': 3}"
    seen = await run(ada, services, "python", code)
    assert (seen["value"], seen["table"]) == ({"columns": 1, "rows": 2, "row_count": 3}, None)


async def test_runs_are_filtered_by_status_dataset_and_language(
    ada: User, eve: User, services: WorkerServices, dataset: str
) -> None:
    by_status = {
        "succeeded": await run(ada, services, "sql", "select 1 from cities", dataset_ids=[dataset]),
        "failed": await run(ada, services, "python", "1 / 0"),
        "rejected": await run(ada, services, "sql", "select * from nowhere", dataset_ids=[dataset]),
        "timed_out": await run(ada, services, "python", "while True: pass", time_limit_s=0.5),
    }
    queued = (await ada.http.post("/runs", json={"language": "python", "code": "1"})).json()

    async def listed(user: User = ada, **filters: str) -> list[str]:
        page = (await user.http.get("/runs", params=filters)).json()
        assert page["total"] == len(page["items"])
        return [item["id"] for item in page["items"]]

    for status, seen in by_status.items():
        assert seen["status"] == status
        assert await listed(status=status) == [seen["id"]]
    assert await listed(status="queued") == [queued["id"]]
    assert await listed(status="running") == []
    assert await listed(dataset_id=dataset) == [by_status["rejected"]["id"], by_status["succeeded"]["id"]]
    assert await listed(dataset_id=dataset, status="rejected", query_mode="sql") == [
        by_status["rejected"]["id"]
    ]
    assert await listed(query_mode="plan") == []
    assert await listed(eve) == []
    assert len(await listed()) == 5
    assert (await ada.http.get("/runs", params={"status": "lost"})).status_code == 422


async def test_the_runs_of_a_conversation_are_found_by_it_and_go_with_it(
    ada: User, eve: User, services: WorkerServices, dataset: str
) -> None:
    said = {"message": "SQL: select 1", "dataset_ids": [dataset]}
    turn = (await ada.http.post("/chat", params={"wait": 0}, json=said)).json()
    await services.runner.advance(UUID(turn["turn_id"]))
    thread = turn["thread_id"]
    inside = await run(ada, services, "sql", "select city from cities", thread_id=thread)
    assert (inside["status"], inside["thread_id"], inside["dataset_ids"]) == ("succeeded", thread, [dataset])
    outside = await run(ada, services, "python", "result = 1")
    assert outside["thread_id"] is None

    page = (await ada.http.get("/runs", params={"thread_id": thread})).json()
    assert [(item["run_id"], item["thread_id"]) for item in page["items"]] == [(inside["id"], thread)]
    assert page["total"] == 1
    code = {"language": "sql", "code": "select 1", "thread_id": thread}
    assert (await eve.http.post("/runs", json=code)).status_code == 404
    assert (await eve.http.get("/runs", params={"thread_id": thread})).json()["items"] == []

    assert (await ada.http.delete(f"/threads/{thread}")).status_code == 204
    assert (await ada.http.get(f"/runs/{inside['id']}")).status_code == 404
    assert (await ada.http.get(f"/runs/{outside['id']}")).status_code == 200


async def test_a_run_of_a_plan_tells_the_plan(ada: User, services: WorkerServices, dataset: str) -> None:
    total = {"name": "people", "function": "sum", "column": "people"}
    plan = {
        "source": {"kind": "dataset", "table": "cities"},
        "steps": [{"kind": "group", "keys": ["city"], "aggregations": [total]}],
    }
    created = await ada.http.post("/runs", json={"plan_json": plan, "dataset_id": dataset})
    assert created.status_code == 201, created.text
    await services.runner.advance(UUID(created.json()["run_id"]))
    seen = (await ada.http.get(f"/runs/{created.json()['run_id']}")).json()
    assert (seen["status"], seen["query_mode"]) == ("succeeded", "plan"), seen
    assert seen["plan_json"]["source"] == plan["source"]
    assert seen["plan_json"]["steps"] == plan["steps"]
    assert sorted(seen["table"]["rows"]) == [["Bern", 134_000], ["Biel", 55_600], ["Thun", 43_500]]


async def test_a_result_that_cannot_be_converted_has_a_code_and_the_output(
    ada: User, services: WorkerServices
) -> None:
    seen = await run(ada, services, "python", "print('so far')\nresult_df = {'a': 1}")
    assert (seen["status"], seen["exit_code"]) == ("failed", 1)
    assert seen["failure"] == {
        "code": "result_not_convertible",
        "message": "result_df must be a DataFrame, not dict.",
        "line": None,
    }
    assert seen["stdout"] == "so far\n"


async def test_runs_are_listed_by_themselves(ada: User, services: WorkerServices, dataset: str) -> None:
    seen = await run(ada, services, "python", "result = 1", dataset_ids=[dataset])
    runs = (await ada.http.get("/runs")).json()
    assert [item["id"] for item in runs["items"]] == [seen["id"]]
    assert (await ada.http.get("/lab/agent/sessions")).json()["total"] == 0
    session = (await ada.http.post("/lab/agent/sessions", json={"goal": "Predict it"})).json()["id"]
    assert (await ada.http.get(f"/runs/{session}")).status_code == 404


async def test_nobody_runs_in_the_session_of_another(ada: User, eve: User) -> None:
    session = (await ada.http.post("/lab/agent/sessions", json={"goal": "Predict it"})).json()["id"]
    body = {"language": "python", "code": "result = 1", "session_id": session}
    assert (await eve.http.post("/runs", json=body)).status_code == 404


async def keep(app: FastAPI, ada: User, session: str, dataset: str, kind: str, name: str, seq: int) -> None:
    """A frame of a session, with the bytes of a dataset."""
    resources = app.state.resources
    digest = await resources.database.row(
        "select digest, size_bytes from datasets where id = $1", UUID(dataset)
    )
    async with resources.open_uow() as uow:
        uow.db.add(
            ArtifactRow(
                owner_id=ada.id,
                session_id=UUID(session),
                seq=seq,
                kind=kind,
                name=name,
                media_type="application/vnd.apache.parquet",
                digest=digest["digest"],
                size_bytes=digest["size_bytes"],
                meta={},
            )
        )


async def test_a_run_inside_a_session_sees_training_rows_only_until_it_ends(
    app: FastAPI, ada: User, services: WorkerServices, dataset: str
) -> None:
    body = {"goal": "Predict people", "dataset_ids": [dataset]}
    session = (await ada.http.post("/lab/agent/sessions", json=body)).json()["id"]
    await keep(app, ada, session, dataset, "frame", "data", 2)
    early = await run(ada, services, "python", "keep['early'] = data", session_id=session)
    assert early["status"] == "succeeded", early
    await keep(app, ada, session, dataset, "frame", "train", 3)
    await keep(app, ada, session, dataset, "holdout", "holdout", 3)

    for hidden in ("data", "early", "holdout", "cities"):
        code = f"result = len({hidden})"
        seen = await run(ada, services, "python", code, session_id=session, dataset_ids=[dataset])
        assert seen["status"] == "failed", hidden
        assert hidden in seen["outcome"]["detail"]
    kept = await run(ada, services, "python", "keep['half'] = train.head(1)", session_id=session)
    assert kept["status"] == "succeeded", kept
    again = await run(ada, services, "python", "result = len(half)", session_id=session)
    assert again["outcome"]["result"] == 1

    async with app.state.resources.open_uow() as uow:
        row = await uow.db.get_one(SessionRow, UUID(session))
        row.ended_at, row.status = row.created_at, "completed"
    looks = "select kind, number from holdout_looks where session_id = $1"
    assert await app.state.resources.database.rows(looks, UUID(session)) == []
    for _ in range(2):
        opened = await run(ada, services, "python", "result = len(holdout)", session_id=session)
        assert opened["outcome"]["result"] == 3
    counted = await app.state.resources.database.rows(looks, UUID(session))
    assert [tuple(look.values()) for look in counted] == [("frame", 1)]


async def test_a_cancelled_run_never_starts(ada: User, services: WorkerServices) -> None:
    body = {"language": "python", "code": "while True:\n    pass\n"}
    run_id = (await ada.http.post("/runs", json=body)).json()["id"]
    assert (await ada.http.delete(f"/runs/{run_id}")).status_code == 202
    await services.runner.advance(UUID(run_id))
    assert (await ada.http.get(f"/runs/{run_id}/status")).json() == {
        "id": run_id,
        "run_id": run_id,
        "status": "cancelled",
    }
    assert (await ada.http.get(f"/runs/{uuid4()}")).status_code == 404


async def test_the_largest_cell_of_a_session_is_reported_with_its_bound(
    ada: User, services: WorkerServices, settings: Settings
) -> None:
    code = "import numpy as np\nresult = int(np.ones(25_000_000).sum())\n"
    seen = await run(ada, services, "python", code)
    assert seen["status"] == "succeeded", seen
    view = (await ada.http.get(f"/lab/agent/sessions/{seen['id']}")).json()
    usage = view["usage"]
    assert 150_000_000 < usage["peak_memory_bytes"] < usage["memory_limit_bytes"]
    assert usage["memory_limit_bytes"] == settings.limits.memory_bytes
    assert usage["cpu_s"] > 0
    assert (usage["cells"], usage["tool_calls"], usage["chat_calls"]) == (1, 1, 0)
    [part] = usage["breakdown"]
    assert (part["step"], part["node"], part["agent"]) == (1, "running", "user")
    assert part["peak_memory_bytes"] == usage["peak_memory_bytes"] == seen["usage"]["peak_memory_bytes"]


async def test_a_cell_that_wanted_too_much_memory_is_counted_too(ada: User, services: WorkerServices) -> None:
    code = "import numpy as np\nresult = int(np.ones(10_000_000_000).sum())\n"
    seen = await run(ada, services, "python", code)
    assert seen["outcome"]["end"] == "out_of_memory", seen
    assert seen["usage"]["cells"] == 1
    assert seen["usage"]["peak_memory_bytes"] <= seen["usage"]["memory_limit_bytes"]


@dataclass(frozen=True)
class CellsWithoutPolicy:
    """Cells that run programs as if the language policy had been got around."""

    cells: ProcessProvider

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        if isinstance(request.work, Code):
            raw = Computation("cell_fixtures.unrestricted", {"source": request.work.source}, trusted=False)
            request = replace(request, work=raw)
        return await self.cells.run(request, on_progress)

    @property
    def name(self) -> str:
        return self.cells.name

    async def isolation(self) -> Isolation:
        return await self.cells.isolation()


async def test_where_exports_are_off_a_program_that_writes_a_file_fails(app: FastAPI, ada: User) -> None:
    resources = app.state.resources
    off = Settings(_env_file=None, python_exports="off", secret_key="x" * 32)
    computer = ComputationRunner(
        resources.cells, resources.blobs, resources.cells.scratch, off.limits, off.python_exports
    )
    own = replace(resources, computer=computer)
    services = WorkerServices.assemble(own, pipeline_graphs(own))
    seen = await run(ada, services, "python", "result = 1\npd.DataFrame({'a': [1]}).to_csv('a.csv')")
    assert (seen["status"], seen["artifacts"], seen["failure"]["line"]) == ("failed", [], 2)
    assert "programs write no files here" in seen["failure"]["message"]
    assert (await run(ada, services, "python", "result = 1"))["status"] == "succeeded"


@pytest.mark.parametrize(
    "value",
    [
        "b'[' * 960 + b']' * 960",
        "b'{\"result\": ' + b'[' * 200 + b']' * 200 + b'}'",
        "b'{\"frames\": 3}'",
        'b\'{"frames": {"../x": {"file": "y", "rows": 1, "columns": []}}}\'',
        "b'{\"row_count\": 3}'",
    ],
)
async def test_a_forged_answer_fails_its_run_and_breaks_no_endpoint(
    app: FastAPI, ada: User, value: str
) -> None:
    resources = app.state.resources
    cells: Any = CellsWithoutPolicy(resources.cells)
    computer = ComputationRunner(cells, resources.blobs, resources.cells.scratch, resources.settings.limits)
    own = replace(resources, computer=computer)
    forge = (
        "import os\n"
        f'os.write(4, b\'{{"end": "returned", "value": \' + {value} + b\'}}\\n\')\n'
        "os.write(6, b'.')\n"
        "os._exit(0)\n"
    )
    seen = await run(ada, WorkerServices.assemble(own, pipeline_graphs(own)), "python", forge)

    assert seen["status"] == "failed", seen
    session = f"/lab/agent/sessions/{seen['id']}"
    paths = (f"/runs/{seen['id']}", f"/runs/{seen['id']}/status", "/runs", session)
    parts = ("results", "steps", "messages", "audit", "artifacts", "events", "bundle")
    for path in (*paths, *(f"{session}/{part}" for part in parts)):
        assert (await ada.http.get(path)).status_code == 200, path
